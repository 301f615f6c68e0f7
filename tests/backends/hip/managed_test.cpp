// Memory whose pages move between the host and the devices.
#include <numeric>

#include "core/error.h"
#include "tests/backends/hip/hip_test.h"

namespace weft::test {
namespace {

constexpr size_t count = 4096, bytes = count * sizeof(uint32_t);

class ManagedTest : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    if (IsSkipped()) return;
    if (device->capabilities().managed_group == 0) GTEST_SKIP() << "no managed memory";
    memory = device->allocateManaged(bytes);
    values = reinterpret_cast<uint32_t*>(memory->host());
    ASSERT_EQ(memory->deviceAddress(), reinterpret_cast<uint64_t>(values));
    std::iota(values, values + count, 0);
  }
  void TearDown() override {
    memory = nullptr;
    HipTest::TearDown();
  }
  void addOne(port::Memory& to) {
    GpuLaunchCase launch(*module, "add_one", {count, 1, 1}, {64, 1, 1});
    run(*stream, launch.memory(&to).whole());
  }

  std::unique_ptr<port::Memory> memory;
  uint32_t* values = nullptr;
};

TEST_P(ManagedTest, HostAndKernelsTakeTurns) {
  for (uint32_t turn = 1; turn <= 3; ++turn) {
    addOne(*memory);
    ASSERT_EQ(values[0], turn);
    ASSERT_EQ(values[count - 1], count - 1 + turn);
  }
}

// Also of a part of it; it is no memory to be pinned.
TEST_P(ManagedTest, DevicesOfTheGroupImportIt) {
  for (const auto& other : devices) {
    const auto whole = other->import(values, bytes), part = other->import(values + 1, 8);
    ASSERT_TRUE(whole && part);
    EXPECT_EQ(whole->deviceAddress(), memory->deviceAddress());
    EXPECT_EQ(part->deviceAddress(), memory->deviceAddress() + 4);
    EXPECT_EQ(other->capabilities().managed_group, device->capabilities().managed_group);
  }
  const auto imported = device->import(values, bytes);
  addOne(*imported);
  EXPECT_EQ(values[5], 6u);
}

TEST_P(ManagedTest, CopiesAndFills) {
  const auto own = device->allocate(bytes, 128);
  port::Copy copy;
  copy.source.memory = memory.get();
  copy.destination.memory = own.get();
  copy.region = {bytes, 1, 1};
  run(*stream, copy);
  EXPECT_EQ(contents<uint32_t>(*own, count)[7], 7u);
  const uint32_t pattern[] = {8, 9};
  port::Fill fill;
  fill.memory = memory.get();
  fill.offset = 8;
  fill.size = 16;
  fill.pattern = reinterpret_cast<const std::byte*>(pattern);
  fill.pattern_size = sizeof pattern;
  run(*stream, fill);
  EXPECT_EQ(std::vector(values, values + 7), (std::vector<uint32_t>{0, 1, 8, 9, 8, 9, 6}));
  std::vector<uint32_t> ordinary(count, 3);
  write(*memory, ordinary.data(), bytes);
  EXPECT_EQ(std::vector(values, values + count), ordinary);
}

// Other memory stays where it is, which is no failure.
TEST_P(ManagedTest, PrefetchesToEitherSide) {
  const auto own = device->allocate(bytes, 128);
  const port::Prefetch::Part parts[] = {{memory.get(), 0, bytes}, {own.get(), 0, bytes}};
  const bool counted = GetParam() == Subject::software;
  const int before = counted ? softwareGpuFaults().prefetches.load() : 0;
  for (const bool to_host : {false, true}) {
    run(*stream, port::Prefetch{parts, to_host});
    EXPECT_EQ(values[9], 9u);
  }
  if (counted) {
    EXPECT_EQ(softwareGpuFaults().prefetches, before + 2);
  }
}

// Before the kernel; what is no such memory stays where it is.
TEST_P(ManagedTest, LaunchesPrefetchWhatTheyAreTold) {
  const auto own = device->allocate(bytes, 128);
  const port::MemoryPart parts[] = {{memory.get(), 0, bytes}, {own.get(), 0, bytes}};
  const bool counted = GetParam() == Subject::software;
  const int before = counted ? softwareGpuFaults().prefetches.load() : 0;
  GpuLaunchCase launch(*module, "add_one", {count, 1, 1}, {64, 1, 1});
  port::Launch told = launch.memory(memory.get()).whole();
  told.prefetch = parts;
  run(*stream, told);
  EXPECT_EQ(values[9], 10u);
  if (counted) {
    EXPECT_EQ(softwareGpuFaults().prefetches, before + 1);
  }
}

TEST_P(ManagedTest, FailsWhereThereIsNone) {
  if (GetParam() != Subject::software) GTEST_SKIP() << "software GPUs have so much and no more";
  try {
    device->allocateManaged(size_t(1) << 40);
    ADD_FAILURE() << "a TiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  }
}

// The host would fault while that one runs a kernel.
TEST(ManagedGroupTest, IsNoneWhereOneDeviceIsExclusive) {
  softwareGpuFaults().exclusive_device = 1;
  const auto devices = devicesOf(Subject::software);
  softwareGpuFaults().exclusive_device = -1;
  ASSERT_GE(devices.size(), 2u);
  for (const auto& device : devices) EXPECT_EQ(device->capabilities().managed_group, 0u);
  for (const auto& device : devicesOf(Subject::software))
    EXPECT_NE(device->capabilities().managed_group, 0u);
}

INSTANTIATE_TEST_SUITE_P(Hip, ManagedTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
