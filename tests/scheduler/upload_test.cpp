// First contents that go to a device at once.
#include "scheduler/upload.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = size_t(4) << 20;

FakeOptions automatic() {
  FakeOptions options;
  options.manual = false;
  options.max_delay = std::chrono::microseconds(0);
  options.memory_bytes = 16 * size;
  return options;
}

class UploadTest : public testing::Test {
 protected:
  UploadTest() : contents(size) { std::iota(contents.begin(), contents.end(), 1); }

  Ref<Buffer> toCome(FakePlatform& platform) {
    return make<Buffer>(Ref<Context>(&platform.context()), CL_MEM_COPY_HOST_PTR, size,
                        contents.data(), std::vector<cl_mem_properties>{},
                        MemObject::FirstContents::to_come);
  }
  void expectContents(Queue& queue, Buffer& buffer) const {
    std::vector<uint8_t> read(size);
    EXPECT_EQ(enqueueRead(queue, buffer, 0, size, read.data(), {})->wait(), CL_COMPLETE);
    EXPECT_EQ(read, contents);
  }

  std::vector<uint8_t> contents;
};

TEST_F(UploadTest, NothingMovesWhereTheyAre) {
  FakePlatform platform({automatic(), automatic()});
  Device* const device = deviceForContents(platform.context(), size);
  ASSERT_EQ(device, &platform.device(0));
  const auto buffer = toCome(platform);
  ASSERT_TRUE(upload(*buffer, contents.data(), *device));
  const auto queue = platform.queue(0);
  expectContents(*queue, *buffer);
  EXPECT_EQ(statistics(platform.context(), platform.device(0)).bytes_in, 0u);
}

TEST_F(UploadTest, OtherDevicesFetchThem) {
  FakePlatform platform({automatic(), automatic()});
  const auto buffer = toCome(platform);
  ASSERT_TRUE(upload(*buffer, contents.data(), platform.device(0)));
  const auto program =
      platform.program({{"look", {pointerArgument(true, false)}, [](const FakeLaunch& launch) {
                           EXPECT_EQ(launch.pointer<const uint8_t>(0)[0], 1);
                           EXPECT_EQ(launch.pointer<const uint8_t>(0)[size - 1], uint8_t(size));
                         }}});
  const auto kernel = make<Kernel>(program, "look");
  const cl_mem handle = buffer->handle();
  kernel->setArgument(0, sizeof handle, &handle);
  const size_t global = 1;
  NDRange range;
  range.global = &global;
  const auto queue = platform.queue(1);
  EXPECT_EQ(enqueueLaunch(*queue, *kernel, range, {})->wait(), CL_COMPLETE);
  EXPECT_EQ(statistics(platform.context(), platform.device(1)).bytes_in, size);
}

TEST_F(UploadTest, SmallOnesAndFullDevicesAreLeftAlone) {
  FakeOptions full = automatic();
  full.memory_bytes = size;
  FakePlatform platform({full});
  EXPECT_EQ(deviceForContents(platform.context(), size), nullptr);
  EXPECT_EQ(deviceForContents(platform.context(), 4096), nullptr);
  EXPECT_NE(deviceForContents(platform.context(), size / 2), nullptr);
}

TEST_F(UploadTest, AFailureIsTold) {
  FakeOptions manual = automatic();
  manual.manual = true;
  FakePlatform platform({manual});
  const auto buffer = toCome(platform);
  std::thread device([&] {
    while (!platform.fake(0).fail(CL_OUT_OF_RESOURCES)) std::this_thread::yield();
  });
  EXPECT_FALSE(upload(*buffer, contents.data(), platform.device(0)));
  device.join();
}

}  // namespace
}  // namespace weft::test
