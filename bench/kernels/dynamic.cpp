#include <algorithm>

#include "bench/kernels/dynamic.cl.h"
#include "bench/kernels/families.h"

namespace weft::bench {
namespace {

// The same kernel for each setting of one argument from `first` to before `last`.
std::vector<Step> stepsOf(const char* kernel, cl_uint argument, size_t first, size_t last) {
  std::vector<Step> steps;
  for (size_t i = first; i < last; ++i)
    steps.push_back({kernel, {{argument, static_cast<cl_int>(i)}}, {}, {}});
  return steps;
}

Problem needlemanWunsch(size_t n) {
  const size_t width = n + 1;
  constexpr cl_int penalty = 10;
  const auto similarity = integers(width * width, 121, -4, 12);
  std::vector<cl_int> score(width * width);
  for (size_t i = 1; i <= n; ++i) score[i] = score[i * width] = -penalty * static_cast<cl_int>(i);
  return {{in(similarity), inout(score), count(n), count(0), value(penalty)},
          {n},
          1,
          [=] {
            auto table = score;
            for (size_t i = width + 1; i < width * width; ++i)
              if (i % width)
                table[i] = std::max(table[i - width - 1] + similarity[i],
                                    std::max(table[i - 1], table[i - width]) - penalty);
            return Values(table.begin(), table.end());
          },
          stepsOf("needleman_wunsch", 3, 2, 2 * n + 1)};
}

Problem floydWarshall(size_t n) {
  auto distance = integers(n * n, 122, 1, 10000);
  for (size_t i = 0; i < n; ++i) distance[i * n + i] = 0;
  return {{inout(distance), count(n), count(0)},
          {n, n},
          0,
          [=] {
            auto best = distance;
            for (size_t over = 0; over < n; ++over)
              for (size_t i = 0; i < n * n; ++i)
                best[i] = std::min(best[i], best[i / n * n + over] + best[over * n + i % n]);
            return Values(best.begin(), best.end());
          },
          stepsOf("floyd_warshall", 2, 0, n)};
}

constexpr size_t string_length = 128;

Problem lcs(size_t pairs) {
  auto a = pixels(pairs * string_length, 123), b = pixels(pairs * string_length, 124);
  for (auto* text : {&a, &b})
    for (cl_uchar& letter : *text) letter %= 4;
  const auto length = [=](size_t pair) {
    const size_t n = string_length;
    std::vector<int> above(n + 1), row(n + 1);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j)
        row[j + 1] =
            a[pair * n + i] == b[pair * n + j] ? above[j] + 1 : std::max(row[j], above[j + 1]);
      above = row;
    }
    return above[n];
  };
  return {{in(a), in(b), out<cl_int>(pairs), local<cl_int>(3)}, {pairs * string_length}, 2, [=] {
            return each(pairs, length);
          }};
}

Problem pathfinder(size_t width) {
  constexpr size_t rows = 64;
  const auto cost = integers(width * rows, 125, 0, 10);
  std::vector<cl_int> best(width * rows);
  std::copy_n(cost.begin(), width, best.begin());
  return {{in(cost), inout(best), count(width), count(0)},
          {width},
          1,
          [=] {
            auto result = best;
            for (size_t i = width; i < width * rows; ++i) {
              const size_t above = i - width;
              cl_int least = result[above];
              if (i % width > 0) least = std::min(least, result[above - 1]);
              if (i % width + 1 < width) least = std::min(least, result[above + 1]);
              result[i] = cost[i] + least;
            }
            return Values(result.begin(), result.end());
          },
          stepsOf("pathfinder", 3, 1, rows)};
}

}  // namespace

const std::vector<Case>& dynamic() {
  constexpr auto text = source::dynamic;
  static const std::vector<Range> any = {{}, {64}, {256}};
  static const std::vector<Case> rows = {
      {"needleman_wunsch", text, needlemanWunsch, 1024, 256, 0, any},
      {"floyd_warshall", text, floydWarshall, 256, 64, 0, {{}, {16, 16}, {64, 1}}},
      {"lcs", text, lcs, 128, 4, 0, {{string_length}}},
      {"pathfinder", text, pathfinder, 1 << 16, 1024, 0, any},
  };
  return rows;
}

}  // namespace weft::bench
