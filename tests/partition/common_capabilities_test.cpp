#include "partition/common_capabilities.h"

#include <gtest/gtest.h>

namespace weft::partition {
namespace {

using Names = std::vector<std::string>;

port::Capabilities cpu() {
  port::Capabilities cpu;
  cpu.name = "CPU";
  cpu.compute_units = 16;
  cpu.max_work_group_size = 4096;
  cpu.max_work_item_sizes = {4096, 4096, 4096};
  cpu.global_memory_bytes = 100;
  cpu.local_memory_bytes = 2000;
  cpu.base_address_alignment_bytes = 128;
  cpu.fp64 = cpu.fp16 = cpu.native_kernels = cpu.images = true;
  cpu.image_limits = {16384, 16384, 2048, 2048, 2048, 100000, 2048, 128, 64, 64, 16, 1, 1};
  cpu.language_features = {"__opencl_c_atomic_order_seq_cst", "__opencl_c_pipes"};
  cpu.shared_memory = port::shares_coarse_buffers | port::shares_all_memory;
  cpu.max_sub_devices = 16;
  cpu.units.resize(16);
  return cpu;
}

port::Capabilities gpu() {
  port::Capabilities gpu = cpu();
  gpu.device_class = port::DeviceClass::gpu;
  gpu.name = "GPU";
  gpu.compute_units = 100;
  gpu.max_work_group_size = 1024;
  gpu.max_work_item_sizes = {1024, 1024, 64};
  gpu.global_memory_bytes = 50;
  gpu.local_memory_bytes = 3000;
  gpu.base_address_alignment_bytes = 256;
  gpu.native_kernels = false;
  gpu.image_limits.width_2d = 100;
  gpu.image_limits.samplers = 32;
  gpu.image_limits.pitch_alignment = 8;
  gpu.language_features = {"__opencl_c_subgroups", "__opencl_c_atomic_order_seq_cst"};
  gpu.shared_memory = port::shares_coarse_buffers;
  gpu.memory_space = 7;
  gpu.units.clear();
  return gpu;
}

TEST(CommonCapabilities, AreWhatEachMemberCanDo) {
  const port::Capabilities members[] = {gpu(), cpu()};
  const port::Capabilities* each[] = {&members[0], &members[1]};
  const port::Capabilities all = common(each);
  EXPECT_EQ(all.compute_units, 116u);
  EXPECT_EQ(all.max_work_group_size, 1024u);
  EXPECT_EQ(all.max_work_item_sizes, (std::array<size_t, 3>{1024, 1024, 64}));
  EXPECT_EQ(all.global_memory_bytes, 50u);
  EXPECT_EQ(all.local_memory_bytes, 2000u);
  EXPECT_EQ(all.base_address_alignment_bytes, 256u);
  EXPECT_TRUE(all.fp64);
  EXPECT_FALSE(all.native_kernels);
  EXPECT_EQ(all.image_limits.width_2d, 100u);
  EXPECT_EQ(all.image_limits.height_2d, 16384u);
  EXPECT_EQ(all.image_limits.samplers, 16u);
  EXPECT_EQ(all.image_limits.pitch_alignment, 8u);
  EXPECT_EQ(all.language_features, Names{"__opencl_c_atomic_order_seq_cst"});
  EXPECT_EQ(all.shared_memory, port::shares_coarse_buffers);
}

TEST(CommonCapabilities, BelongToTheFirstWhereTheyAreOneDevices) {
  const port::Capabilities members[] = {gpu(), cpu()};
  const port::Capabilities* each[] = {&members[0], &members[1]};
  const port::Capabilities all = common(each);
  EXPECT_EQ(all.memory_space, 7u);
  EXPECT_EQ(all.device_class, port::DeviceClass::gpu);
  EXPECT_EQ(all.max_sub_devices, 0u);
  EXPECT_TRUE(all.units.empty());
}

TEST(CommonCapabilities, HaveSubGroupsOnlyWhereTheyAreOfOneSize) {
  port::Capabilities members[] = {gpu(), gpu()};
  for (port::Capabilities& member : members) {
    member.max_sub_groups = 32;
    member.sub_group_sizes = {32};
    member.language_extensions = {"cl_khr_subgroup_shuffle"};
  }
  const port::Capabilities* each[] = {&members[0], &members[1]};
  const port::Capabilities alike = common(each);
  EXPECT_EQ(alike.max_sub_groups, 32u);
  EXPECT_EQ(alike.language_extensions, Names{"cl_khr_subgroup_shuffle"});
  members[1].sub_group_sizes = {8, 16, 32};
  const port::Capabilities unlike = common(each);
  EXPECT_EQ(unlike.max_sub_groups, 0u);
  EXPECT_TRUE(unlike.sub_group_sizes.empty());
  EXPECT_TRUE(unlike.language_extensions.empty());
  EXPECT_EQ(unlike.language_features, Names{"__opencl_c_atomic_order_seq_cst"});
}

TEST(CommonCapabilities, HaveNoImageLimitsWithoutImages) {
  port::Capabilities members[] = {gpu(), cpu()};
  members[1].images = false;
  const port::Capabilities* each[] = {&members[0], &members[1]};
  const port::Capabilities all = common(each);
  EXPECT_FALSE(all.images);
  EXPECT_EQ(all.image_limits.width_2d, 0u);
  EXPECT_EQ(all.image_limits.samplers, 0u);
}

}  // namespace
}  // namespace weft::partition
