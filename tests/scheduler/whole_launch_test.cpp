// Launches of a unified device that one member runs whole: which one.
#include <algorithm>

#include "scheduler/executed_parts.h"
#include "tests/scheduler/stencil_kernel.h"
#include "tests/scheduler/unified_machine.h"

namespace weft::test {
namespace {

constexpr size_t bytes = 1024;

class WholeLaunchTest : public UnifiedMachine {
 protected:
  void start(const char* how = "guided") {
    split = how;
    const auto increment = [](const FakeLaunch& launch) {
      auto* const data = launch.pointer<uint8_t>(0);
      for (size_t i = 0; i < bytes; ++i) ++data[i];
    };
    const auto whole = static_cast<uint32_t>(SplitHazard::fences);  // it cannot be divided
    UnifiedMachine::start(true, {{"increment", {pointerArgument(false, true)}, increment, whole},
                                 stencil<0>("stencil")});
  }
  Ref<Buffer> zeroed() const {
    std::vector<uint8_t> zeros(bytes);
    return buffer(bytes, zeros.data());
  }
  // So long that what the test itself takes does not count.
  void runAll() const { UnifiedMachine::runAll(std::chrono::seconds(1000)); }
  // How long it takes becomes known.
  void measure() {
    const Ref<Buffer> scratch = zeroed();
    launchOn(*queue, "increment", {scratch.get()});
    runAll();
    for (const size_t i : {0, 1}) fakes->device(i).clearLog();
  }
  // One on each of so many buffers, to their end.
  std::vector<Ref<Buffer>> launchApart(Queue& on, size_t count) {
    std::vector<Ref<Buffer>> buffers;
    for (size_t i = 0; i < count; ++i) {
      buffers.push_back(zeroed());
      events.push_back(launchOn(on, "increment", {buffers.back().get()}));
    }
    runAll();
    for (const auto& event : events) EXPECT_EQ(event->status(), CL_COMPLETE);
    return buffers;
  }
  // One of each of two queues, which gives each member one.
  void launchOnEach() {
    for (const size_t q : {0, 1}) {
      queues[q] = newQueue(0);
      data[q] = zeroed();
    }
    for (const size_t q : {0, 1}) launchOn(*queues[q], "increment", {data[q].get()});
    runAll();
  }
  size_t launchesOn(size_t index) const {
    const auto log = fakes->device(index).log();
    return size_t(std::ranges::count(log, FakeRecord::Kind::launch, &FakeRecord::kind));
  }
  std::vector<uint8_t> contents(Buffer& of) const {
    std::vector<uint8_t> read_back(bytes);
    EXPECT_EQ(read(of, read_back), CL_COMPLETE);
    return read_back;
  }

  Ref<Queue> queues[2];
  Ref<Buffer> data[2];
};

TEST_F(WholeLaunchTest, WhatDoesNotDependIsSpread) {
  start();
  measure();
  const auto unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto buffers = launchApart(*unordered, 6);
  EXPECT_EQ(launchesOn(0), 3u);
  EXPECT_EQ(launchesOn(1), 3u);
  for (const auto& one : buffers) EXPECT_EQ(contents(*one), std::vector<uint8_t>(bytes, 1));
}

// One member is so slow at its part that all the others are done first.
TEST_F(WholeLaunchTest, PartsOfDividedLaunchesAreLoad) {
  compute_units = 1;
  start();
  measure();
  const auto always = newQueue(0, SplitPolicy::always);
  std::vector<uint8_t> zeros(stencil_bytes);
  const Ref<Buffer> from = buffer(stencil_bytes, zeros.data());
  const Ref<Buffer> to = buffer(stencil_bytes, zeros.data());
  launchOn(*always, "stencil", {from.get(), to.get()});
  while (pending() > 0)
    for (const size_t i : {0, 1}) {
      FakeDevice& fake = fakes->device(i);
      while (fake.start()) {
      }
      fake.clock().advance(port::Nanoseconds(i == 0 ? 1'000'000'000 : 100'000'000'000'000'000));
      fake.finishAny(0);
    }
  const auto divided = launchOn(*always, "stencil", {from.get(), to.get()});
  for (const size_t i : {0, 1}) fakes->device(i).clearLog();
  const auto unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto buffers = launchApart(*unordered, 6);
  ASSERT_EQ(dynamic_cast<const PartedCommand&>(*divided).executedParts().size(), 2u);
  EXPECT_EQ(launchesOn(0), 1u + 6u);
  EXPECT_EQ(launchesOn(1), 1u);
  for (const auto& one : buffers) EXPECT_EQ(contents(*one), std::vector<uint8_t>(bytes, 1));
}

TEST_F(WholeLaunchTest, AChainStaysWithItsBytes) {
  start();
  measure();
  const Ref<Buffer> data = zeroed();
  for (int i = 0; i < 5; ++i) launch("increment", {data.get()});
  runAll();
  EXPECT_EQ(launchesOn(0), 5u);
  EXPECT_EQ(launchesOn(1), 0u);
  EXPECT_EQ(contents(*data), std::vector<uint8_t>(bytes, 5));
}

TEST_F(WholeLaunchTest, QueuesThatDoNotDependGetAMemberEach) {
  start();
  measure();
  const Ref<Queue> queues[] = {newQueue(0), newQueue(0)};
  const Ref<Buffer> data[] = {zeroed(), zeroed()};
  for (int i = 0; i < 5; ++i)
    for (const size_t q : {0, 1})
      events.push_back(launchOn(*queues[q], "increment", {data[q].get()}));
  // All are submitted: those of one queue behind each other.
  for (const auto& event : events) EXPECT_LE(event->status(), CL_SUBMITTED);
  runAll();
  EXPECT_EQ(launchesOn(0), 5u);
  EXPECT_EQ(launchesOn(1), 5u);
  for (const auto& one : data) EXPECT_EQ(contents(*one), std::vector<uint8_t>(bytes, 5));
}

// Those that wait are no load, least of all for each other.
TEST_F(WholeLaunchTest, AChainThatHadToWaitStaysWithItsBytes) {
  start();
  measure();
  const auto gate = make<UserEvent>(context);
  const Ref<Event> wait = gate;
  const Ref<Buffer> data = zeroed(), other = zeroed();
  events.push_back(launchOn(*queue, "increment", {data.get()}, WaitList(&wait, 1)));
  for (int i = 0; i < 11; ++i) launch("increment", {data.get()});
  const Ref<Queue> free = newQueue(0);
  for (int i = 0; i < 3; ++i) {
    launchOn(*free, "increment", {other.get()});
    runAll();
  }
  EXPECT_EQ(launchesOn(0), 3u);
  gate->setStatus(CL_COMPLETE);
  runAll();
  EXPECT_EQ(launchesOn(0), 15u);
  EXPECT_EQ(launchesOn(1), 0u);
  EXPECT_EQ(contents(*data), std::vector<uint8_t>(bytes, 12));
}

TEST_F(WholeLaunchTest, WhatHadToWaitIsMeasured) {
  start();
  const auto gate = make<UserEvent>(context);
  const Ref<Event> wait = gate;
  const Ref<Buffer> data = zeroed();
  for (int i = 0; i < 20; ++i)
    launchOn(*queue, "increment", {data.get()}, WaitList(&wait, i == 0 ? 1 : 0));
  gate->setStatus(CL_COMPLETE);
  runAll();
  for (const size_t i : {0, 1}) fakes->device(i).clearLog();
  const auto unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  launchApart(*unordered, 6);
  EXPECT_EQ(launchesOn(0), 3u);
  EXPECT_EQ(launchesOn(1), 3u);
}

// Later, nobody being busy.
TEST_F(WholeLaunchTest, BytesThatWentElsewhereAreUsedThere) {
  start();
  measure();
  launchOnEach();
  ASSERT_EQ(launchesOn(1), 1u);
  for (const size_t i : {0, 1}) fakes->device(i).clearLog();
  const auto copy = zeroed();
  const auto again = launchOn(*queues[1], "increment", {data[1].get()});
  const auto copied = enqueueCopy(*queues[1], *data[1], *copy, 0, 0, bytes, {});
  runAll();
  EXPECT_EQ(copied->status(), CL_COMPLETE);
  EXPECT_EQ(launchesOn(0), 0u);
  EXPECT_EQ(launchesOn(1), 1u);
  const auto& parts = dynamic_cast<const PartedCommand&>(*again).executedParts();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].device, device->members()[1].get());
  EXPECT_TRUE(fakes->device(0).log().empty());
  EXPECT_EQ(contents(*copy), std::vector<uint8_t>(bytes, 2));
}

TEST_F(WholeLaunchTest, AQueueThatNeverDividesStaysAtHome) {
  start();
  measure();
  const auto unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, SplitPolicy::never);
  launchApart(*unordered, 4);
  EXPECT_EQ(launchesOn(0), 4u);
  EXPECT_EQ(launchesOn(1), 0u);
}

// A home that cannot have anything wait in its streams does not keep others from it.
TEST_F(WholeLaunchTest, CommandsRunAheadOnAMemberThatCan) {
  home_waits = true;
  start();
  measure();
  launchOnEach();
  ASSERT_EQ(launchesOn(1), 1u);
  for (int i = 0; i < 5; ++i) launchOn(*queues[1], "increment", {data[1].get()});
  EXPECT_EQ(fakes->device(1).pending(), 5u);
  runAll();
  for (int i = 0; i < 5; ++i) launchOn(*queues[0], "increment", {data[0].get()});
  EXPECT_EQ(fakes->device(0).pending(), 1u);
  runAll();
  for (const auto& one : data) EXPECT_EQ(contents(*one), std::vector<uint8_t>(bytes, 6));
}

// Over devices as on one.
TEST_F(WholeLaunchTest, AFailureFailsWhatFollows) {
  start("random:3");
  for (int round = 0; round < 10; ++round) {
    const Ref<Buffer> data = zeroed();
    events.clear();
    for (int i = 0; i < 8; ++i) launch("increment", {data.get()});
    const size_t failing = fakes->device(0).able() > 0 ? 0 : 1;
    // The transfer or the launch that is first.
    ASSERT_TRUE(fakes->device(failing).fail(CL_OUT_OF_RESOURCES));
    runInAnyOrder(uint64_t(round));
    for (const auto& event : events) ASSERT_LT(event->status(), 0);
    std::vector<uint8_t> host(bytes);
    const uint8_t value = 9;
    enqueueFill(*queue, *data, &value, 1, 0, bytes, {});
    ASSERT_EQ(read(*data, host), CL_COMPLETE);
    ASSERT_EQ(host, std::vector<uint8_t>(bytes, 9));
  }
}

class WholeLaunchHomeTest : public WholeLaunchTest, public testing::WithParamInterface<bool> {
 protected:
  WholeLaunchHomeTest() { home_waits = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Homes, WholeLaunchHomeTest, testing::Bool());

TEST_P(WholeLaunchHomeTest, InAnyOrderTheBytesAreRight) {
  start("random:7");
  const Ref<Buffer> data[] = {zeroed(), zeroed(), zeroed()};
  const Ref<Queue> unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  uint8_t value = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Ref<Event> last[3];
    for (int i = 0; i < 6; ++i) {
      for (const auto& one : data) launch("increment", {one.get()});
      ++value;
    }
    enqueueMarker(*queue, {});
    runInAnyOrder(seed);
    for (int i = 0; i < 6; ++i) {
      for (const size_t q : {0, 1, 2}) {
        const WaitList waits(&last[q], last[q] ? size_t(1) : 0);
        last[q] = launchOn(*unordered, "increment", {data[q].get()}, waits);
      }
      ++value;
    }
    runInAnyOrder(seed + 100);
    for (const auto& one : data) ASSERT_EQ(contents(*one), std::vector<uint8_t>(bytes, value));
  }
  EXPECT_EQ(fakes->device(0).violations() + fakes->device(1).violations(), 0u);
}

}  // namespace
}  // namespace weft::test
