// The order of commands: specification 5.13, and what is submitted when.
#include <gtest/gtest.h>

#include "core/reaper.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

class QueueTest : public testing::Test {
 protected:
  // Enough work for an operation on the device.
  Ref<Event> fill(Queue& queue, WaitList waits = {}) {
    const char pattern = 1;
    return enqueueFill(queue, *buffer, &pattern, 1, 0, 64, waits);
  }
  Ref<Event> fillAfter(Queue& queue, Ref<Event> dependency) {
    return fill(queue, {&dependency, 1});
  }

  FakePlatform platform{{FakeOptions{}}};
  FakeDevice& fake = platform.fake(0);
  Ref<Buffer> buffer = platform.buffer(64);
  Ref<Queue> in_order = platform.queue(0);
  Ref<Queue> out_of_order = platform.queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
};

TEST_F(QueueTest, InOrderRunsOneAfterTheOther) {
  const auto first = fill(*in_order), second = fill(*in_order);
  EXPECT_EQ(fake.pending(), 1u);
  EXPECT_EQ(first->status(), CL_SUBMITTED);
  EXPECT_EQ(second->status(), CL_QUEUED);
  EXPECT_TRUE(fake.start());
  EXPECT_EQ(first->status(), CL_RUNNING);
  EXPECT_TRUE(fake.finish());
  EXPECT_EQ(first->status(), CL_COMPLETE);
  EXPECT_EQ(fake.pending(), 1u);
  EXPECT_TRUE(fake.finish());
  EXPECT_EQ(second->status(), CL_COMPLETE);
}

TEST_F(QueueTest, OutOfOrderSubmitsEverythingAtOnce) {
  const auto first = fill(*out_of_order), second = fill(*out_of_order);
  EXPECT_EQ(fake.pending(), 2u);
  fake.finishAll();
  EXPECT_TRUE(first->done() && second->done());
}

TEST_F(QueueTest, OutOfOrderKeepsToWaitLists) {
  const auto first = fill(*out_of_order);
  const auto second = fillAfter(*out_of_order, first);
  EXPECT_EQ(fake.pending(), 1u);
  fake.finish();
  EXPECT_TRUE(first->done());
  EXPECT_EQ(fake.pending(), 1u);
  fake.finish();
  EXPECT_TRUE(second->done());
}

TEST_F(QueueTest, TimeThatADeviceIsBusyCountsOnce) {
  constexpr uint64_t second = 1'000'000'000;
  const auto busy = [&] { return statistics(platform.context(), platform.device(0)).busy_ns; };
  for (const uint64_t before : {uint64_t{0}, 2 * second}) {
    for (int i = 0; i < 4; ++i) fill(*out_of_order);
    while (fake.start()) {
    }
    EXPECT_EQ(busy(), before);
    for (const uint64_t seconds : {1, 2}) {
      fake.clock().advance(second);
      for (int i = 0; i < 2; ++i) fake.finish();
      EXPECT_EQ(busy(), before + seconds * second);
    }
    fake.clock().advance(second);  // with nothing to do
  }
  EXPECT_EQ(statistics(platform.context(), platform.device(0)).commands, 8u);
}

// A device's own times cost it more than a small kernel.
TEST_F(QueueTest, TimesAreTakenWhereAnEventCanTellThem) {
  const auto timed = platform.queue(0, CL_QUEUE_PROFILING_ENABLE);
  WaitList without_event;
  without_event.event_wanted = false;
  fill(*timed, without_event);
  fill(*timed);
  fill(*in_order);
  fake.finishAll();
  ASSERT_EQ(fake.log().size(), 3u);
  int count = 0;
  for (const FakeRecord& record : fake.log()) count += record.timed;
  EXPECT_EQ(count, 1);
}

TEST_F(QueueTest, MarkerWaitsForAllBeforeItAndHoldsUpNothing) {
  const auto before = fill(*out_of_order);
  const auto marker = enqueueMarker(*out_of_order, {});
  const auto after = fill(*out_of_order);
  EXPECT_EQ(fake.pending(), 2u);
  EXPECT_FALSE(marker->done());
  fake.finish();
  EXPECT_TRUE(before->done());
  EXPECT_TRUE(marker->done());
  EXPECT_FALSE(after->done());
  fake.finishAll();
}

TEST_F(QueueTest, SecondMarkerWaitsForWhatTheFirstOneDoes) {
  const auto before = fill(*out_of_order);
  const auto first = enqueueMarker(*out_of_order, {});
  const auto second = enqueueMarker(*out_of_order, {});
  EXPECT_FALSE(second->done());
  fake.finish();
  EXPECT_TRUE(first->done() && second->done());
}

TEST_F(QueueTest, BarrierHoldsUpWhatComesAfter) {
  const auto before = fill(*out_of_order);
  const auto barrier = enqueueBarrier(*out_of_order, {});
  const auto after = fill(*out_of_order);
  EXPECT_EQ(fake.pending(), 1u);
  fake.finish();
  EXPECT_TRUE(barrier->done());
  EXPECT_EQ(fake.pending(), 1u);
  fake.finish();
  EXPECT_TRUE(after->done());
}

TEST_F(QueueTest, BarrierWithWaitListWaitsForThatAlone) {
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  const auto before = fill(*out_of_order);
  const Ref<Event> list[] = {gate};
  const auto barrier = enqueueBarrier(*out_of_order, list);
  const auto after = fill(*out_of_order);
  EXPECT_EQ(fake.pending(), 1u);
  gate->setStatus(CL_COMPLETE);
  EXPECT_TRUE(barrier->done());
  EXPECT_FALSE(before->done());
  EXPECT_EQ(fake.pending(), 2u);
  fake.finishAll();
  EXPECT_TRUE(after->done());
}

TEST_F(QueueTest, UserEventHoldsUpOnlyItsWaiters) {
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  const auto held = fillAfter(*out_of_order, gate);
  const auto free = fill(*out_of_order);
  EXPECT_EQ(fake.pending(), 1u);
  fake.finish();
  EXPECT_TRUE(free->done());
  EXPECT_FALSE(held->done());
  gate->setStatus(CL_COMPLETE);
  fake.finishAll();
  EXPECT_TRUE(held->done());
}

TEST_F(QueueTest, FailureEndsDependentsButNotTheQueue) {
  const auto bad = fill(*in_order);
  const auto behind = fill(*in_order);
  const auto dependent = fillAfter(*out_of_order, bad);
  fake.fail(CL_OUT_OF_RESOURCES);
  EXPECT_EQ(bad->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(dependent->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  fake.finishAll();
  EXPECT_EQ(behind->status(), CL_COMPLETE);
}

TEST_F(QueueTest, FailedAllocationFailsTheCommand) {
  fake.failAllocations(1);
  const auto event = fill(*in_order);
  EXPECT_EQ(event->status(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

TEST_F(QueueTest, LostDeviceLosesItsCommandsAndNothingHangs) {
  const auto first = fill(*in_order), second = fill(*in_order), third = fill(*out_of_order);
  fake.lose();
  in_order->finish();
  out_of_order->finish();
  EXPECT_LT(first->status(), 0);
  EXPECT_LT(second->status(), 0);
  EXPECT_LT(third->status(), 0);
}

// But not on a thread that a driver may have lent, nor of what is known.
TEST_F(QueueTest, WhoAsksForAStatusPolls) {
  const auto event = fill(*in_order);
  EXPECT_EQ(event->poll(), CL_SUBMITTED);
  EXPECT_EQ(fake.polls(), 1u);
  {
    const RuntimeScope scope;
    EXPECT_EQ(event->poll(), CL_SUBMITTED);
  }
  fake.finishAll();
  EXPECT_EQ(event->poll(), CL_COMPLETE);
  EXPECT_EQ(fake.polls(), 1u);
}

TEST_F(QueueTest, FinishWaitsForEverything) {
  std::vector<Ref<Event>> events;
  for (int i = 0; i < 10; ++i) events.push_back(fill(i % 2 ? *in_order : *out_of_order));
  std::thread device([&] {
    while (fake.waitForPending(1, std::chrono::milliseconds(200))) fake.finish();
  });
  in_order->finish();
  out_of_order->finish();
  for (const auto& event : events) EXPECT_TRUE(event->done());
  device.join();
}

TEST_F(QueueTest, TimesAreInOrderAndThoseOfTheDevice) {
  const auto event = fill(*in_order);
  fake.clock().advance(500);
  fake.start();
  const auto started = fake.clock().now.load();
  fake.clock().advance(700);
  fake.finish();
  EXPECT_EQ(event->times().started, started);
  EXPECT_EQ(event->times().ended, started + 700);
}

TEST_F(QueueTest, QueueMayBeReleasedWithCommandsInFlight) {
  auto event = fill(*out_of_order);
  enqueueMarker(*out_of_order, {});
  out_of_order->releaseHandle();
  (void)out_of_order.detach();
  fake.finishAll();
  EXPECT_TRUE(event->done());
}

}  // namespace
}  // namespace weft::test
