// In-order queues of devices that are fed ahead: what is submitted before what precedes it has
// ended, what is not, and what becomes of it after a failure.
#include <gtest/gtest.h>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 256;
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

FakeOptions ahead() {
  FakeOptions options;
  options.runs_ahead = true;
  return options;
}

class RunAheadTest : public testing::Test {
 protected:
  Ref<Event> fill(Buffer& target, char value, WaitList waits = {}) {
    return enqueueFill(*queue, target, &value, 1, 0, size, waits);
  }
  Ref<Event> fillAfter(Buffer& target, Ref<Event> dependency) {
    return fill(target, 1, {&dependency, 1});
  }
  // Both buffers' bytes on the device, so that nothing has to move.
  void SetUp() override {
    fill(*x, 1);
    fill(*y, 2);
    fake.finishAll();
    fake.clearLog();
  }

  FakePlatform platform{{ahead(), ahead()}};
  FakeDevice& fake = platform.fake(0);
  Ref<Queue> queue = platform.queue(0);
  Ref<Buffer> x = platform.buffer(size), y = platform.buffer(size);
};

TEST_F(RunAheadTest, DeviceWorkIsSubmittedBehindWhatHasNotEnded) {
  const auto first = fill(*x, 3);
  const auto second = enqueueCopy(*queue, *x, *y, 0, 0, size, {});
  std::vector<char> host(size);
  const auto third = enqueueRead(*queue, *y, 0, size, host.data(), {});
  EXPECT_EQ(fake.pending(), 3u);
  EXPECT_TRUE(fake.finish());
  EXPECT_TRUE(first->done());
  EXPECT_FALSE(second->done());
  fake.finishAll();
  EXPECT_EQ(third->status(), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 3));
}

TEST_F(RunAheadTest, WaitListsOfTheSameQueueDoNotHoldItUp) {
  const auto first = fill(*x, 3);
  const auto second = fillAfter(*y, first);
  EXPECT_EQ(fake.pending(), 2u);
  fake.finishAll();
  EXPECT_EQ(second->status(), CL_COMPLETE);
}

TEST_F(RunAheadTest, NothingBehindAUserEventIsSubmitted) {
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  const auto first = fillAfter(*x, gate);
  const auto second = fillAfter(*y, first);
  const auto third = fill(*x, 5);
  EXPECT_EQ(fake.pending(), 0u);
  gate->setStatus(CL_COMPLETE);
  EXPECT_EQ(fake.pending(), 3u);
  fake.finishAll();
  EXPECT_TRUE(first->done() && second->done() && third->done());
}

TEST_F(RunAheadTest, WhatTheHostDoesWaitsForTheEndOfWhatIsBefore) {
  const auto first = fill(*x, 3);
  const auto marker = enqueueMarker(*queue, {});
  const auto behind = fill(*y, 4);
  EXPECT_EQ(fake.pending(), 1u);
  EXPECT_EQ(marker->status(), CL_QUEUED);
  EXPECT_TRUE(fake.finish());
  EXPECT_EQ(marker->status(), CL_COMPLETE);
  EXPECT_EQ(fake.pending(), 1u);
  fake.finishAll();
  EXPECT_EQ(behind->status(), CL_COMPLETE);
}

TEST_F(RunAheadTest, FailureOverridesWhatWasSubmittedBehindIt) {
  const auto first = fill(*x, 3);
  const auto second = fillAfter(*y, first);
  const auto third = fillAfter(*y, second);
  auto other = platform.buffer(size);
  const auto fourth = fill(*other, 7);
  EXPECT_EQ(fake.pending(), 4u);
  EXPECT_TRUE(fake.fail(CL_OUT_OF_RESOURCES));
  fake.finishAll();
  EXPECT_EQ(first->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(second->status(), dependent);
  EXPECT_EQ(third->status(), dependent);
  EXPECT_EQ(fourth->status(), CL_COMPLETE);
  // What the overridden ones wrote is nobody's.
  std::vector<char> host(size);
  const auto read = enqueueRead(*queue, *y, 0, size, host.data(), {});
  fake.finishAll();
  EXPECT_EQ(read->status(), dependent);
}

TEST_F(RunAheadTest, WhatReadsLostBytesFailsThoughItWasSubmittedBefore) {
  const auto first = fill(*x, 3);
  const auto second = enqueueCopy(*queue, *x, *y, 0, 0, size, {});
  const auto third = fill(*x, 5);
  EXPECT_EQ(fake.pending(), 3u);
  EXPECT_TRUE(fake.fail(CL_OUT_OF_RESOURCES));
  fake.finishAll();
  EXPECT_EQ(second->status(), dependent);
  EXPECT_EQ(third->status(), CL_COMPLETE);
  std::vector<char> host(size);
  const auto read = enqueueRead(*queue, *x, 0, size, host.data(), {});
  fake.finishAll();
  EXPECT_EQ(read->status(), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 5));
}

// A command that never runs must not seem to have ended before what is ahead of it.
TEST_F(RunAheadTest, AFailedWaitListTakesItsTurn) {
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  gate->setStatus(-5);
  const auto first = fill(*x, 3);
  const auto second = fillAfter(*y, gate);
  EXPECT_EQ(second->status(), CL_QUEUED);
  EXPECT_TRUE(fake.finish());
  EXPECT_EQ(first->status(), CL_COMPLETE);
  EXPECT_EQ(second->status(), dependent);
}

TEST_F(RunAheadTest, ALostDeviceEndsEverythingAndTheRestGoesOn) {
  const auto first = fill(*x, 3);
  const auto second = fillAfter(*y, first);
  fake.lose();
  EXPECT_EQ(first->status(), CL_DEVICE_NOT_AVAILABLE);
  EXPECT_LT(second->status(), 0);
  auto other = platform.queue(1);
  auto buffer = platform.buffer(size);
  const char value = 1;
  const auto elsewhere = enqueueFill(*other, *buffer, &value, 1, 0, size, {});
  platform.fake(1).finishAll();
  EXPECT_EQ(elsewhere->status(), CL_COMPLETE);
  const auto late = fill(*buffer, 2);
  fake.finishAll();
  EXPECT_LT(late->status(), 0);
}

TEST_F(RunAheadTest, LongChainsEndWithoutRecursion) {
  constexpr int count = 3'000;  // the fake device looks through all of them for each
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  Ref<Event> last = gate;
  for (int i = 0; i < count; ++i) last = fillAfter(i % 2 ? *x : *y, last);
  gate->setStatus(CL_COMPLETE);
  EXPECT_EQ(fake.pending(), size_t(count));
  EXPECT_TRUE(fake.fail(CL_OUT_OF_RESOURCES));
  fake.finishAll();
  EXPECT_EQ(last->status(), dependent);
}

}  // namespace
}  // namespace weft::test
