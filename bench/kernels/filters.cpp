#include <algorithm>
#include <array>
#include <cmath>

#include "bench/kernels/families.h"
#include "bench/kernels/filters.cl.h"

namespace weft::bench {
namespace {

// Square pictures of `channels` a pixel; reads beyond the edge give the edge.
template <class T>
struct Picture {
  double read(size_t i, int dx, int dy) const {
    const auto last = static_cast<std::ptrdiff_t>(n) - 1;
    const auto x =
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(i / channels % n) + dx, 0, last);
    const auto y =
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(i / channels / n) + dy, 0, last);
    return data[(static_cast<size_t>(y) * n + static_cast<size_t>(x)) * channels + i % channels];
  }
  bool atEdge(size_t i) const {
    const size_t x = i / channels % n, y = i / channels / n;
    return x == 0 || y == 0 || x + 1 == n || y + 1 == n;
  }
  // f(dx, dy, value) over the neighbourhood.
  template <class F>
  void around(size_t i, int radius, F f) const {
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx) f(dx, dy, read(i, dx, dy));
  }

  std::vector<T> data;
  size_t n, channels;
};

Problem grey(size_t n) {
  const auto a = pixels(4 * n, 101);
  return {{in(a), out<cl_uchar>(n)}, {n}, 1, [=] {
            return each(n, [&](size_t i) {
              return (77 * a[4 * i] + 150 * a[4 * i + 1] + 29 * a[4 * i + 2]) >> 8;
            });
          }};
}

Problem boxFilter(size_t n) {
  const Picture<cl_uchar> picture{pixels(4 * n * n, 102), n, 4};
  const auto mean = [=](size_t i) {
    double sum = 0;
    picture.around(i, 4, [&](int, int, double value) { sum += value; });
    return std::floor(sum / 81);
  };
  return {{in(picture.data), out<cl_uchar>(4 * n * n), count(n), count(n)}, {n, n}, 1, [=] {
            return each(4 * n * n, mean);
          }};
}

Problem sobel(size_t n) {
  const Picture<cl_uchar> picture{pixels(n * n, 103), n, 1};
  const auto gradient = [=](size_t i) {
    if (picture.atEdge(i)) return 0.0;
    double x = 0, y = 0;
    picture.around(i, 1, [&](int dx, int dy, double value) {
      x += dx * (dy ? 1 : 2) * value;
      y += dy * (dx ? 1 : 2) * value;
    });
    return std::min(std::abs(x) + std::abs(y), 255.0);
  };
  return {
      {in(picture.data), inout(std::vector<cl_uchar>(n * n)), count(n), count(n)}, {n, n}, 1, [=] {
        return each(n * n, gradient);
      }};
}

Problem median(size_t n) {
  const Picture<cl_uchar> picture{pixels(n * n, 104), n, 1};
  const auto middle = [=](size_t i) {
    Values values;
    picture.around(i, 1, [&](int, int, double value) { values.push_back(value); });
    std::nth_element(values.begin(), values.begin() + 4, values.end());
    return values[4];
  };
  return {{in(picture.data), out<cl_uchar>(n * n), count(n), count(n)}, {n, n}, 1, [=] {
            return each(n * n, middle);
          }};
}

Problem bilateral(size_t n) {
  const Picture<float> picture{uniform(n * n, 105), n, 1};
  const auto smooth = [=](size_t i) {
    double sum = 0, weights = 0;
    picture.around(i, 3, [&](int dx, int dy, double value) {
      const double d = value - picture.data[i];
      const double weight = std::exp(-(dx * dx + dy * dy) * 0.125 - d * d * 8);
      sum += weight * value;
      weights += weight;
    });
    return sum / weights;
  };
  return {{in(picture.data), out<float>(n * n), count(n), count(n), value(0.125f), value(8.0f)},
          {n, n},
          1,
          [=] { return each(n * n, smooth); }};
}

// A channel is one of 256 steps; half a step more is what rounding to it may cost.
Problem gaussianImage(size_t n) {
  const Picture<cl_uchar> picture{pixels(4 * n * n, 106), n, 4};
  const std::vector<float> weights = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  const auto smooth = [=](size_t i) {
    double sum = 0;
    picture.around(i, 2, [&](int dx, int dy, double value) {
      sum += static_cast<double>(weights[static_cast<size_t>(dx + 2)]) *
             weights[static_cast<size_t>(dy + 2)] * value;
    });
    return sum;
  };
  return {{imageIn(picture.data, n), imageOut(n, n), in(weights)}, {n, n}, 1, [=] {
            return each(4 * n * n, smooth);
          }};
}

Problem sobelImage(size_t n) {
  const Picture<cl_uchar> picture{pixels(4 * n * n, 107), n, 4};
  const auto gradient = [=](size_t i) {
    return std::min(std::abs(picture.read(i, 1, 0) - picture.read(i, -1, 0)) +
                        std::abs(picture.read(i, 0, 1) - picture.read(i, 0, -1)),
                    255.0);
  };
  return {{imageIn(picture.data, n), imageOut(n, n)}, {n, n}, 1, [=] {
            return each(4 * n * n, gradient);
          }};
}

// Hardware filters with weights of few bits.
Problem rotateImage(size_t n) {
  const Picture<cl_uchar> picture{pixels(4 * n * n, 108), n, 4};
  const double cosine = 0.8, sine = 0.6;
  const auto turned = [=](size_t i) {
    const double centre = static_cast<double>(n) / 2;
    const double x = static_cast<double>(i / 4 % n) + 0.5 - centre,
                 y = static_cast<double>(i / 4 / n) + 0.5 - centre;
    const double u = cosine * x - sine * y + centre - 0.5, v = sine * x + cosine * y + centre - 0.5;
    const double right = u - std::floor(u), below = v - std::floor(v);
    const auto at = [&](int dx, int dy) {
      const int column = static_cast<int>(std::floor(u)) + dx,
                row = static_cast<int>(std::floor(v)) + dy;
      return picture.read(i % 4, column, row);
    };
    return (1 - below) * ((1 - right) * at(0, 0) + right * at(1, 0)) +
           below * ((1 - right) * at(0, 1) + right * at(1, 1));
  };
  return {{imageIn(picture.data, n), imageOut(n, n), value(static_cast<float>(cosine)),
           value(static_cast<float>(sine))},
          {n, n},
          1,
          [=] { return each(4 * n * n, turned); }};
}

}  // namespace

const std::vector<Case>& filters() {
  constexpr auto text = source::filters;
  static const std::vector<Range> any = {{}, {16, 16}, {64, 1}};
  static const std::vector<Case> rows = {
      {"grey", text, grey, 4 << 20, 1024, 0, {{}, {64}, {256}}},
      {"box_filter", text, boxFilter, 512, 64, 0, any},
      {"sobel", text, sobel, 2048, 64, 0, any},
      {"median_3x3", text, median, 1024, 64, 0, any},
      {"bilateral", text, bilateral, 512, 64, 1e-4, any},
      {"gaussian_image", text, gaussianImage, 512, 64, 0.51, any},
      {"sobel_image", text, sobelImage, 1024, 64, 0.51, any},
      {"rotate_image", text, rotateImage, 1024, 64, 0.51, any, 0.01},
  };
  return rows;
}

}  // namespace weft::bench
