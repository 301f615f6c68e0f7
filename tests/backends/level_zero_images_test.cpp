// Images of the device's own: when streams copy them, one after the other and at once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include <CL/cl.h>

#include "backends/level_zero/images.h"
#include "backends/level_zero/memory.h"
#include "core/error.h"
#include "core/ports/launch.h"
#include "tests/support/software_gpus.h"

namespace weft::test {
namespace {

using namespace weft::level_zero;

TEST(LevelZeroImageCopies, AStreamKnowsWhatWasWrittenUnlessAnotherMayBeWriting) {
  ImageCopies copies;
  const int one = 1, other = 2;
  const uint64_t first = copies.versionFor(&one);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(copies.versionFor(&other), first);
  copies.writeBegins(&one);
  const uint64_t second = copies.versionFor(&one);
  EXPECT_NE(second, 0u);
  EXPECT_NE(second, first);
  EXPECT_EQ(copies.versionFor(&other), 0u);
  copies.writeBegins(&one);
  copies.writeEnded(&one);
  EXPECT_EQ(copies.versionFor(&other), 0u);
  copies.writeEnded(&one);
  EXPECT_EQ(copies.versionFor(&other), copies.versionFor(&one));
  EXPECT_NE(copies.versionFor(&one), second);
  copies.writeBegins(&other);
  EXPECT_EQ(copies.versionFor(&one), 0u);
  copies.writeEnded(&other);
}

class LevelZeroImages : public testing::Test {
 protected:
  static constexpr uint32_t width = 16, height = 8;

  void SetUp() override {
    std::vector<port::Diagnostic> lines;
    const Api* const api = openLoader(WEFT_SOFTWARE_LEVEL_ZERO, lines);
    ASSERT_NE(api, nullptr);
    uint32_t count = 1;
    ze_driver_handle_t handle = nullptr;
    ze_device_handle_t device = nullptr;
    ASSERT_EQ(api->driverGet(&count, &handle), ZE_RESULT_SUCCESS);
    count = 1;
    ASSERT_EQ(api->deviceGet(handle, &count, &device), ZE_RESULT_SUCCESS);
    setenv("WEFT_NATIVE_IMAGES", "1", 1);
    const auto driver =
        std::make_shared<Driver>(*api, handle, ZE_MAKE_VERSION(1, 3), false, nullptr);
    unsetenv("WEFT_NATIVE_IMAGES");
    context = std::make_shared<DeviceContext>(driver, device, device);
    context->image_limits.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
    ASSERT_EQ(api->deviceGetImageProperties(device, &context->image_limits), ZE_RESULT_SUCCESS);
    context->most_images = 1 << 20;
    memory = allocateDevice(context, size_t{width} * height * sizeof(float), 128);
    image.width = width;
    image.height = height;
    image.row_pitch = width * sizeof(float);
    image.slice_pitch = image.row_pitch * height;
    image.type = CL_MEM_OBJECT_IMAGE2D;
    image.channel_order = CL_R;
    image.channel_type = CL_FLOAT;
    image.pixel_bytes = sizeof(float);
    wanted.images = {{0, 1}};
    wanted.samplers = {{false, port::sampler_normalized | port::sampler_filter_linear}};
  }
  void TearDown() override {
    memory.reset();
    EXPECT_EQ(context ? context->images_used.load() : 0u, 0u);
  }

  // On a list that nobody else has.
  struct OneStream {
    explicit OneStream(const std::shared_ptr<DeviceContext>& shared)
        : context(shared), images(shared) {
      ze_command_queue_desc_t description{};
      description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
      description.flags = 1u << 1;  // ZE_COMMAND_QUEUE_FLAG_IN_ORDER, of version 1.7
      description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
      EXPECT_EQ(context->api.commandListCreateImmediate(context->driver->context, context->device,
                                                        &description, &list),
                ZE_RESULT_SUCCESS);
    }
    ~OneStream() { context->api.commandListDestroy(list); }
    const std::shared_ptr<DeviceContext> context;
    StreamImages images;
    ze_command_list_handle_t list = nullptr;
  };
  // Was anything copied? nullopt: software has to do.
  std::optional<bool> binds(OneStream& stream) const {
    port::LaunchArgument argument;
    argument.kind = ArgumentKind::image;
    argument.value = &image;
    argument.memory = memory.get();
    port::Launch launch;
    launch.arguments = {&argument, 1};
    NativeArguments arguments;
    bool copied = false;
    if (!stream.images.bind(stream.list, launch, wanted, arguments, copied)) return std::nullopt;
    EXPECT_EQ(arguments.images.size(), 1u);
    EXPECT_EQ(arguments.samplers.size(), 1u);
    return copied;
  }
  port::Operation::Work fill() const {
    port::Fill work;
    work.memory = memory.get();
    work.size = memory->size();
    return work;
  }

  std::shared_ptr<DeviceContext> context;
  std::unique_ptr<port::Memory> memory;
  port::ImageDescriptor image;
  NativeImages wanted;
};

// Of software's images: launches would fail without.
TEST_F(LevelZeroImages, AFullDeviceHasDescriptorsOnTheHost) {
  std::vector<std::unique_ptr<port::Memory>> all;
  for (size_t bytes = size_t{1} << 30; bytes >= 4096; bytes /= 2) try {
      for (;;) all.push_back(allocateDevice(context, bytes, 128));
    } catch (const weft::Error&) {  // there is not so much left
    }
  std::byte* const place = context->images.take();
  EXPECT_NE(place, nullptr);
  context->images.give(place);
}

TEST_F(LevelZeroImages, EachStreamCopiesOnce) {
  OneStream one(context);
  {
    OneStream other(context);
    EXPECT_EQ(binds(one), true);
    EXPECT_EQ(binds(one), false);
    EXPECT_EQ(binds(other), true);
    EXPECT_EQ(binds(other), false);
    EXPECT_EQ(context->images_used, 2 * memory->size());
  }
  EXPECT_EQ(context->images_used, memory->size());
  EXPECT_EQ(binds(one), false);
}

TEST_F(LevelZeroImages, WritesMakeCopiesStale) {
  OneStream one(context), other(context);
  EXPECT_EQ(binds(one), true);
  noteWritesBegin(fill(), &one.images);
  EXPECT_EQ(binds(one), true);
  EXPECT_EQ(binds(one), false);
  EXPECT_EQ(binds(other), true);  // and who knows of what
  EXPECT_EQ(binds(other), true);
  noteWritesEnd(fill(), &one.images);
  EXPECT_EQ(binds(one), false);
  EXPECT_EQ(binds(other), true);
  EXPECT_EQ(binds(other), false);
}

TEST_F(LevelZeroImages, WhatIsNotAWholeAllocationWithoutGapsStaysInSoftware) {
  OneStream one(context);
  const port::ImageDescriptor whole = image;
  image.height = height - 1;
  EXPECT_EQ(binds(one), std::nullopt);
  image = whole;
  image.width = width - 1;
  EXPECT_EQ(binds(one), std::nullopt);
  image = whole;
  image.levels = 2;
  EXPECT_EQ(binds(one), std::nullopt);
  image = whole;
  context->most_images = memory->size() - 1;
  EXPECT_EQ(binds(one), std::nullopt);
  EXPECT_EQ(context->images_used, 0u);
}

TEST_F(LevelZeroImages, StreamsMayComeAndGoWhileOthersWrite) {
  constexpr int rounds = 100;
  const auto reads = [&] {
    for (int i = 0; i < rounds; ++i) {
      OneStream stream(context);
      for (int each = 0; each < 3; ++each) EXPECT_TRUE(binds(stream).has_value());
    }
  };
  std::thread first(reads), second(reads);
  OneStream writer(context);
  for (int i = 0; i < rounds; ++i) {
    noteWritesBegin(fill(), &writer.images);
    EXPECT_TRUE(binds(writer).has_value());
    noteWritesEnd(fill(), &writer.images);
  }
  first.join();
  second.join();
  EXPECT_EQ(binds(writer), false);
}

}  // namespace
}  // namespace weft::test
