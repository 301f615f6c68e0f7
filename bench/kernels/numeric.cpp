#include <algorithm>
#include <cmath>

#include "bench/kernels/families.h"
#include "bench/kernels/numeric.cl.h"

namespace weft::bench {
namespace {

double normalDistribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// The put's price stands for both: the kernel computes it from what the call needs.
Problem blackScholes(size_t n) {
  const auto price = uniform(n, 51, 10, 100), strike = uniform(n, 52, 10, 100),
             years = uniform(n, 53, 0.25f, 10);
  return {
      {in(price), in(strike), in(years), out<float>(n), out<float>(n), value(0.02f), value(0.3f)},
      {n},
      4,
      [=] {
        return each(n, [&](size_t i) {
          const double width = 0.3 * std::sqrt(years[i]);
          const double d1 =
              (std::log(price[i] / strike[i]) + (0.02 + 0.5 * 0.3 * 0.3) * years[i]) / width;
          return strike[i] * std::exp(-0.02 * years[i]) * (1 - normalDistribution(d1 - width)) -
                 price[i] * (1 - normalDistribution(d1));
        });
      }};
}

constexpr size_t tree = 128;

Problem binomialOptions(size_t options) {
  constexpr double up = 1.015625, probability = 0.505, discount = 0.9999;
  const auto price = uniform(options, 54, 80, 120);
  const auto valueOf = [=](size_t i) {
    Values level = each(tree, [&](size_t k) {
      const double power = 2.0 * static_cast<double>(k) - (tree - 1);
      return std::max(price[i] * std::pow(up, power) - 100, 0.0);
    });
    for (size_t step = tree - 1; step > 0; --step)
      for (size_t k = 0; k < step; ++k)
        level[k] = discount * (probability * level[k + 1] + (1 - probability) * level[k]);
    return level[0];
  };
  return {{in(price), out<float>(options), local<float>(1), value(100.0f),
           value(static_cast<float>(up)), value(static_cast<float>(probability)),
           value(static_cast<float>(discount))},
          {options * tree},
          1,
          [=] { return each(options, valueOf); }};
}

// Near the set's edge the count depends on whether a device fuses multiplications and additions.
Problem mandelbrot(size_t n) {
  constexpr cl_int limit = 256;
  const float step = 2.5f / static_cast<float>(n);
  const auto iterations = [=](size_t i) {
    const float cx = -2 + step * static_cast<float>(i % n);
    const float cy = -1.25f + step * static_cast<float>(i / n);
    float x = 0, y = 0;
    cl_int count = 0;
    for (; x * x + y * y < 4 && count < limit; ++count) {
      const float t = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = t;
    }
    return count;
  };
  return {{out<cl_int>(n * n), count(n), value(-2.0f), value(-1.25f), value(step), value(limit)},
          {n, n},
          0,
          [=] { return each(n * n, iterations); }};
}

cl_uint next(cl_uint x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ x << 5;
}

std::vector<cl_uint> seeds(size_t n, cl_uint seed) {
  auto result = words(n, seed);
  for (cl_uint& word : result) word |= 1;  // zero stays zero in this generator
  return result;
}

Problem monteCarloPi(size_t n) {
  constexpr int samples = 512;
  const auto seed = seeds(n, 55);
  const auto hits = [=](size_t i) {
    cl_uint state = seed[i], inside = 0;
    for (int k = 0; k < samples; ++k) {
      const cl_uint x = (state = next(state)) >> 17;
      const cl_uint y = (state = next(state)) >> 17;
      inside += x * x + y * y < 1u << 30;
    }
    return inside;
  };
  return {{in(seed), out<cl_uint>(n), value(samples)}, {n}, 1, [=] { return each(n, hits); }};
}

Problem monteCarloOption(size_t n) {
  constexpr int paths = 128;
  const auto seed = seeds(n, 56);
  const auto mean = [=](size_t i) {
    cl_uint state = seed[i];
    double sum = 0;
    for (int k = 0; k < paths; ++k) {
      const double u = (((state = next(state)) >> 8) + 1) * 0x1p-24;
      const double v = ((state = next(state)) >> 8) * 0x1p-24;
      const double normal = std::sqrt(-2 * std::log(u)) * std::cos(6.2831853f * v);
      sum += std::max(100 * std::exp(0.01 + 0.2 * normal) - 95, 0.0);
    }
    return sum / paths;
  };
  return {{in(seed), out<float>(n), value(paths), value(100.0f), value(95.0f), value(0.01f),
           value(0.2f)},
          {n},
          1,
          [=] { return each(n, mean); }};
}

Problem randomNumbers(size_t n) {
  constexpr cl_uint key = 0x12345678;
  return {{out<cl_uint>(4 * n), value(key)}, {n}, 0, [=] {
            Values values;
            for (size_t i = 0; i < n; ++i) {
              cl_uint c[4] = {static_cast<cl_uint>(i), 0, 0, 0}, k[2] = {key, ~key};
              for (int round = 0; round < 10; ++round) {
                const cl_ulong a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
                c[0] = static_cast<cl_uint>(b >> 32) ^ c[1] ^ k[0];
                c[1] = static_cast<cl_uint>(b);
                c[2] = static_cast<cl_uint>(a >> 32) ^ c[3] ^ k[1];
                c[3] = static_cast<cl_uint>(a);
                k[0] += 0x9e3779b9u;
                k[1] += 0xbb67ae85u;
              }
              values.insert(values.end(), c, c + 4);
            }
            return values;
          }};
}

}  // namespace

const std::vector<Case>& numeric() {
  constexpr auto text = source::numeric;
  static const std::vector<Range> any = {{}, {64}, {256}};
  static const std::vector<Case> rows = {
      {"black_scholes", text, blackScholes, 1 << 19, 1024, 1e-4, any},
      {"binomial_options", text, binomialOptions, 512, 16, 1e-4, {{tree}}},
      {"mandelbrot", text, mandelbrot, 512, 64, 0, {{}, {16, 16}, {64, 1}}, 0.02},
      {"monte_carlo_pi", text, monteCarloPi, 32768, 1024, 0, any},
      {"monte_carlo_option", text, monteCarloOption, 16384, 1024, 1e-4, any},
      {"random_numbers", text, randomNumbers, 1 << 20, 1024, 0, any},
  };
  return rows;
}

}  // namespace weft::bench
