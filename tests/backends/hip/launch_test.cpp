// Modules and launches.
#include <cstddef>

#include "backends/common/grid.h"
#include "core/error.h"
#include "core/ports/native_images.h"
#include "tests/backends/hip/hip_test.h"
#include "tests/support/test_image.h"

namespace weft::test {
namespace {

using LaunchTest = HipTest;

TEST_P(LaunchTest, ArgumentsArrive) {
  constexpr size_t n = 100'000;
  std::vector<float> x(n), y(n);
  for (size_t i = 0; i < n; ++i) x[i] = float(i), y[i] = float(n - i);
  const auto mx = device->allocate(n * 4, 8), my = device->allocate(n * 4, 8);
  write(*mx, x.data(), n * 4);
  write(*my, y.data(), n * 4);
  GpuLaunchCase launch(*module, "axpy", {n, 1, 1}, {256, 1, 1});
  run(*stream, launch.memory(my.get()).memory(mx.get()).value(2.0f).value(uint64_t(n)).whole());
  const auto result = contents<float>(*my, n);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 2.0f * x[i] + y[i]) << i;
}

TEST_P(LaunchTest, OffsetsOfMemoryAndRange) {
  const auto memory = device->allocate(4096, 8);
  const std::vector<uint32_t> zeros(1024);
  write(*memory, zeros.data(), 4096);
  run(*stream, GpuLaunchCase(*module, "add_one", {128, 1, 1}, {32, 1, 1}, {100, 0, 0})
                   .memory(memory.get(), 400)
                   .whole());
  const auto result = contents<uint32_t>(*memory, 1024);
  for (size_t i = 0; i < 1024; ++i) ASSERT_EQ(result[i], i >= 200 && i < 328 ? 1u : 0u) << i;
}

// Each work-item once, in a block of its group's size, whatever the slices and ragged edges.
TEST_P(LaunchTest, SlicesAndRaggedEdgesCoverTheRange) {
  const std::array<uint64_t, 3> global{37, 13, 5}, local{8, 4, 2};
  const size_t n = 37 * 13 * 5;
  const auto count = device->allocate(n * 4, 8), block = device->allocate(n * 4, 8);
  const std::vector<uint32_t> zeros(n);
  write(*count, zeros.data(), n * 4);
  GpuLaunchCase launch(*module, "cover", global, local, {3, 2, 1});
  launch.memory(count.get()).memory(block.get());
  // 5 x 4 x 3 groups, in two slices cut along y.
  run(*stream, launch.slice({{0, 0, 0}, {5, 1, 3}}));
  run(*stream, launch.slice({{0, 1, 0}, {5, 4, 3}}));
  EXPECT_EQ(contents<uint32_t>(*count, n), std::vector<uint32_t>(n, 1));
  const auto blocks = contents<uint32_t>(*block, n);
  for (size_t i = 0; i < n; ++i) {
    const size_t x = i % 37, y = i / 37 % 13, z = i / 37 / 13;
    const size_t expected = (x < 32 ? 8 : 5) + 1000 * (y < 12 ? 4 : 1) + 1000000 * (z < 4 ? 2 : 1);
    ASSERT_EQ(blocks[i], expected) << x << ' ' << y << ' ' << z;
  }
}

TEST_P(LaunchTest, LocalArgumentsAreOffsetsIntoDynamicMemory) {
  constexpr size_t groups = 7, n = 60;
  const auto out = device->allocate(groups * n * 8, 8), offsets = device->allocate(16, 8);
  GpuLaunchCase launch(*module, "reverse", {groups * n, 1, 1}, {n, 1, 1});
  run(*stream, launch.memory(out.get()).memory(offsets.get()).local(n * 4).local(n * 8).whole());
  const auto result = contents<uint64_t>(*out, groups * n);
  for (size_t i = 0; i < result.size(); ++i) {
    const uint64_t t = n - 1 - i % n;
    ASSERT_EQ(result[i], t + 10000 * (1000 + t)) << i;
  }
  EXPECT_EQ(contents<uint64_t>(*offsets, 2), (std::vector<uint64_t>{0, 240}));
}

TEST_P(LaunchTest, LocalMemoryUpToTheDevicesLimit) {
  const auto out = device->allocate(64 * 8, 8), offsets = device->allocate(16, 8);
  // The kernel itself has 128 bytes.
  const size_t bytes = device->capabilities().local_memory_bytes - 128 - 64 * 8;
  GpuLaunchCase launch(*module, "reverse", {64, 1, 1}, {64, 1, 1});
  run(*stream, launch.memory(out.get()).memory(offsets.get()).local(bytes).local(64 * 8).whole());
  EXPECT_EQ(contents<uint64_t>(*out, 64)[0], 63u + 10000 * 1063);
}

TEST_P(LaunchTest, BadImagesAreErrorsWithALog) {
  Image image = gpuImage(device->target());
  const char text[] = ".version 7.0\nnonsense";
  image.payload.assign(reinterpret_cast<const std::byte*>(text),
                       reinterpret_cast<const std::byte*>(text) + sizeof text);
  try {
    device->load(image);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CL_INVALID_BINARY);
    EXPECT_NE(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
  image = gpuImage(device->target());
  image.kernels.back().symbol = "absent";
  EXPECT_THROW(device->load(image), Error);
  image = gpuImage({port::TargetKind::nvptx, "sm_10", ""});
  EXPECT_THROW(device->load(image), Error);
}

// Twins that the device has no use for need not be there.
TEST_P(LaunchTest, ImagesAreTakenWithTwinsAndWithout) {
  Image image = gpuImage(port::withoutNativeImages(device->target()));
  EXPECT_NE(device->load(image), nullptr);
  const bool uses_twins = image.target != device->target();
  port::addFeature(image.target.features, port::native_images_feature);
  KernelInfo& kernel = image.kernels.back();
  kernel.native.symbol = uses_twins ? kernel.symbol : "absent";
  EXPECT_NE(device->load(image), nullptr);
}

// Kernels written by hand declare the launch, too, and GPUs that would notice are rare. Both
// images' kernels are of tests/support/nvptx_launch.h.
TEST(TestKernels, DeclareTheLaunchAsItIs) {
  const port::Target target{port::TargetKind::nvptx, "sm_90", ""};
  const std::string declared =
      ".align 8 .b8 add_one_param_1[" + std::to_string(offsetof(port::GpuLaunch, journal)) + "]";
  for (const Image& image : {gpuImage(target), testImage(target)}) {
    const std::string text(reinterpret_cast<const char*>(image.payload.data()),
                           image.payload.size());
    EXPECT_NE(text.find(declared), std::string::npos) << declared;
  }
}

TEST(Grid, CoversABoxOnceWithinTheLimits) {
  port::LaunchRecord record;
  const uint64_t global[3] = {103, 7, 64}, local[3] = {10, 7, 3};
  for (int d = 0; d < 3; ++d) {
    record.global_size[d] = global[d];
    record.local_size[d] = local[d];
    record.group_count[d] = (global[d] + local[d] - 1) / local[d];
  }
  const port::GroupBox box{{1, 0, 2}, {11, 1, 22}};
  std::vector<int> seen(11 * 1 * 22);
  const int result = forEachGrid(record, box, {4, 100, 7}, [&](const Grid& grid) {
    EXPECT_LE(grid.box.end[0] - grid.box.begin[0], 4u);
    EXPECT_LE(grid.box.end[2] - grid.box.begin[2], 7u);
    for (uint64_t z = grid.box.begin[2]; z < grid.box.end[2]; ++z)
      for (uint64_t x = grid.box.begin[0]; x < grid.box.end[0]; ++x) {
        seen[x + 11 * z] += 1;
        EXPECT_EQ(grid.block[0], x == 10 ? 3u : 10u);
        EXPECT_EQ(grid.block[1], 7u);
        EXPECT_EQ(grid.block[2], z == 21 ? 1u : 3u);
      }
    return 0;
  });
  EXPECT_EQ(result, 0);
  for (uint64_t z = 0; z < 22; ++z)
    for (uint64_t x = 0; x < 11; ++x) EXPECT_EQ(seen[x + 11 * z], x >= 1 && z >= 2 ? 1 : 0);
  EXPECT_EQ(forEachGrid(record, box, {4, 100, 7}, [](const Grid&) { return 5; }), 5);
}

INSTANTIATE_TEST_SUITE_P(Hip, LaunchTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
