#include <algorithm>

#include "bench/kernels/families.h"
#include "bench/kernels/stencils.cl.h"

namespace weft::bench {
namespace {

bool inside(size_t i, size_t n) { return i > 0 && i + 1 < n; }

// `i` + `offset`, held in [0, n).
size_t clamped(size_t i, int offset, size_t n) {
  const auto at = static_cast<std::ptrdiff_t>(i) + offset;
  return static_cast<size_t>(std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(n) - 1));
}

Problem jacobi(size_t n) {
  const auto a = uniform(n * n, 31);
  return {{in(a), out<float>(n * n), count(n), count(n)}, {n, n}, 1, [=] {
            return each(n * n, [&](size_t i) {
              if (!inside(i % n, n) || !inside(i / n, n)) return 0.0;
              return 0.5 * a[i] + 0.125 * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
            });
          }};
}

Problem stencil3d(size_t n) {
  const auto a = uniform(n * n * n, 32);
  return {{in(a), out<float>(n * n * n), count(n)}, {n, n, n}, 1, [=] {
            return each(n * n * n, [&](size_t i) {
              if (!inside(i % n, n) || !inside(i / n % n, n) || !inside(i / n / n, n)) return 0.0;
              return 0.4 * a[i] + 0.1 * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] +
                                         a[i + n * n]);
            });
          }};
}

Problem hotspot(size_t n) {
  const auto heat = uniform(n * n, 33, 60, 90), power = uniform(n * n, 34);
  return {{in(heat), in(power), out<float>(n * n), count(n)}, {n, n}, 2, [=] {
            return each(n * n, [&](size_t i) {
              const size_t x = i % n, y = i / n;
              const double t = heat[i];
              const double vertical = static_cast<double>(heat[clamped(y, -1, n) * n + x]) +
                                      heat[clamped(y, 1, n) * n + x] - 2 * t;
              const double horizontal = static_cast<double>(heat[y * n + clamped(x, -1, n)]) +
                                        heat[y * n + clamped(x, 1, n)] - 2 * t;
              return t + 0.1 * (power[i] + vertical + horizontal + 0.05 * (80 - t));
            });
          }};
}

Problem gameOfLife(size_t n) {
  const auto world = integers(n * n, 35, 0, 2);
  return {{in(world), out<cl_int>(n * n), count(n), count(n)}, {n, n}, 1, [=] {
            return each(n * n, [&](size_t i) {
              const size_t x = i % n, y = i / n;
              int alive = -world[i];
              for (size_t dy = n - 1; dy <= n + 1; ++dy)
                for (size_t dx = n - 1; dx <= n + 1; ++dx)
                  alive += world[(y + dy) % n * n + (x + dx) % n];
              return alive == 3 || (alive == 2 && world[i]);
            });
          }};
}

Problem convolution2d(size_t n) {
  const auto a = uniform(n * n, 36), filter = uniform(25, 37);
  return {{in(a), in(filter), out<float>(n * n), count(n), count(n)}, {n, n}, 2, [=] {
            return each(n * n, [&](size_t i) {
              double sum = 0;
              for (int k = 0; k < 25; ++k)
                sum += static_cast<double>(filter[static_cast<size_t>(k)]) *
                       a[clamped(i / n, k / 5 - 2, n) * n + clamped(i % n, k % 5 - 2, n)];
              return sum;
            });
          }};
}

Problem convolutionRows(size_t n) {
  const auto a = uniform(n * n, 38), filter = uniform(17, 39);
  return {{in(a), in(filter), out<float>(n * n), local<float>(2), count(n)}, {n, n}, 2, [=] {
            return each(n * n, [&](size_t i) {
              double sum = 0;
              for (int k = 0; k < 17; ++k)
                sum += static_cast<double>(filter[static_cast<size_t>(k)]) *
                       a[i / n * n + clamped(i % n, k - 8, n)];
              return sum;
            });
          }};
}

}  // namespace

const std::vector<Case>& stencils() {
  constexpr auto text = source::stencils;
  static const std::vector<Range> any = {{}, {16, 16}, {64, 1}};
  static const std::vector<Case> rows = {
      {"jacobi_2d", text, jacobi, 2048, 64, 1e-6, any},
      {"stencil_3d", text, stencil3d, 160, 32, 1e-6, {{}, {8, 8, 4}, {32, 1, 1}}},
      {"hotspot", text, hotspot, 1024, 64, 1e-6, {{16, 16}}},
      {"game_of_life", text, gameOfLife, 1024, 64, 0, any},
      {"convolution_2d", text, convolution2d, 1024, 64, 1e-6, any},
      {"convolution_rows", text, convolutionRows, 1024, 128, 1e-6, {{128, 1}, {16, 1}, {64, 1}}},
  };
  return rows;
}

}  // namespace weft::bench
