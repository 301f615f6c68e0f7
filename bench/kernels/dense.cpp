#include "bench/kernels/dense.cl.h"
#include "bench/kernels/families.h"

namespace weft::bench {
namespace {

// A row at a time, so that the host is not slower than it must be.
Values product(const std::vector<float>& a, const std::vector<float>& b, size_t n) {
  Values c(n * n);
  for (size_t row = 0; row < n; ++row)
    for (size_t k = 0; k < n; ++k)
      for (size_t column = 0; column < n; ++column)
        c[row * n + column] += static_cast<double>(a[row * n + k]) * b[k * n + column];
  return c;
}

Problem matmul(size_t n) {
  const auto a = uniform(n * n, 11), b = uniform(n * n, 12);
  return {{in(a), in(b), out<float>(n * n), count(n)}, {n, n}, 2, [=] { return product(a, b, n); }};
}

Problem matmulDouble(size_t n) {
  const auto a = uniform(n * n, 13), b = uniform(n * n, 14);
  const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
  return {{in(wide_a), in(wide_b), out<double>(n * n), count(n)}, {n, n}, 2, [=] {
            return product(a, b, n);
          }};
}

Problem matvec(size_t n) {
  const auto a = uniform(n * n, 15), x = uniform(n, 16);
  return {{in(a), in(x), out<float>(n), count(n)}, {n}, 2, [=] {
            return each(n, [&](size_t row) {
              double sum = 0;
              for (size_t k = 0; k < n; ++k) sum += static_cast<double>(a[row * n + k]) * x[k];
              return sum;
            });
          }};
}

Problem matvecTransposed(size_t n) {
  const auto a = uniform(n * n, 17), x = uniform(n, 18);
  return {{in(a), in(x), out<float>(n), count(n)}, {n}, 2, [=] {
            Values y(n);
            for (size_t k = 0; k < n; ++k)
              for (size_t column = 0; column < n; ++column)
                y[column] += static_cast<double>(a[k * n + column]) * x[k];
            return y;
          }};
}

Problem transpose(size_t n) {
  const auto a = uniform(n * n, 19);
  return {{in(a), out<float>(n * n), count(n)}, {n, n}, 1, [=] {
            return each(n * n, [&](size_t i) { return a[i % n * n + i / n]; });
          }};
}

Values luOnHost(const std::vector<float>& matrix, size_t n) {
  Values a(matrix.begin(), matrix.end());
  for (size_t pivot = 0; pivot < n; ++pivot)
    for (size_t row = pivot + 1; row < n; ++row) {
      a[row * n + pivot] /= a[pivot * n + pivot];
      for (size_t column = pivot + 1; column < n; ++column)
        a[row * n + column] -= a[row * n + pivot] * a[pivot * n + column];
    }
  return a;
}

Problem lu(size_t n) {
  auto a = uniform(n * n, 20);
  for (size_t i = 0; i < n; ++i) a[i * n + i] += static_cast<float>(n);  // no pivoting needed
  std::vector<Step> steps;
  for (size_t pivot = 0; pivot + 1 < n; ++pivot) {
    const std::pair<cl_uint, cl_int> setting(2, static_cast<cl_int>(pivot));
    steps.push_back({"lu_column", {setting}, {n, 1}, {}});
    steps.push_back({"lu_rest", {setting}, {}, {}});
  }
  return {{inout(a), count(n), count(0)}, {n, n}, 0, [=] { return luOnHost(a, n); }, steps};
}

}  // namespace

const std::vector<Case>& dense() {
  constexpr auto text = source::dense;
  static const std::vector<Range> any = {{}, {16, 16}, {64, 1}};
  static const std::vector<Case> rows = {
      {"matmul_naive", text, matmul, 512, 64, 1e-4, any},
      {"matmul_accumulate", text, matmul, 512, 64, 1e-4, any},
      {"matmul_tiled", text, matmul, 512, 64, 1e-4, {{16, 16}}},
      {"matmul_double", text, matmulDouble, 384, 64, 1e-12, {{}, {16, 16}, {32, 1}}},
      {"matvec", text, matvec, 2048, 256, 1e-4, {{}, {64}, {256}}},
      {"matvec_transposed", text, matvecTransposed, 2048, 256, 1e-4, {{}, {64}, {256}}},
      {"transpose_naive", text, transpose, 2048, 64, 0, {{}, {16, 16}, {64, 1}}},
      {"transpose_tiled", text, transpose, 2048, 64, 0, {{16, 16}}},
      {"lu", text, lu, 256, 24, 1e-4, {{}}},
  };
  return rows;
}

}  // namespace weft::bench
