// The software device itself: what tests of other parts rely on.
#include "tests/support/fake_device.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {
namespace {

FakeOptions manual(const char* name = "fake") {
  FakeOptions options;
  options.name = name;
  return options;
}

// An image of registered kernels only.
Image registeredImage(const char* kernel) {
  Image image;
  KernelInfo info;
  info.name = info.symbol = kernel;
  image.kernels.push_back(info);
  return image;
}

TEST(FakeDevice, OperationsWaitForTheTest) {
  FakeDevice device(manual());
  auto queue = device.createStream(port::Order::in_order);
  TestOperation a(std::monostate{}), b(std::monostate{});
  queue->submit(a);
  queue->submit(b);
  EXPECT_EQ(device.pending(), 2u);
  EXPECT_FALSE(device.finishOperation(b));  // behind the other
  device.clock().advance(50);
  EXPECT_TRUE(device.start());
  EXPECT_FALSE(device.start());  // the second has to wait
  EXPECT_EQ(a.starts, 1);
  EXPECT_FALSE(a.isFinished());
  device.clock().advance(100);
  EXPECT_TRUE(device.finish());
  EXPECT_TRUE(a.isFinished());
  EXPECT_EQ(a.starts, 1);
  EXPECT_EQ(a.end - a.start, 100u);
  EXPECT_FALSE(b.isFinished());
  EXPECT_TRUE(device.fail(CL_OUT_OF_RESOURCES));
  EXPECT_EQ(b.status, CL_OUT_OF_RESOURCES);
  EXPECT_FALSE(device.finish());
}

TEST(FakeDevice, UnorderedOperationsFinishInAnyOrder) {
  FakeDevice device(manual());
  auto queue = device.createStream(port::Order::unordered);
  TestOperation a(std::monostate{}), b(std::monostate{});
  queue->submit(a);
  queue->submit(b);
  EXPECT_TRUE(device.finishOperation(b));
  EXPECT_FALSE(a.isFinished());
  EXPECT_EQ(device.finishAll(), 1u);
}

TEST(FakeDevice, RunsRegisteredKernelsOnItsOwnMemory) {
  FakeDevice device(manual());
  device.registerKernel("twice", [](const FakeLaunch& launch) {
    for (uint64_t g = launch.slice.begin[0]; g < launch.slice.end[0]; ++g)
      launch.pointer<uint32_t>(0)[g] *= launch.value<uint32_t>(1);
  });
  EXPECT_THROW(device.load(registeredImage("unknown")), Error);
  auto module = device.load(registeredImage("twice"));
  auto memory = device.allocate(16, 128);
  EXPECT_EQ(memory->host(), nullptr);
  EXPECT_EQ(device.allocatedBytes(), 16u);
  auto queue = device.createStream(port::Order::in_order);
  uint32_t values[4] = {1, 2, 3, 4};
  TestLaunch launch(*module, 0, 4);
  launch.memory(memory.get()).value(2);
  TestOperation in(copyToDevice(values, *memory, 16)), run(launch.whole());
  TestOperation out(copyToHost(*memory, values, 16));
  for (TestOperation* operation : {&in, &run, &out}) queue->submit(*operation);
  EXPECT_EQ(device.finishAll(), 3u);
  EXPECT_EQ(values[3], 8u);
  const auto log = device.log();
  ASSERT_EQ(log.size(), 3u);
  EXPECT_EQ(log[0].to, device.capabilities().memory_space);
  EXPECT_EQ(log[1].kernel, "twice");
  EXPECT_EQ(log[2].bytes, 16u);
  EXPECT_EQ(device.violations(), 0u);
}

TEST(FakeDevice, MistakesAreViolations) {
  FakeDevice device(manual()), other(manual("other"));
  device.registerKernel("nothing", [](const FakeLaunch&) {});
  auto module = device.load(registeredImage("nothing"));
  auto own = device.allocate(16, 128), foreign = other.allocate(16, 128);
  auto queue = device.createStream(port::Order::in_order);
  port::Copy copy = copyToHost(*foreign, nullptr, 16);
  copy.destination = {};
  copy.destination.memory = own.get();
  TestLaunch launch(*module, 0, 1);
  launch.memory(foreign.get());
  TestOperation a(copy), b(launch.whole());
  queue->submit(a);
  queue->submit(b);
  device.finishAll();
  EXPECT_EQ(a.status, CL_INVALID_OPERATION);
  EXPECT_EQ(b.status, CL_INVALID_OPERATION);
  EXPECT_EQ(device.violations(), 2u);
}

TEST(FakeDevice, ReachIsConfigurable) {
  FakeOptions options = manual();
  options.reaches_peers = true;
  options.reaches_host = false;
  FakeDevice peer(options), plain(manual());
  const auto space = plain.capabilities().memory_space;
  EXPECT_TRUE(peer.reaches(space));
  EXPECT_FALSE(peer.reaches(port::host_space));
  EXPECT_FALSE(plain.reaches(peer.capabilities().memory_space));
  EXPECT_TRUE(plain.reaches(port::host_space));
}

TEST(FakeDevice, FailsWhenTold) {
  FakeDevice device(manual());
  device.failAllocations(1);
  EXPECT_THROW(device.allocate(16, 128), Error);
  EXPECT_NE(device.allocate(16, 128), nullptr);
  device.failLoads(1);
  const Image image = testImage(device.target());
  EXPECT_THROW(device.load(image), Error);
  EXPECT_NE(device.load(image), nullptr);
}

TEST(FakeDevice, LosesEverythingWhenLost) {
  FakeDevice device(manual());
  auto queue = device.createStream(port::Order::in_order);
  TestOperation a(std::monostate{}), b(std::monostate{});
  queue->submit(a);
  device.lose();
  EXPECT_EQ(a.status, CL_DEVICE_NOT_AVAILABLE);
  queue->submit(b);
  device.finishAll();
  EXPECT_EQ(b.status, CL_DEVICE_NOT_AVAILABLE);
  EXPECT_THROW(device.allocate(16, 128), Error);
  EXPECT_THROW(device.load(testImage(device.target())), Error);
}

TEST(FakeDevice, AutomaticFailuresAreCounted) {
  FakeOptions options = manual();
  options.manual = false;
  FakeDevice device(options);
  auto queue = device.createStream(port::Order::in_order);
  device.failOperations(1, CL_OUT_OF_RESOURCES);
  TestOperation a(std::monostate{}), b(std::monostate{});
  queue->submit(a);
  queue->submit(b);
  ASSERT_TRUE(a.wait() && b.wait());
  EXPECT_EQ(a.status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(b.status, 0);
}

}  // namespace
}  // namespace weft::test
