#include <algorithm>
#include <numeric>

#include "bench/kernels/families.h"
#include "bench/kernels/primitives.cl.h"

namespace weft::bench {
namespace {

constexpr size_t block = 256;

Problem reduction(size_t n) {
  constexpr size_t groups = 64;
  const auto a = uniform(n, 71);
  return {{in(a), out<float>(groups), local<float>(1), count(n)}, {groups * block}, 1, [=] {
            Values sums(groups);
            for (size_t i = 0; i < n; ++i) sums[i / block % groups] += a[i];
            return sums;
          }};
}

// Values of a reduction over `n` words, of which each work-item takes 64.
constexpr size_t share = 64;

Problem reductionAtomic(size_t n) {
  const auto a = words(n, 72);
  return {{in(a), inout(std::vector<cl_uint>{0}), count(share)}, {n / share}, 1, [=] {
            return Values{static_cast<double>(std::accumulate(a.begin(), a.end(), cl_uint{0}))};
          }};
}

Problem minimum(size_t n) {
  const auto a = integers(n, 73, -1000000, 1000000);
  return {{in(a), out<cl_int>(n / block), local<cl_int>(1)}, {n}, 1, [=] {
            return each(n / block, [&](size_t group) {
              const auto first = a.begin() + static_cast<std::ptrdiff_t>(group * block);
              return *std::min_element(first, first + block);
            });
          }};
}

Problem scan(size_t n) {
  const auto a = integers(n, 74, 0, 1000);
  return {{in(a), out<cl_int>(n), local<cl_int>(1)}, {n}, 1, [=] {
            double sum = 0;
            return each(n, [&](size_t i) { return sum = (i % block ? sum : 0) + a[i]; });
          }};
}

Values sorted(std::vector<cl_uint> keys) {
  std::sort(keys.begin(), keys.end());
  return Values(keys.begin(), keys.end());
}

Problem bitonicSort(size_t n) {
  const auto keys = words(n, 75);
  std::vector<Step> steps;
  for (size_t size = 2; size <= n; size *= 2)
    for (size_t distance = size / 2; distance > 0; distance /= 2)
      steps.push_back({"bitonic_step",
                       {{1, static_cast<cl_int>(size)}, {2, static_cast<cl_int>(distance)}},
                       {},
                       {}});
  return {{inout(keys), count(0), count(0)}, {n / 2}, 0, [=] { return sorted(keys); }, steps};
}

// One pass of the sort, which orders by the digit alone and is stable.
Problem radixPass(size_t n) {
  const auto keys = words(n, 76);
  constexpr size_t run = 64;
  const auto counts = static_cast<cl_int>(16 * n / run);
  const std::vector<Step> steps = {{"radix_count", {{3, 8}}, {}, {}},
                                   {"radix_scan", {{3, counts}}, {block}, {block}},
                                   {"radix_scatter", {{3, 8}}, {}, {}}};
  return {{in(keys), out<cl_uint>(n), out<cl_uint>(16 * n / run), count(0)},
          {n / run},
          1,
          [=] {
            auto result = keys;
            const auto digit = [](cl_uint key) { return key >> 8 & 15; };
            std::stable_sort(result.begin(), result.end(),
                             [&](cl_uint a, cl_uint b) { return digit(a) < digit(b); });
            return Values(result.begin(), result.end());
          },
          steps};
}

template <size_t bins>
Problem histogram(size_t n) {
  const auto a = words(n, 77);
  return {{in(a), inout(std::vector<cl_uint>(bins)), count(share)}, {n / share}, 1, [=] {
            Values counts(bins);
            for (cl_uint word : a) ++counts[word % bins];
            return counts;
          }};
}

}  // namespace

const std::vector<Case>& primitives() {
  constexpr auto text = source::primitives;
  static const std::vector<Range> any = {{}, {64}, {256}}, fixed = {{block}};
  static const std::vector<Case> rows = {
      {"reduction", text, reduction, 16 << 20, 1 << 15, 1e-4, fixed},
      {"reduction_atomic", text, reductionAtomic, 8 << 20, 1 << 15, 0, any},
      {"minimum", text, minimum, 4 << 20, 1024, 0, fixed},
      {"scan", text, scan, 2 << 20, 1024, 0, fixed},
      {"bitonic_sort", text, bitonicSort, 1 << 17, 1024, 0, any},
      {"radix_pass", text, radixPass, 1 << 20, 1 << 14, 0, any},
      {"histogram_private", text, histogram<16>, 4 << 20, 1 << 15, 0, any},
      {"histogram_local", text, histogram<256>, 4 << 20, 1 << 15, 0, {{256}, {64}}},
      {"histogram_global", text, histogram<256>, 1 << 20, 1 << 15, 0, any},
  };
  return rows;
}

}  // namespace weft::bench
