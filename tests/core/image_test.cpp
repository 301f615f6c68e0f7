#include "core/image.h"

#include <gtest/gtest.h>

#include <random>

namespace weft {
namespace {

// With a twin, of two images and a sampler.
KernelInfo sampling() {
  KernelInfo kernel;
  kernel.name = "sampling";
  for (const auto kind : {ArgumentKind::image, ArgumentKind::sampler, ArgumentKind::image})
    kernel.arguments.emplace_back().kind = kind;
  kernel.native = {"weft.twin", {{2, 3}, {0, 2}}, {{true, 1}, {false, 0x27}}};
  return kernel;
}

Image sample() {
  Image image;
  image.kind = ImageKind::library;
  image.target = {port::TargetKind::amdgcn, "gfx1100", "+wavefrontsize32"};
  image.options = "-cl-mad-enable -DX=\"a b\"";
  image.global_variable_bytes = 12345;
  image.argument_names = true;
  for (int k = 0; k < 3; ++k) {
    KernelInfo kernel;
    kernel.name = "kernel" + std::to_string(k);
    kernel.symbol = "weft." + kernel.name;
    kernel.attributes = "reqd_work_group_size(8,4,2)";
    kernel.required_local_size = {8, 4, 2};
    kernel.hinted_local_size = {1, 2, 3};
    kernel.local_bytes = 1;
    kernel.private_bytes = 2;
    kernel.lane_context_bytes = 3;
    kernel.stack_bytes = 4;
    kernel.uniform_groups = k == 2;
    kernel.observes_groups = k != 2;
    kernel.has_barriers = k == 1;
    kernel.uses_printf = k == 2;
    for (int a = 0; a < k; ++a) {
      ArgumentInfo argument;
      argument.name = "argument" + std::to_string(a);
      argument.type_name = "float4*";
      argument.kind = ArgumentKind::constant_pointer;
      argument.address = AddressQualifier::constant;
      argument.access = AccessQualifier::read_only;
      argument.type_qualifiers = qualifier_const | qualifier_restrict;
      argument.size = 8;
      argument.alignment = 16;
      argument.reads = a == 0;
      argument.writes = a == 1;
      kernel.arguments.push_back(argument);
    }
    image.kernels.push_back(kernel);
  }
  image.kernels.push_back(sampling());
  for (int i = 0; i < 300; ++i) image.payload.push_back(static_cast<std::byte>(i * 7));
  return image;
}

TEST(Image, RoundTripKeepsEverything) {
  const Image image = sample();
  const port::Bytes bytes = writeImage(image);
  const auto read = readImage(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, image.kind);
  EXPECT_EQ(read->target, image.target);
  EXPECT_EQ(read->options, image.options);
  EXPECT_EQ(read->global_variable_bytes, image.global_variable_bytes);
  EXPECT_EQ(read->argument_names, image.argument_names);
  EXPECT_EQ(read->payload, image.payload);
  ASSERT_EQ(read->kernels.size(), 4u);
  const NativeImages& native = read->kernels[3].native;
  EXPECT_EQ(native.symbol, "weft.twin");
  ASSERT_EQ(native.images.size(), 2u);
  EXPECT_EQ(native.images[0].argument, 2u);
  EXPECT_EQ(native.images[0].samplers, 3u);
  EXPECT_EQ(native.samplers, (std::vector<NativeSampler>{{true, 1}, {false, 0x27}}));
  const KernelInfo& kernel = read->kernels[2];
  EXPECT_EQ(kernel.name, "kernel2");
  EXPECT_EQ(kernel.symbol, "weft.kernel2");
  EXPECT_EQ(kernel.attributes, "reqd_work_group_size(8,4,2)");
  EXPECT_EQ(kernel.required_local_size, (std::array<uint64_t, 3>{8, 4, 2}));
  EXPECT_EQ(kernel.hinted_local_size, (std::array<uint64_t, 3>{1, 2, 3}));
  EXPECT_EQ(kernel.local_bytes, 1u);
  EXPECT_EQ(kernel.private_bytes, 2u);
  EXPECT_EQ(kernel.lane_context_bytes, 3u);
  EXPECT_EQ(kernel.stack_bytes, 4u);
  EXPECT_TRUE(kernel.uniform_groups);
  EXPECT_FALSE(kernel.observes_groups);
  EXPECT_FALSE(kernel.has_barriers);
  EXPECT_TRUE(kernel.uses_printf);
  ASSERT_EQ(kernel.arguments.size(), 2u);
  const ArgumentInfo& argument = kernel.arguments[1];
  EXPECT_EQ(argument.name, "argument1");
  EXPECT_EQ(argument.type_name, "float4*");
  EXPECT_EQ(argument.kind, ArgumentKind::constant_pointer);
  EXPECT_EQ(argument.address, AddressQualifier::constant);
  EXPECT_EQ(argument.access, AccessQualifier::read_only);
  EXPECT_EQ(argument.type_qualifiers, qualifier_const | qualifier_restrict);
  EXPECT_EQ(argument.size, 8u);
  EXPECT_EQ(argument.alignment, 16u);
  EXPECT_FALSE(argument.reads);
  EXPECT_TRUE(argument.writes);
}

// CL_PROGRAM_BINARIES and the cache may compare.
TEST(Image, WritingAgainGivesTheSameBytes) {
  const port::Bytes bytes = writeImage(sample());
  EXPECT_EQ(writeImage(*readImage(bytes)), bytes);
}

TEST(Image, EmptyImageRoundTrips) {
  const auto read = readImage(writeImage(Image{}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->kernels.empty());
  EXPECT_TRUE(read->payload.empty());
}

TEST(Image, NoTruncatedPrefixIsRead) {
  const port::Bytes bytes = writeImage(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of exactly that size, so that the sanitizer sees a read beyond it.
    const port::Bytes prefix(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(readImage(prefix)) << size;
  }
}

TEST(Image, TwinsTakeWhatTheirKernelsHave) {
  const auto isRead = [](const NativeImages& native) {
    Image image;
    image.kernels.push_back(sampling());
    image.kernels.back().native = native;
    return readImage(writeImage(image)).has_value();
  };
  const std::vector<NativeSampler> samplers{{true, 1}, {false, 0x27}};
  EXPECT_TRUE(isRead({"twin", {{0, 3}}, samplers}));
  EXPECT_FALSE(isRead({"twin", {{1, 3}}, samplers}));  // a sampler
  EXPECT_FALSE(isRead({"twin", {{3, 3}}, samplers}));
  EXPECT_FALSE(isRead({"twin", {{0, 4}}, samplers}));
  EXPECT_FALSE(isRead({"twin", {{0, 1}}, {{true, 0}}}));  // an image
  EXPECT_FALSE(isRead({"twin", {{0, 1}}, {{true, 3}}}));
  EXPECT_FALSE(isRead({"twin", {{0, 1}}, std::vector<NativeSampler>(17)}));
  EXPECT_FALSE(isRead({"twin", std::vector<NativeImage>(33), {}}));
}

TEST(Image, NothingMayFollow) {
  port::Bytes bytes = writeImage(sample());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(readImage(bytes));
}

TEST(Image, NoFlippedBitIsRead) {
  const port::Bytes bytes = writeImage(sample());
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      port::Bytes damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(readImage(damaged)) << "byte " << i << " bit " << bit;
    }
}

TEST(Image, NoRandomDamageIsRead) {
  const port::Bytes bytes = writeImage(sample());
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    port::Bytes damaged = bytes;
    const size_t edits = 1 + random() % 16;
    for (size_t e = 0; e < edits; ++e)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    if (damaged != bytes) {
      EXPECT_FALSE(readImage(damaged)) << round;
    }
  }
}

TEST(Image, NoiseIsNotRead) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    port::Bytes noise(random() % 200);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
    EXPECT_FALSE(readImage(noise));
  }
}

}  // namespace
}  // namespace weft
