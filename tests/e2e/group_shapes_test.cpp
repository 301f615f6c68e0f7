// Functions of work-groups and sub-groups where a group's rows are whole sub-groups, parts of one,
// or neither: devices may have a form of the kernel for each.
#include <algorithm>
#include <climits>
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {

std::string nameOf(const Range& range) {
  std::string name;
  for (const size_t size : range.global) name += std::to_string(size) + "_";
  name += "in";
  for (const size_t size : range.local) name += "_" + std::to_string(size);
  return name;
}
void PrintTo(const Range& range, std::ostream* stream) { *stream << nameOf(range); }

namespace {

constexpr int values_of_an_item = 12;

int numberOf(size_t item) { return static_cast<int>(item * 7 % 31) - 9; }

std::string sourceFor(size_t width, size_t dimensions) {
  const std::string place = dimensions == 1 ? "1" : "1, 0";
  return "#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable\n"
         "__attribute__((intel_reqd_sub_group_size(" +
         std::to_string(width) +
         "))) kernel void k(global int* out) {\n"
         "  size_t item = get_global_linear_id();\n"
         "  int x = (int)(item * 7 % 31) - 9;\n"
         "  long big = (long)x << 33;\n"
         "  uint lane = get_sub_group_local_id(), members = get_sub_group_size();\n"
         "  out += item * 12;\n"
         "  out[0] = sub_group_reduce_add(x);\n"
         "  out[1] = sub_group_scan_exclusive_min(x);\n"
         "  out[2] = (int)(sub_group_scan_inclusive_max(big) >> 33);\n"
         "  out[3] = sub_group_shuffle(x, (lane * 5 + 3) % members);\n"
         "  out[4] = (int)sub_group_ballot(x > 0).x;\n"
         "  out[5] = (int)(2 * sub_group_reduce_add(x * 0.5));\n"
         "  if (x > 0) out[6] = sub_group_non_uniform_scan_inclusive_add(x);\n"
         "  out[7] = work_group_scan_inclusive_add(x);\n"
         "  out[8] = (int)(work_group_reduce_max(big) >> 33);\n"
         "  out[9] = work_group_broadcast((float)x, " +
         place +
         ");\n"
         "  out[10] = work_group_scan_exclusive_add((float)x);\n"
         "  out[11] = sub_group_clustered_reduce_max((char)x, 4u) + 100 * work_group_any(x == "
         "21);\n"
         "}\n";
}

// What the item at `place` of a group gets; the group's items are in their linear order.
std::vector<cl_int> expectedOf(const std::vector<size_t>& group, size_t place, size_t width,
                               size_t broadcast) {
  const auto x = [&](size_t i) { return numberOf(group[i]); };
  const size_t first = place / width * width, end = std::min(first + width, group.size());
  const size_t lane = place - first;
  const auto fold = [&](size_t from, size_t to, int start, auto&& combine) {
    for (size_t i = from; i < to; ++i) start = combine(start, x(i));
    return start;
  };
  const auto sum = [](int a, int b) { return a + b; };
  const auto positive = [](int a, int b) { return a + std::max(b, 0); };
  const auto least = [](int a, int b) { return std::min(a, b); };
  const auto greatest = [](int a, int b) { return std::max(a, b); };
  cl_uint ballot = 0;
  for (size_t i = first; i < end; ++i) ballot |= cl_uint{x(i) > 0} << (i - first);
  const size_t cluster = first + lane / 4 * 4;
  const bool any =
      std::any_of(group.begin(), group.end(), [](size_t item) { return numberOf(item) == 21; });
  return {fold(first, end, 0, sum),
          fold(first, place, INT_MAX, least),
          fold(first, place + 1, INT_MIN, greatest),
          x(first + (lane * 5 + 3) % (end - first)),
          static_cast<cl_int>(ballot),
          fold(first, end, 0, sum),
          x(place) > 0 ? fold(first, place + 1, 0, positive) : -1,
          fold(0, place + 1, 0, sum),
          fold(0, group.size(), INT_MIN, greatest),
          x(broadcast),
          fold(0, place, 0, sum),
          fold(cluster, std::min(cluster + 4, end), INT_MIN, greatest) + 100 * any};
}

class GroupShapes : public Programs, public ::testing::WithParamInterface<Range> {};

TEST_P(GroupShapes, AllLanesGetWhatTheirGroupsMake) {
  std::vector<size_t> sizes(8);
  size_t bytes = 0;
  ASSERT_EQ(cl.clGetDeviceInfo(testDevice(), CL_DEVICE_SUB_GROUP_SIZES_INTEL, 8 * sizeof(size_t),
                               sizes.data(), &bytes),
            CL_SUCCESS);
  sizes.resize(bytes / sizeof(size_t));
  const Range range = GetParam();
  const size_t width = range.global[0], rows = range.global.size() > 1 ? range.global[1] : 1;
  const size_t columns_of_group = range.local[0],
               rows_of_group = range.global.size() > 1 ? range.local[1] : 1;
  for (const size_t lanes : sizes) {
    const OwnedKernel k =
        kernel(built(sourceFor(lanes, range.global.size()), "-cl-std=CL3.0"), "k");
    const OwnedMem out = upload(std::vector<cl_int>(width * rows * values_of_an_item, -1));
    set(k, out);
    run(k, range);
    const auto values = download<cl_int>(out);
    for (size_t top = 0; top < rows; top += rows_of_group)
      for (size_t left = 0; left < width; left += columns_of_group) {
        std::vector<size_t> group;
        const size_t right = std::min(left + columns_of_group, width);
        for (size_t y = top; y < std::min(top + rows_of_group, rows); ++y)
          for (size_t x = left; x < right; ++x) group.push_back(y * width + x);
        for (size_t place = 0; place < group.size(); ++place) {
          const auto* begin = values.data() + group[place] * values_of_an_item;
          EXPECT_EQ(std::vector<cl_int>(begin, begin + values_of_an_item),
                    expectedOf(group, place, lanes, 1))
              << "item " << group[place] << ", sub-groups of " << lanes;
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(, GroupShapes,
                         ::testing::Values(Range{{96}, {48}}, Range{{100}, {40}}, Range{{7}, {7}},
                                           Range{{96, 4}, {32, 2}}, Range{{24, 8}, {8, 4}},
                                           Range{{40, 2}, {32, 1}}, Range{{64, 3}, {16, 3}},
                                           Range{{54, 5}, {18, 4}}),
                         [](const auto& info) { return nameOf(info.param); });

}  // namespace
}  // namespace weft::e2e
