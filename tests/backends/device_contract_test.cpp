// Devices, images and launches.
#include <numeric>
#include <random>

#include "core/error.h"
#include "tests/backends/contract.h"
#include "tests/support/unit_sets.h"

namespace weft::test {
namespace {

using DeviceContract = ContractTest;

TEST_P(DeviceContract, CapabilitiesMeetTheFullProfile) {
  const port::Capabilities& c = device->capabilities();
  EXPECT_FALSE(c.name.empty());
  EXPECT_FALSE(c.vendor.empty());
  EXPECT_FALSE(c.driver_version.empty());
  EXPECT_NE(c.uuid, (std::array<uint8_t, 16>{}));
  EXPECT_GE(c.compute_units, 1u);
  EXPECT_GE(c.max_work_group_size, 1u);
  for (const size_t size : c.max_work_item_sizes) EXPECT_GE(size, 1u);
  EXPECT_GE(c.preferred_work_group_multiple, 1u);
  EXPECT_GE(c.max_allocation_bytes, std::max<uint64_t>(c.global_memory_bytes / 4, 128 << 20));
  EXPECT_LE(c.max_allocation_bytes, c.global_memory_bytes);
  EXPECT_GE(c.local_memory_bytes, 32u << 10);
  EXPECT_GE(c.constant_buffer_bytes, 64u << 10);
  EXPECT_GE(c.max_constant_arguments, 8u);
  EXPECT_GE(c.max_parameter_bytes, 1024u);
  EXPECT_GE(c.base_address_alignment_bytes, 128u);
  EXPECT_GE(c.printf_buffer_bytes, 1u << 20);
  EXPECT_FALSE(device->target().cpu.empty());
}

TEST_P(DeviceContract, PartitionCutsComputeUnits) {
  if (!partitions()) return;
  const uint32_t units = device->capabilities().compute_units;
  auto parts = device->partition(singles(units));
  ASSERT_EQ(parts.size(), units);
  for (auto& part : parts) {
    EXPECT_EQ(part->capabilities().compute_units, 1u);
    EXPECT_EQ(part->capabilities().max_sub_devices, 0u);
    EXPECT_EQ(part->capabilities().name, device->capabilities().name);
    EXPECT_EQ(part->target(), device->target());
    // Nested.
    EXPECT_EQ(part->partition(singles(1)).at(0)->capabilities().compute_units, 1u);
  }
  EXPECT_EQ(device->partition(consecutive({units})).at(0)->capabilities().compute_units, units);
  EXPECT_THROW(device->partition(consecutive({units, 1})), Error);
  EXPECT_THROW(device->partition(consecutive({0})), Error);
}

TEST_P(DeviceContract, SubDevicesRunKernels) {
  if (!partitions()) return;
  auto part = device->partition(singles(1)).at(0);
  auto own = part->load(testImage(part->target()));
  auto queue = part->createStream(port::Order::in_order);
  auto memory = part->allocate(256, 128);
  std::vector<uint32_t> values(64, 41);
  run(*queue, copyToDevice(values.data(), *memory, 256));
  TestLaunch launch(*own, kernelIndex("add_one"), 64);
  launch.memory(memory.get());
  run(*queue, launch.whole());
  run(*queue, copyToHost(*memory, values.data(), 256));
  EXPECT_EQ(values, std::vector<uint32_t>(64, 42));
}

cl_int loadError(port::Device& device, const Image& image) {
  try {
    device.load(image);
  } catch (const Error& error) {
    return error.code();
  }
  return CL_SUCCESS;
}

TEST_P(DeviceContract, BadImagesAreRefused) {
  const Image good = testImage(device->target());
  EXPECT_EQ(loadError(*device, good), CL_SUCCESS);
  Image image = good;
  image.payload.assign(2000, std::byte(7));
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
  image = good;
  image.payload.resize(10);
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
  image = good;
  image.payload.resize(200);  // a header, and nothing that it speaks of
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
  image = good;
  image.kernels[0].symbol = "no_such_symbol";
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
  image = good;
  image.kind = ImageKind::library;
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
  image = good;
  image.target.features += ",+amx-tile";
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
  image = good;
  const bool amd = good.target.kind == port::TargetKind::amdgcn;
  image.target.kind = amd ? port::TargetKind::nvptx : port::TargetKind::amdgcn;
  EXPECT_EQ(loadError(*device, image), CL_INVALID_BINARY);
}

TEST_P(DeviceContract, ProgramScopeVariablesBelongToTheModule) {
  auto memory = device->allocate(64, 128);
  std::vector<std::unique_ptr<port::Module>> modules;
  for (uint64_t i = 0; i < 20; ++i) {
    modules.push_back(device->load(testImage(device->target())));
    // Some go, so that descriptors are used again.
    if (i % 3 == 1) modules.erase(modules.begin());
    for (uint64_t times = 1; times <= 2; ++times) {
      TestLaunch launch(*modules.back(), kernelIndex("program_scope"), 1);
      launch.memory(memory.get());
      run(*transfers, launch.whole());
      uint64_t count = 0;
      read(*memory, &count, 8);
      EXPECT_EQ(count, times) << "module " << i;
    }
  }
}

// Any way to cut an NDRange gives each group once.
TEST_P(DeviceContract, SlicesCoverTheRange) {
  std::mt19937 random(11);
  for (int round = 0; round < 15; ++round) {
    TestLaunch launch(*module, kernelIndex("add_one"), 1);
    uint64_t groups = 1;
    for (int d = 0; d < 3; ++d) {
      launch.record.group_count[d] = 1 + random() % (round % 5 == 0 ? 60 : 12);
      launch.record.global_size[d] = launch.record.group_count[d];
      groups *= launch.record.group_count[d];
    }
    auto memory = device->allocate(groups * 4, 128);
    std::vector<uint32_t> values(groups, 0);
    write(*memory, values.data(), groups * 4);
    launch.memory(memory.get());
    port::GroupBox rest = launch.whole().slice;
    while (rest.count() != 0) {
      port::GroupBox part = rest;
      const unsigned d = random() % 3;
      part.end[d] = part.begin[d] + 1 + random() % (rest.end[d] - rest.begin[d]);
      run(*transfers, launch.slice(part));
      rest.begin[d] = part.end[d];
    }
    run(*transfers, launch.slice(rest));  // nothing left: no group
    read(*memory, values.data(), groups * 4);
    EXPECT_EQ(values, std::vector<uint32_t>(groups, 1)) << "round " << round;
  }
}

// Enough groups, and long enough, for several workers.
TEST_P(DeviceContract, BigLaunchesRunEachGroupOnce) {
  constexpr uint64_t side = 12, groups = side * side * side;
  auto memory = device->allocate(groups * 4, 128);
  std::vector<uint32_t> values(groups, 0);
  write(*memory, values.data(), groups * 4);
  TestLaunch launch(*module, kernelIndex("busy"), 1);
  for (int d = 0; d < 3; ++d) launch.record.group_count[d] = launch.record.global_size[d] = side;
  launch.value(2'000).memory(memory.get());
  for (int i = 0; i < 5; ++i) run(*transfers, launch.whole());
  read(*memory, values.data(), groups * 4);
  EXPECT_EQ(values, std::vector<uint32_t>(groups, 5));
}

TEST_P(DeviceContract, LaunchRecordArrivesWhole) {
  TestLaunch launch(*module, kernelIndex("record_fields"), 1);
  port::LaunchRecord& r = launch.record;
  r.work_dim = 3;
  std::vector<uint64_t> expected{3};
  for (int d = 0; d < 3; ++d) r.global_offset[d] = 100 + uint64_t(d);
  for (int d = 0; d < 3; ++d) r.global_size[d] = 7 + uint64_t(d);
  for (int d = 0; d < 3; ++d) r.local_size[d] = 2 + uint64_t(d);
  for (int d = 0; d < 3; ++d)
    r.group_count[d] = (r.global_size[d] + r.local_size[d] - 1) / r.local_size[d];
  for (const auto* field : {r.global_offset, r.global_size, r.local_size, r.group_count})
    expected.insert(expected.end(), field, field + 3);
  auto memory = device->allocate(14 * 8, 128);
  launch.memory(memory.get());
  run(*transfers, launch.whole());
  std::vector<uint64_t> fields(14);
  read(*memory, fields.data(), 14 * 8);
  expectHolds("services", fields.back() == 1);  // of the device's own
  fields.pop_back();
  EXPECT_EQ(fields, expected);
}

TEST_P(DeviceContract, LocalMemoryIsAlignedAndOnesOwn) {
  constexpr uint64_t groups = 200;
  auto memory = device->allocate(groups * 24, 128);
  TestLaunch launch(*module, kernelIndex("local_memory"), groups);
  launch.record.local_size[0] = 70;
  launch.record.global_size[0] = 70 * groups;
  launch.memory(memory.get()).local(100).local(64);
  run(*transfers, launch.whole());
  std::vector<uint64_t> result(groups * 3);
  read(*memory, result.data(), groups * 24);
  for (uint64_t g = 0; g < groups; ++g) {
    const uint64_t a = result[3 * g], b = result[3 * g + 1];
    EXPECT_GE(a, 40u);      // behind the kernel's own 40 bytes
    EXPECT_GE(b, a + 100);  // behind the first argument
    EXPECT_EQ(b % 64, 0u);  // as the argument asks
    EXPECT_EQ(result[3 * g + 2], 1u) << g;
  }
}

TEST_P(DeviceContract, KernelsSeeTheDefaultFloatState) {
  auto memory = device->allocate(64 * 4, 128);
  TestLaunch launch(*module, kernelIndex("float_state"), 64);
  launch.memory(memory.get());
  run(*transfers, launch.whole());
  std::vector<uint32_t> state(64);
  read(*memory, state.data(), 256);
  expectHolds("control bits", state == std::vector<uint32_t>(64, 0x1f80));
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceContract, ::testing::ValuesIn(subjects()), subjectName);

}  // namespace
}  // namespace weft::test
