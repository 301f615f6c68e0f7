#include "core/program_objects.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"
#include "core/reaper.h"
#include "tests/core/doubles.h"

namespace weft {
namespace {

class ProgramObjects : public ::testing::Test {
 protected:
  static Image imageWith(std::vector<std::string> hidden) {
    Image image;
    image.kernels.emplace_back().name = "k";
    for (std::string& name : hidden) {
      KernelInfo& kernel = image.kernels.emplace_back();
      kernel.name = std::move(name);
      kernel.is_block = true;
    }
    return image;
  }
  std::shared_ptr<port::Module> loaded(const Image& image) {
    const Device& first = *machine.platform().devices().front();
    return withObjects(first, image, first.port().load(image));
  }

  test::Machine machine;
  test::DoubleDevice& device = machine.device(0);
};

TEST_F(ProgramObjects, AreConstructedAndDestroyed) {
  auto module = loaded(imageWith({port::construct_objects_symbol, port::destroy_objects_symbol}));
  EXPECT_EQ(device.launched(), std::vector<uint32_t>{1});
  module.reset();
  EXPECT_EQ(device.launched(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(device.modules, 0);
}

TEST_F(ProgramObjects, MayHaveOneOfBoth) {
  loaded(imageWith({port::construct_objects_symbol})).reset();
  EXPECT_EQ(device.launched(), std::vector<uint32_t>{1});
  loaded(imageWith({"weft_other", port::destroy_objects_symbol})).reset();
  EXPECT_EQ(device.launched(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(device.modules, 0);
}

TEST_F(ProgramObjects, KernelsOfTheProgramAreNone) {
  Image image = imageWith({port::construct_objects_symbol, port::destroy_objects_symbol});
  for (KernelInfo& kernel : image.kernels) kernel.is_block = false;
  loaded(image).reset();
  EXPECT_EQ(device.launched(), std::vector<uint32_t>{});
}

TEST_F(ProgramObjects, FailureUnloadsTheModule) {
  device.launch_status = CL_OUT_OF_RESOURCES;
  const Image image = imageWith({port::construct_objects_symbol, port::destroy_objects_symbol});
  EXPECT_EQ(test::codeOf([&] { loaded(image); }), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(device.launched(), std::vector<uint32_t>{1}) << "what was not constructed";
  EXPECT_EQ(device.modules, 0);
}

// A device's thread, which finishes what the destructors wait for, must not wait for them.
TEST_F(ProgramObjects, AreNotDestroyedByThreadsOfTheRuntime) {
  auto module = loaded(imageWith({port::destroy_objects_symbol}));
  device.hold();
  {
    const RuntimeScope scope;
    module.reset();
  }
  EXPECT_EQ(device.modules, 1);
  device.letGo();
  while (device.modules != 0) std::this_thread::yield();
  EXPECT_EQ(device.launched(), std::vector<uint32_t>{1});
}

}  // namespace
}  // namespace weft
