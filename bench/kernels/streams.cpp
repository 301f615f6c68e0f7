#include "bench/kernels/families.h"
#include "bench/kernels/streams.cl.h"

namespace weft::bench {
namespace {

Problem copy(size_t n) {
  const auto b = uniform(n, 1);
  return {{out<float>(n), in(b)}, {n}, 0, [=] { return Values(b.begin(), b.end()); }};
}

Problem triad(size_t n) {
  const auto b = uniform(n, 2), c = uniform(n, 3);
  return {{out<float>(n), in(b), in(c), value(3.0f)}, {n}, 0, [=] {
            return each(n, [&](size_t i) { return b[i] + 3.0 * c[i]; });
          }};
}

// The range is rounded up, as programs do.
Problem daxpy(size_t n) {
  const auto narrow_x = uniform(n, 4), narrow_y = uniform(n, 5);
  const std::vector<double> x(narrow_x.begin(), narrow_x.end()),
      y(narrow_y.begin(), narrow_y.end());
  return {{inout(y), in(x), value(0.5), count(n)}, {(n + 255) / 256 * 256}, 0, [=] {
            return each(n, [&](size_t i) { return y[i] + 0.5 * x[i]; });
          }};
}

Problem moveParticles(size_t n) {
  const auto state = uniform(6 * n, 6);
  return {{inout(state), value(0.25f)}, {n}, 0, [=] {
            return each(6 * n, [&](size_t i) {
              return i % 6 < 3 ? state[i] + 0.25 * state[i + 3] : state[i];
            });
          }};
}

Problem complexMultiply(size_t n) {
  const auto a = uniform(2 * n, 7), b = uniform(2 * n, 8);
  return {{out<float>(2 * n), in(a), in(b)}, {n}, 0, [=] {
            return each(2 * n, [&](size_t i) {
              const size_t re = i & ~size_t{1}, im = i | 1;
              const double x = a[re], y = a[im];
              return i % 2 ? x * b[im] + y * b[re] : x * b[re] - y * b[im];
            });
          }};
}

Problem nearlyEmpty(size_t n) {
  return {{inout(std::vector<cl_int>{0})}, {n}, 0, [] { return Values{1}; }};
}

}  // namespace

const std::vector<Case>& streams() {
  constexpr auto text = source::streams;
  static const std::vector<Case> rows = {
      {"copy", text, copy, 8 << 20, 1024, 0, {{}, {64}, {256}}},
      {"triad", text, triad, 8 << 20, 1024, 1e-6, {{}, {64}, {256}}},
      {"daxpy", text, daxpy, 4 << 20, 1000, 1e-12, {{}, {64}, {256}}},
      {"move_particles", text, moveParticles, 2 << 20, 1024, 1e-6, {{}, {64}, {256}}},
      {"complex_multiply", text, complexMultiply, 4 << 20, 1024, 1e-6, {{}, {64}, {256}}},
      {"nearly_empty", text, nearlyEmpty, 20000 * 64, 1024, 0, {{}, {64}, {256}}},
  };
  return rows;
}

}  // namespace weft::bench
