#include "bench/kernels/sparse.cl.h"

#include <deque>

#include "bench/kernels/families.h"

namespace weft::bench {
namespace {

size_t at(cl_int index) { return static_cast<size_t>(index); }

// Rows of random lengths below `longest`, with random columns; also a graph's lists of neighbours.
struct Rows {
  Rows(size_t count, cl_int longest, cl_uint seed) {
    for (cl_int length : integers(count, seed, 0, longest))
      starts.push_back(starts.back() + length);
    columns = integers(at(starts.back()), seed + 1, 0, static_cast<cl_int>(count));
  }
  // The sum over a row's entries.
  template <class F>
  double sum(size_t row, F valueOf) const {
    double result = 0;
    for (size_t k = at(starts[row]); k < at(starts[row + 1]); ++k)
      result += valueOf(k, at(columns[k]));
    return result;
  }

  std::vector<cl_int> starts = {0}, columns;
};

Problem csr(size_t n, cl_int longest, Range global, Argument last) {
  const Rows rows(n, longest, 81);
  const auto values = uniform(rows.columns.size(), 83), x = uniform(n, 84);
  return {{in(rows.starts), in(rows.columns), in(values), in(x), out<float>(n), std::move(last)},
          std::move(global),
          4,
          [=] {
            return each(n, [&](size_t row) {
              return rows.sum(row, [&](size_t k, size_t column) {
                return static_cast<double>(values[k]) * x[column];
              });
            });
          }};
}

Problem spmvCsr(size_t n) { return csr(n, 64, {(n + 255) / 256 * 256}, count(n)); }
Problem spmvCsrGroup(size_t n) { return csr(n, 512, {64 * n}, local<float>(1)); }

Problem spmvEll(size_t n) {
  constexpr size_t width = 32;
  // One in five entries is padding.
  auto columns = integers(n * width, 85, -static_cast<cl_int>(n) / 4, static_cast<cl_int>(n));
  for (cl_int& column : columns) column = std::max(column, -1);
  const auto values = uniform(n * width, 86), x = uniform(n, 87);
  return {{in(columns), in(values), in(x), out<float>(n), count(n), count(width)}, {n}, 3, [=] {
            return each(n, [&](size_t row) {
              double sum = 0;
              for (size_t k = row; k < n * width; k += n)
                if (columns[k] >= 0) sum += static_cast<double>(values[k]) * x[at(columns[k])];
              return sum;
            });
          }};
}

Values levels(const Rows& graph, cl_int depths) {
  Values level(graph.starts.size() - 1, -1.0);
  level[0] = 0;
  std::deque<size_t> next = {0};
  for (; !next.empty(); next.pop_front()) {
    const size_t node = next.front();
    if (level[node] >= depths) continue;
    for (size_t k = at(graph.starts[node]); k < at(graph.starts[node + 1]); ++k) {
      double& other = level[at(graph.columns[k])];
      if (other >= 0) continue;
      other = level[node] + 1;
      next.push_back(at(graph.columns[k]));
    }
  }
  return level;
}

Problem bfs(size_t n) {
  Rows graph(n, 8, 88);
  std::vector<cl_int> level(n, -1);
  level[0] = 0;
  // The first node has neighbours whatever the random lengths say.
  const cl_int more = 4 - graph.starts[1];
  for (size_t i = 1; more > 0 && i <= n; ++i) graph.starts[i] += more;
  if (more > 0) graph.columns.insert(graph.columns.begin(), at(more), static_cast<cl_int>(n / 2));
  constexpr cl_int depths = 12;
  std::vector<Step> steps;
  for (cl_int depth = 0; depth < depths; ++depth) steps.push_back({"bfs", {{3, depth}}, {}, {}});
  return {{in(graph.starts), in(graph.columns), inout(level), count(0)},
          {n},
          2,
          [=] { return levels(graph, depths); },
          steps};
}

Problem pagerank(size_t n) {
  const Rows graph(n, 32, 90);
  const auto rank = uniform(n, 92), portion = uniform(n, 93, 0, 0.1f);
  return {{in(graph.starts), in(graph.columns), in(rank), in(portion), out<float>(n), value(0.85f)},
          {n},
          4,
          [=] {
            return each(n, [&](size_t node) {
              return 0.15 + 0.85 * graph.sum(node, [&](size_t, size_t source) {
                return static_cast<double>(rank[source]) * portion[source];
              });
            });
          }};
}

}  // namespace

const std::vector<Case>& sparse() {
  constexpr auto text = source::sparse;
  static const std::vector<Range> any = {{}, {64}, {256}};
  static const std::vector<Case> rows = {
      {"spmv_csr", text, spmvCsr, 1 << 16, 1000, 1e-5, any},
      {"spmv_csr_group", text, spmvCsrGroup, 1 << 13, 64, 1e-5, {{64}}},
      {"spmv_ell", text, spmvEll, 1 << 16, 1024, 1e-5, any},
      {"bfs", text, bfs, 1 << 18, 1024, 0, any},
      {"pagerank", text, pagerank, 1 << 17, 1024, 1e-5, any},
  };
  return rows;
}

}  // namespace weft::bench
