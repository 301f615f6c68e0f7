// What only the CPU's executor promises: who runs what, side by side, and how fast.
#include <gtest/gtest.h>

#include <unistd.h>

#include <map>

#include "backends/cpu/backend.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {
namespace {

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() : device(discover()) {}

  static std::shared_ptr<port::Device> discover() {
    std::vector<port::Diagnostic> diagnostics;
    auto devices = cpu::makeBackend()->discover(diagnostics);
    return devices.at(0);
  }

  std::shared_ptr<port::Device> device;
};

TEST_F(ExecutorTest, OneUnitSubDevicesRunSideBySide) {
  const uint32_t counts[] = {1, 1};
  if (device->capabilities().compute_units < 2) GTEST_SKIP() << "one processor only";
  auto parts = device->partition(counts);
  std::vector<std::unique_ptr<port::Stream>> streams;
  std::vector<std::unique_ptr<port::Module>> modules;
  std::vector<std::unique_ptr<port::Memory>> memories;
  std::vector<std::unique_ptr<TestLaunch>> launches;
  std::vector<std::unique_ptr<TestOperation>> operations;
  for (auto& part : parts) {
    EXPECT_EQ(part->capabilities().compute_units, 1u);
    streams.push_back(part->createStream(port::Order::in_order));
    modules.push_back(part->load(testImage(part->target())));
    memories.push_back(part->allocate(64, 64));
    launches.push_back(std::make_unique<TestLaunch>(*modules.back(), kernelIndex("busy"), 4));
    launches.back()->value(25'000'000).memory(memories.back().get());
    operations.push_back(std::make_unique<TestOperation>(launches.back()->whole()));
  }
  for (size_t i = 0; i < parts.size(); ++i) streams[i]->submit(*operations[i]);
  for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  const TestOperation &a = *operations[0], &b = *operations[1];
  const auto took = std::max(a.end, b.end) - std::min(a.start, b.start);
  EXPECT_LT(double(took), 1.6 * double(std::max(a.end - a.start, b.end - b.start)));
  EXPECT_GE(took, 100'000'000u);
}

TEST_F(ExecutorTest, BigLaunchUsesEveryWorker) {
  constexpr uint64_t groups = 1000;
  auto module = device->load(testImage(device->target()));
  auto memory = device->allocate(groups * 8, 64);
  auto stream = device->createStream(port::Order::in_order);
  TestLaunch launch(*module, kernelIndex("who"), groups);
  launch.value(100'000).memory(memory.get());
  TestOperation operation(launch.whole());
  stream->submit(operation);
  ASSERT_TRUE(operation.wait());
  const auto* data = reinterpret_cast<const uint64_t*>(memory->host());
  std::map<uint64_t, int> groups_by_thread;
  for (uint64_t g = 0; g < groups; ++g) ++groups_by_thread[data[g]];
  EXPECT_EQ(groups_by_thread.size(), device->capabilities().compute_units);
  EXPECT_FALSE(groups_by_thread.contains(uint64_t(gettid())));
}

}  // namespace
}  // namespace weft::test
