// Sub-groups: their functions among lanes that stay together and lanes that part.
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr char at_least_3[] = "-cl-std=CL3.0";

class SubGroups : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (!deviceInfo<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS))
      GTEST_SKIP() << "the device has no sub-groups";
  }
};

// The parameter says which of the sizes that the device has.
class SubGroupsOfEachSize : public SubGroups, public ::testing::WithParamInterface<size_t> {
 protected:
  void SetUp() override {
    SubGroups::SetUp();
    if (IsSkipped()) return;
    size_t sizes[8] = {}, bytes = 0;
    ASSERT_EQ(cl.clGetDeviceInfo(testDevice(), CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes,
                                 &bytes),
              CL_SUCCESS);
    if (GetParam() >= bytes / sizeof *sizes) GTEST_SKIP() << "the device has fewer sizes";
    width = static_cast<int>(sizes[GetParam()]);
    head =
        "__attribute__((intel_reqd_sub_group_size(" + std::to_string(width) + "))) kernel void k(";
  }
  // The kernel "k" of an output, for `items` work-items.
  std::vector<cl_int> results(const std::string& source, Range range) {
    const OwnedKernel k = kernel(built(source, at_least_3), "k");
    const size_t items =
        std::accumulate(range.global.begin(), range.global.end(), size_t{1}, std::multiplies<>());
    const OwnedMem out = upload(std::vector<cl_int>(items, -1));
    set(k, out);
    run(k, range);
    return download<cl_int>(out);
  }

  int width = 0;
  std::string head;
};

TEST_P(SubGroupsOfEachSize, AreLanesInTheLinearOrder) {
  const auto values = results(head +
                                  "global int* out) {\n"
                                  "  out[get_global_linear_id()] = get_sub_group_id() * 1000 +\n"
                                  "    get_sub_group_local_id() * 10 + get_sub_group_size() +\n"
                                  "    100000 * get_num_sub_groups() +\n"
                                  "    10000000 * get_enqueued_num_sub_groups(); }",
                              {{5, 11}, {5, 4}});
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 5; ++x) {
      const int lane = (y % 4) * 5 + x, items = y < 8 ? 20 : 15;
      const int id = lane / width, size = std::min(width, items - id * width);
      EXPECT_EQ(values[y * 5 + x], id * 1000 + lane % width * 10 + size +
                                       100000 * ((items + width - 1) / width) +
                                       10000000 * ((20 + width - 1) / width))
          << x << " " << y;
    }
  }
}

TEST_P(SubGroupsOfEachSize, ReductionsAndScansOfWholeSubGroups) {
  const auto values = results(head +
                                  "global int* out) {\n"
                                  "  int i = get_global_id(0), x = i * i % 37;\n"
                                  "  int sum = 0;\n"
                                  "  for (int turn = 0; turn < 3; ++turn)\n"
                                  "    sum += sub_group_scan_exclusive_add(x + turn);\n"
                                  "  out[i] = sum * 10000 + sub_group_reduce_max(x) * 100 +\n"
                                  "           sub_group_broadcast(x, get_sub_group_size() - 1); }",
                              {{61}, {20}});
  const auto x = [](int i) { return i * i % 37; };
  for (int i = 0; i < 61; ++i) {
    const int group = i / 20 * 20, first = group + (i - group) / width * width;
    const int end = std::min({first + width, group + 20, 61});
    int before = 0, greatest = 0;
    for (int j = first; j < end; ++j) {
      before += j < i ? 3 * x(j) + 3 : 0;
      greatest = std::max(greatest, x(j));
    }
    EXPECT_EQ(values[i], before * 10000 + greatest * 100 + x(end - 1)) << i;
  }
}

TEST_P(SubGroupsOfEachSize, MayPartAtTheirFunctionsAndMeetAtABarrier) {
  const auto values = results(head +
                                  "global int* out) {\n"
                                  "  local int shared[64];\n"
                                  "  int l = get_local_id(0), x = l;\n"
                                  "  for (int i = 0; i < get_sub_group_id(); ++i)\n"
                                  "    x = sub_group_reduce_add(x);\n"
                                  "  shared[l] = x;\n"
                                  "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                                  "  out[get_global_id(0)] = shared[63 - l]; }",
                              {{128}, {64}});
  for (int l = 0; l < 64; ++l) {
    const int other = 63 - l, id = other / width;
    int expected = other;
    for (int i = 0; i < id; ++i)
      expected = i == 0 ? width * id * width + width * (width - 1) / 2 : expected * width;
    EXPECT_EQ(values[l], expected) << l;
    EXPECT_EQ(values[64 + l], expected) << l;
  }
}

TEST_P(SubGroupsOfEachSize, NonUniformFunctionsSeeTheLanesThatAreThere) {
  const auto values =
      results("#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable\n" + head +
                  "global int* out) {\n"
                  "  int lane = get_sub_group_local_id(), r = 0;\n"
                  "  if (lane & 1) r = sub_group_ballot(1).x;\n"
                  "  else if (lane & 2) r = sub_group_non_uniform_reduce_add(lane) + 1000;\n"
                  "  else return;\n"
                  "  for (int i = 0; i < lane; ++i) r += sub_group_elect() << 16;\n"
                  "  r += sub_group_ballot(lane > 2).x << 8;\n"
                  "  out[get_global_id(0)] = r; }",
              {{32}, {16}});
  const int members = std::min(width, 16);
  const auto is_there = [](int lane) { return lane % 4 != 0; };
  const auto sum = [&](const auto& of) {
    int result = 0;
    for (int lane = 0; lane < members; ++lane) result += is_there(lane) ? of(lane) : 0;
    return result;
  };
  const int odd = sum([](int lane) { return lane % 2 << lane; });
  const int even = sum([](int lane) { return lane % 2 ? 0 : lane; });
  const int above_two = sum([](int lane) { return (lane > 2) << lane; });
  for (int i = 0; i < 32; ++i) {
    const int lane = i % 16 % width;
    if (!is_there(lane)) {
      EXPECT_EQ(values[i], -1) << i;
      continue;
    }
    // Of those that are still in the loop the least is elected.
    int elected = 0;
    for (int turn = 0; turn < lane; ++turn) {
      int least = turn + 1;
      while (!is_there(least)) ++least;
      elected += lane == least;
    }
    const int own = lane % 2 ? odd : 1000 + even;
    EXPECT_EQ(values[i], own + (elected << 16) + (above_two << 8)) << i;
  }
}

// A way for one lane, which none takes where all go past it.
TEST_P(SubGroupsOfEachSize, OneLaneOrNone) {
  const char* const ways[] = {
      "if (in == 0) goto others; if (lane == 2) { atomic_inc(out + i); goto end; }\n"
      "others: out[i] += 10 + sub_group_elect(); end:",
      "if (in == 0) goto others; if (lane != 2) goto others; atomic_inc(out + i); goto end;\n"
      "others: out[i] += 10 + sub_group_elect(); end:",
      "if (in != 0) { if (lane == 2) { atomic_inc(out + i); goto end; } out[i] += 0; }\n"
      "out[i] += 10 + sub_group_elect(); end:"};
  for (const char* const way : ways) {
    const auto values = results(head +
                                    "global int* out) {\n"
                                    "  int lane = get_sub_group_local_id(), i = get_global_id(0);\n"
                                    "  int in = get_group_id(0) & 1; out[i] = 0;\n" +
                                    way + " out[i] += 100; }",
                                {{size_t(4 * width)}, {size_t(width)}});
    for (int i = 0; i < 4 * width; ++i) {
      const int lane = i % width;
      const bool alone = i / width % 2 == 1 && lane == 2;
      EXPECT_EQ(values[i], alone ? 101 : 110 + (lane == 0)) << i << way;
    }
  }
}

// The same code twice, which must not become one.
TEST_P(SubGroupsOfEachSize, TwoBranchesAreTwoPlaces) {
  const auto values = results("#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable\n" + head +
                                  "global int* out) {\n"
                                  "  int i = get_global_id(0), x = i;\n"
                                  "  if (get_sub_group_local_id() < get_sub_group_size() / 2)\n"
                                  "    out[i] = sub_group_broadcast_first(x);\n"
                                  "  else\n"
                                  "    out[i] = sub_group_broadcast_first(x); }",
                              {{size_t(3 * width)}, {size_t(width)}});
  for (int i = 0; i < 3 * width; ++i) EXPECT_EQ(values[i], i / (width / 2) * (width / 2)) << i;
}

TEST_P(SubGroupsOfEachSize, ValuesMoveBetweenLanes) {
  const auto values =
      results(head +
                  "global int* out) {\n"
                  "  int lane = get_sub_group_local_id();\n"
                  "  double4 d = sub_group_broadcast((double4)(lane), 3);\n"
                  "  short s = sub_group_shuffle_xor((short)(lane * 3), 5u);\n"
                  "  long r = sub_group_rotate((long)lane << 40, 3) >> 40;\n"
                  "  int c = sub_group_clustered_reduce_mul(lane + 1, 2u);\n"
                  "  out[get_global_id(0)] = d.w + 10 * s + 1000 * r + 10000 * c; }",
              {{size_t(3 * width)}, {size_t(width)}});
  for (int i = 0; i < 3 * width; ++i) {
    const int lane = i % width, pair = lane / 2 * 2;
    EXPECT_EQ(values[i], 3 + 10 * (lane ^ 5) * 3 + 1000 * ((lane + 3) % width) +
                             10000 * (pair + 1) * (pair + 2))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, SubGroupsOfEachSize, ::testing::Values(0, 1, 2));

TEST_F(SubGroups, QueriesOfAKernel) {
  const OwnedProgram program = built(
      "kernel void plain(global int* a) { a[0] = get_max_sub_group_size(); }\n"
      "__attribute__((intel_reqd_sub_group_size(32))) kernel void wide(global int* a) {}",
      at_least_3);
  const OwnedKernel plain = kernel(program, "plain"), wide = kernel(program, "wide");
  const auto ask = [&](cl_kernel k, cl_kernel_sub_group_info name, std::vector<size_t> input) {
    size_t value = 77;
    EXPECT_EQ(cl.clGetKernelSubGroupInfo(k, testDevice(), name, input.size() * sizeof(size_t),
                                         input.data(), sizeof value, &value, nullptr),
              CL_SUCCESS);
    return value;
  };
  const OwnedMem out = upload(std::vector<cl_int>(1));
  set(plain, out);
  run(plain, {{1}});
  const size_t size = ask(plain, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64});
  EXPECT_EQ(size, size_t(download<cl_int>(out)[0]));
  EXPECT_EQ(ask(wide, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64, 2}), 32u);
  EXPECT_EQ(ask(wide, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, {}), 32u);
  EXPECT_EQ(ask(plain, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, {}), 0u);
  EXPECT_EQ(ask(wide, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, {5, 13, 1}), 3u);
  EXPECT_EQ(ask(wide, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, {3}), 96u);
  EXPECT_EQ(ask(wide, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, {1u << 20}), 0u);
  EXPECT_EQ(ask(plain, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, {}), 0u);
  size_t three[3] = {7, 7, 7}, count = 2, value = 0;
  EXPECT_EQ(cl.clGetKernelSubGroupInfo(wide, testDevice(), CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
                                       sizeof count, &count, sizeof three, three, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(three[0], 64u);
  EXPECT_EQ(three[2], 1u);
  const auto refused = [&](cl_kernel_sub_group_info name, size_t bytes, const void* input) {
    return cl.clGetKernelSubGroupInfo(wide, testDevice(), name, bytes, input, sizeof value, &value,
                                      nullptr);
  };
  EXPECT_EQ(refused(0, sizeof count, &count), CL_INVALID_VALUE);
  EXPECT_EQ(refused(CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 0, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(refused(CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 4, three), CL_INVALID_VALUE);
  EXPECT_EQ(refused(CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, sizeof three, three),
            CL_INVALID_VALUE);
}

TEST_F(SubGroups, OtherSizesAreRefused) {
  const OwnedProgram program = fromSource(
      "__attribute__((intel_reqd_sub_group_size(64))) kernel void k(global int* a) { a[0] = 1; }");
  EXPECT_NE(build(program), CL_SUCCESS);
  EXPECT_NE(log(program).find("sub-groups of 64"), std::string::npos);
}

}  // namespace
}  // namespace weft::e2e
