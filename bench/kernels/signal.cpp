#include <cmath>
#include <complex>

#include "bench/kernels/families.h"
#include "bench/kernels/signal.cl.h"

namespace weft::bench {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> transform(std::vector<Complex> points) {
  const size_t n = points.size();
  if (n == 1) return points;
  std::vector<Complex> even, odd;
  for (size_t i = 0; i < n; i += 2) {
    even.push_back(points[i]);
    odd.push_back(points[i + 1]);
  }
  even = transform(std::move(even));
  odd = transform(std::move(odd));
  for (size_t k = 0; k < n / 2; ++k) {
    const Complex turned =
        std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(n)) * odd[k];
    points[k] = even[k] + turned;
    points[k + n / 2] = even[k] - turned;
  }
  return points;
}

// Transforms of `length` points each, one after the other.
Values transforms(const std::vector<float>& in, size_t length) {
  Values result;
  for (size_t first = 0; first < in.size(); first += 2 * length) {
    std::vector<Complex> points;
    for (size_t i = 0; i < length; ++i)
      points.emplace_back(in[first + 2 * i], in[first + 2 * i + 1]);
    for (const Complex& point : transform(std::move(points))) {
      result.push_back(point.real());
      result.push_back(point.imag());
    }
  }
  return result;
}

// Stages alternate between the two buffers; `n` is a power of four, so the last ends in the first.
Problem fft(size_t n) {
  const auto a = uniform(2 * n, 61, -1, 1);
  std::vector<Step> steps;
  for (size_t half = 1; half < n; half *= 2)
    steps.push_back(
        {steps.size() % 2 ? "fft_back" : "fft_stage", {{3, static_cast<cl_int>(half)}}, {}, {}});
  return {{inout(a), out<float>(2 * n), count(n), count(1)},
          {n / 2},
          0,
          [=] { return transforms(a, n); },
          steps};
}

Problem fftLocal(size_t count) {
  constexpr size_t length = 256;
  const auto a = uniform(2 * length * count, 62, -1, 1);
  return {
      {in(a), out<float>(2 * length * count), local<cl_float2>(2)}, {length / 2 * count}, 1, [=] {
        return transforms(a, length);
      }};
}

Problem dftNaive(size_t n) {
  const auto a = uniform(n, 63, -1, 1);
  return {{in(a), out<float>(2 * n), count(n)}, {n}, 1, [=] {
            std::vector<float> complex;
            for (float x : a) {
              complex.push_back(x);
              complex.push_back(0);
            }
            return transforms(complex, n);
          }};
}

std::vector<float> dctCosines() {
  std::vector<float> result;
  for (int k = 0; k < 8; ++k)
    for (int i = 0; i < 8; ++i)
      result.push_back(
          static_cast<float>((k ? 0.5 : std::sqrt(0.125)) * std::cos((2 * i + 1) * k * M_PI / 16)));
  return result;
}

Problem dct(size_t n) {
  const auto a = uniform(n * n, 64, -128, 128);
  const auto cosines = dctCosines();
  const auto coefficient = [=](size_t i) {
    const size_t x = i % n, y = i / n, corner = (y - y % 8) * n + x - x % 8;
    double sum = 0;
    for (size_t row = 0; row < 8; ++row)
      for (size_t column = 0; column < 8; ++column)
        sum += static_cast<double>(cosines[y % 8 * 8 + row]) * cosines[x % 8 * 8 + column] *
               a[corner + row * n + column];
    return sum;
  };
  return {{in(a), in(cosines), out<float>(n * n), count(n)}, {n, n}, 2, [=] {
            return each(n * n, coefficient);
          }};
}

Problem haar(size_t n) {
  const auto a = uniform(2 * n, 65);
  return {{in(a), out<float>(2 * n), count(n)}, {n}, 1, [=] {
            return each(2 * n, [&](size_t i) {
              const double x = a[2 * (i % n)], y = a[2 * (i % n) + 1];
              return (i < n ? x + y : x - y) * std::sqrt(0.5);
            });
          }};
}

}  // namespace

const std::vector<Case>& signal() {
  constexpr auto text = source::signal;
  static const std::vector<Range> any = {{}, {64}, {256}};
  static const std::vector<Case> rows = {
      {"fft", text, fft, 1 << 18, 1024, 1e-3, any},
      {"fft_local", text, fftLocal, 1024, 4, 1e-4, {{128}}},
      {"dft_naive", text, dftNaive, 1024, 256, 1e-3, any},
      {"dct_8x8", text, dct, 1024, 64, 1e-4, {{8, 8}}},
      {"haar_wavelet", text, haar, 4 << 20, 1024, 1e-6, any},
  };
  return rows;
}

}  // namespace weft::bench
