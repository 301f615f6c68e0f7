// Launch geometry: specification 5.10, clEnqueueNDRangeKernel.
#include "core/geometry.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace weft {
namespace {

port::Capabilities device() {
  port::Capabilities capabilities;
  capabilities.max_work_group_size = 1024;
  capabilities.max_work_item_sizes = {1024, 512, 64};
  return capabilities;
}

port::Capabilities cpuWithVectors() {
  port::Capabilities cpu = device();
  cpu.vectors_are_rows = true;
  cpu.preferred_work_group_multiple = 16;
  return cpu;
}

// One that cannot tell how its work-items are grouped.
KernelInfo unobserving() {
  KernelInfo kernel;
  kernel.observes_groups = false;
  kernel.split_hazards = no_split_hazard;
  return kernel;
}

cl_int codeOf(const NDRange& range, const KernelInfo& kernel = {}) {
  try {
    makeLaunchRecord(range, kernel, device());
    return CL_SUCCESS;
  } catch (const Error& error) {
    return error.code();
  }
}

TEST(Geometry, ChosenUniformGroupsDivideAndFit) {
  KernelInfo kernel;
  kernel.uniform_groups = true;
  for (size_t global : {1u, 7u, 97u, 128u, 1000u, 1023u, 65536u, 1000003u}) {
    const size_t sizes[3] = {global, 6, 5};
    for (cl_uint dimensions = 1; dimensions <= 3; ++dimensions) {
      const auto record = makeLaunchRecord({dimensions, nullptr, sizes, nullptr}, kernel, device());
      uint64_t items = 1;
      for (cl_uint d = 0; d < dimensions; ++d) {
        EXPECT_EQ(sizes[d] % record.local_size[d], 0u);
        EXPECT_EQ(record.group_count[d] * record.local_size[d], sizes[d]);
        items *= record.local_size[d];
      }
      EXPECT_LE(items, 1024u);
    }
  }
}

TEST(Geometry, ChosenGroupsAreNeverSmallForWantOfADivisor) {
  for (size_t global : {131u, 1009u, 2u * 1009u, 1000003u}) {
    const auto record = makeLaunchRecord({1, nullptr, &global, nullptr}, {}, device());
    EXPECT_GE(record.local_size[0], 32u) << global;
    EXPECT_GE(record.group_count[0] * record.local_size[0], global);
    EXPECT_LT((record.group_count[0] - 1) * record.local_size[0], global);
  }
}

TEST(Geometry, ChosenGroupsAreBlocksOfRows) {
  const size_t sizes[3] = {4096, 4096, 64};
  const auto record = makeLaunchRecord({3, nullptr, sizes, nullptr}, {}, device());
  EXPECT_EQ(record.local_size[0], 64u);
  EXPECT_EQ(record.local_size[1], 4u);
  EXPECT_EQ(record.local_size[2], 1u);
  EXPECT_EQ(makeLaunchRecord({1, nullptr, sizes, nullptr}, {}, device()).local_size[0], 256u);
}

// Rows of groups lie where neighbours access neighbouring memory.
TEST(Geometry, RowsOfTurnedKernelsAreOfDimension1) {
  const size_t sizes[] = {1024, 1024, 1};
  KernelInfo kernel;
  kernel.lane_dimension = 1;
  const port::LaunchRecord record =
      makeLaunchRecord({2, nullptr, sizes, nullptr}, kernel, device());
  EXPECT_EQ(record.local_size[0], 4u);
  EXPECT_EQ(record.local_size[1], 64u);
  EXPECT_EQ(makeLaunchRecord({1, nullptr, sizes, nullptr}, kernel, device()).local_size[0], 256u);
}

TEST(Geometry, ChosenGroupsLeaveSomeForEveryUnit) {
  port::Capabilities many = device();
  many.compute_units = 16;
  for (size_t global : {2048u, 4096u, 8192u}) {
    const auto record = makeLaunchRecord({1, nullptr, &global, nullptr}, {}, many);
    EXPECT_GE(record.group_count[0], 64u) << global;
    EXPECT_GE(record.local_size[0], 32u) << global;
  }
}

TEST(Geometry, EdgeGroupsRoundUp) {
  const size_t global[1] = {1000}, local[1] = {64};
  EXPECT_EQ(makeLaunchRecord({1, nullptr, global, local}, {}, device()).group_count[0], 16u);
}

TEST(Geometry, UniformGroupsDivideTheGlobalSize) {
  KernelInfo kernel;
  kernel.uniform_groups = true;
  const size_t global[2] = {1000, 6}, odd[2] = {64, 2}, deep[2] = {8, 4}, right[2] = {8, 3};
  EXPECT_EQ(codeOf({2, nullptr, global, odd}, kernel), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(codeOf({2, nullptr, global, deep}, kernel), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(codeOf({2, nullptr, global, right}, kernel), CL_SUCCESS);
  EXPECT_EQ(codeOf({2, nullptr, global, nullptr}, kernel), CL_SUCCESS);
}

// Where nobody can tell, groups are as large as where they need not divide. But what is suggested
// may be given for a launch, and that has to divide.
TEST(Geometry, GroupsThatNobodySeesAreNeverSmall) {
  KernelInfo kernel;
  kernel.uniform_groups = true;
  kernel.observes_groups = false;
  const size_t global[2] = {1000003, 769};
  for (const cl_uint dimensions : {1u, 2u}) {
    NDRange range{dimensions, nullptr, global, nullptr};
    const port::LaunchRecord chosen = makeLaunchRecord(range, kernel, device());
    EXPECT_GE(chosen.local_size[0] * chosen.local_size[1], 256u);
    EXPECT_GE(chosen.group_count[0] * chosen.local_size[0], global[0]);
    range.local_is_suggestion = true;
    const port::LaunchRecord suggested = makeLaunchRecord(range, kernel, device());
    for (cl_uint d = 0; d < dimensions; ++d) EXPECT_EQ(global[d] % suggested.local_size[d], 0u);
  }
  const size_t local = 64;
  EXPECT_EQ(codeOf({1, nullptr, global, &local}, kernel), CL_INVALID_WORK_GROUP_SIZE);
  kernel.required_local_size = {64, 1, 1};
  EXPECT_EQ(codeOf({1, nullptr, global, nullptr}, kernel), CL_INVALID_WORK_GROUP_SIZE);
}

// As programs for CPUs like to name them: one work-item for each thread that they think there is.
TEST(Geometry, SmallGroupsThatNobodySeesAreJoined) {
  for (const bool cpu : {true, false}) {
    port::Capabilities on = device();
    on.vectors_are_rows = cpu;
    on.preferred_work_group_multiple = 16;
    KernelInfo kernel = unobserving();
    kernel.uniform_groups = true;
    const size_t global[2] = {4096, 512};
    const auto itemsOf = [&](cl_uint dimensions, std::array<size_t, 2> local) {
      const NDRange range{dimensions, nullptr, global, local.data()};
      const port::LaunchRecord record = makeLaunchRecord(range, kernel, on);
      EXPECT_EQ(record.group_count[0],
                (global[0] + record.local_size[0] - 1) / record.local_size[0]);
      return record.local_size[0] * record.local_size[1];
    };
    EXPECT_EQ(itemsOf(1, {1, 0}), 256u);
    EXPECT_EQ(itemsOf(2, {1, 1}), 256u);
    EXPECT_EQ(itemsOf(2, {8, 1}), 256u);
    EXPECT_EQ(itemsOf(2, {1, 64}),
              cpu ? 1024u : 64u);  // whose vectors do not go on in the next row
    kernel.lane_dimension = 1;
    EXPECT_EQ(itemsOf(2, {1, 64}), 64u);
    EXPECT_EQ(itemsOf(1, {1, 0}), 256u);
    // Rows that share work are not left alone.
    kernel.lane_dimension = 0;
    kernel.rows_at_once = 4;
    EXPECT_EQ(itemsOf(2, {64, 1}), cpu ? 256u : 64u);
    EXPECT_EQ(itemsOf(2, {64, 4}), 256u);
    EXPECT_EQ(itemsOf(1, {64, 0}), 64u);
    kernel.rows_at_once = 1;
    // What fills a vector stays as it is, and so does what a work-item could tell.
    EXPECT_EQ(itemsOf(2, {16, 2}), 32u);
    kernel.observes_groups = true;
    EXPECT_EQ(itemsOf(1, {1, 0}), 1u);
    kernel.observes_groups = false;
    kernel.split_hazards = static_cast<uint32_t>(SplitHazard::waiting_atomics);
    EXPECT_EQ(itemsOf(1, {1, 0}), 1u);
    kernel.split_hazards = no_split_hazard;
    kernel.required_local_size = {1, 1, 1};
    EXPECT_EQ(itemsOf(1, {1, 0}), 1u);
  }
}

// A program may have a long task for each unit.
TEST(Geometry, JoinedGroupsLeaveOneForEveryUnit) {
  port::Capabilities cpu = cpuWithVectors();
  cpu.compute_units = 8;
  const KernelInfo kernel = unobserving();
  const size_t local = 1;
  for (const size_t global : {8u, 64u, 127u, 128u, 1000u, 100'000u}) {
    const auto record = makeLaunchRecord({1, nullptr, &global, &local}, kernel, cpu);
    EXPECT_GE(record.group_count[0], 8u) << global;
    EXPECT_EQ(record.local_size[0] > 1, global >= 128) << global;
  }
}

// Whoever asks hears of the groups that the program named.
TEST(Geometry, JoinedGroupsAreWholeOnesOfTheProgram) {
  port::Capabilities cpu = cpuWithVectors();
  const KernelInfo kernel = unobserving();
  const size_t global[2] = {1000, 10}, local[2] = {3, 2};
  const auto record = makeLaunchRecord({2, nullptr, global, local}, kernel, cpu);
  EXPECT_EQ(record.local_size[0], 3u * record.joined[0]);
  EXPECT_EQ(record.local_size[1], 2u * record.joined[1]);
  EXPECT_GE(record.local_size[0], 16u);
  const port::GroupBox all = namedGroups(
      record, {{0, 0, 0}, {record.group_count[0], record.group_count[1], record.group_count[2]}});
  EXPECT_EQ((std::array{all.end[0], all.end[1], all.end[2]}), (std::array<uint64_t, 3>{334, 5, 1}));
  const port::GroupBox second = namedGroups(record, {{1, 0, 0}, {2, 1, 1}});
  EXPECT_EQ(second.begin[0], record.joined[0]);
  EXPECT_EQ(second.end[0], 2u * record.joined[0]);
}

// What is wrong is wrong though it would not be used.
TEST(Geometry, SmallGroupsThatNobodySeesAreChecked) {
  KernelInfo kernel = unobserving();
  kernel.uniform_groups = true;
  const size_t global = 1000, local = 3;
  EXPECT_EQ(codeOf({1, nullptr, &global, &local}, kernel), CL_INVALID_WORK_GROUP_SIZE);
}

TEST(Geometry, RowsAreLongerForWantOfADivisor) {
  KernelInfo kernel;
  kernel.uniform_groups = true;
  const size_t global[2] = {1366, 768};
  EXPECT_EQ(makeLaunchRecord({2, nullptr, global, nullptr}, kernel, device()).local_size[0], 683u);
}

TEST(Geometry, RowsFillVectors) {
  port::Capabilities cpu = cpuWithVectors();
  for (const size_t width : {160u, 1000u, 1250u}) {
    const size_t global[2] = {width, 160};
    const uint64_t row = makeLaunchRecord({2, nullptr, global, nullptr}, {}, cpu).local_size[0];
    EXPECT_GE(row * 8, (row + 15) / 16 * 16 * 7) << width;
  }
}

// So that memory is passed through in order.
TEST(Geometry, ShortRowsAreTakenWhole) {
  port::Capabilities cpu = cpuWithVectors();
  KernelInfo kernel;
  const auto chosen = [&](std::array<size_t, 3> global) {
    const auto record = makeLaunchRecord({3, nullptr, global.data(), nullptr}, kernel, cpu);
    return std::array{record.local_size[0], record.local_size[1], record.local_size[2]};
  };
  using Size = std::array<uint64_t, 3>;
  EXPECT_EQ(chosen({160, 160, 160}), (Size{160, 4, 1}));
  EXPECT_EQ(chosen({256, 128, 128}), (Size{256, 4, 1}));
  EXPECT_EQ(chosen({512, 128, 128}), (Size{64, 4, 1}));
  cpu.compute_units = 64;
  EXPECT_LE(chosen({160, 40, 1})[0], 64u) << "too few groups for so many units";
  cpu.compute_units = 1;
  kernel.lane_context_bytes = 4;
  EXPECT_LE(chosen({160, 160, 160})[0], 64u) << "what lanes keep over barriers";
}

TEST(Geometry, RequiredSizeIsUsedAndEnforced) {
  KernelInfo kernel;
  kernel.required_local_size = {8, 4, 1};
  const size_t global[2] = {64, 64}, right[2] = {8, 4}, wrong[2] = {4, 8};
  const auto record = makeLaunchRecord({2, nullptr, global, nullptr}, kernel, device());
  EXPECT_EQ(record.local_size[0], 8u);
  EXPECT_EQ(record.local_size[1], 4u);
  EXPECT_EQ(codeOf({2, nullptr, global, right}, kernel), CL_SUCCESS);
  EXPECT_EQ(codeOf({2, nullptr, global, wrong}, kernel), CL_INVALID_WORK_GROUP_SIZE);
}

TEST(Geometry, AHintIsUsedWhereItFitsAndFailsNothing) {
  KernelInfo kernel;
  kernel.hinted_local_size = {16, 2, 1};
  const size_t global[2] = {64, 64};
  const auto record = makeLaunchRecord({2, nullptr, global, nullptr}, kernel, device());
  EXPECT_EQ(record.local_size[0], 16u);
  EXPECT_EQ(record.local_size[1], 2u);
  for (const std::array<uint64_t, 3> hint : {std::array<uint64_t, 3>{64, 64, 1}, {7, 1, 1}}) {
    kernel.hinted_local_size = hint;
    EXPECT_EQ(codeOf({2, nullptr, global, nullptr}, kernel), CL_SUCCESS);
  }
}

TEST(Geometry, BadSizesGetTheirCodes) {
  const size_t global[3] = {64, 64, 128};
  const size_t zero[1] = {0}, wide[1] = {2048}, deep[3] = {1, 1, 128}, many[2] = {64, 64};
  EXPECT_EQ(codeOf({1, nullptr, global, zero}), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(codeOf({1, nullptr, global, wide}), CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_EQ(codeOf({3, nullptr, global, deep}), CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_EQ(codeOf({2, nullptr, global, many}), CL_INVALID_WORK_GROUP_SIZE);
  const size_t huge[1] = {SIZE_MAX};
  EXPECT_EQ(codeOf({1, huge, global, nullptr}), CL_INVALID_GLOBAL_OFFSET);
}

TEST(Geometry, EmptyRangeHasNoGroups) {
  const size_t global[2] = {16, 0};
  EXPECT_EQ(makeLaunchRecord({2, nullptr, global, nullptr}, {}, device()).group_count[1], 0u);
  EXPECT_EQ(makeLaunchRecord({1, nullptr, nullptr, nullptr}, {}, device()).group_count[0], 0u);
}

}  // namespace
}  // namespace weft
