// What a memory object remembers of the commands that use it: not every one of a long queue.
#include <gtest/gtest.h>

#include "scheduler/residency.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
constexpr int links = 100;

// Nothing runs before a test says so.
class UsersTest : public testing::Test {
 protected:
  UsersTest() {
    const cl_mem handles[] = {sum->handle(), input->handle()};
    for (const cl_uint i : {0, 1}) kernel->setArgument(i, sizeof handles[i], &handles[i]);
    const char one = 1;
    enqueueFill(*queue, *sum, &one, 1, 0, size, {});
    enqueueFill(*queue, *input, &one, 1, 0, size, {});
    finishAll();
  }
  Ref<Event> launch(Queue& on, WaitList waits = {}) {
    const size_t items = 1;
    return enqueueLaunch(on, *kernel, {1, nullptr, &items, &items}, waits);
  }
  // In turns in two queues.
  std::vector<Ref<Event>> chain(Queue& a, Queue& b) {
    std::vector<Ref<Event>> events;
    for (int i = 0; i < links; ++i) {
      Queue& on = i % 2 == 0 ? a : b;
      events.push_back(launch(on, events.empty() ? WaitList{} : WaitList{&events.back(), 1}));
    }
    return events;
  }
  size_t users(Buffer& buffer) {
    const auto tickets = State::of(platform.context()).tickets().lock();
    size_t most = 0;
    for (const auto& [begin, interval] : Residency::of(buffer).intervals())
      most = std::max(most, interval.users.size());
    return most;
  }
  void finishAll() {
    while (platform.fake(0).finishAll() + platform.fake(1).finishAll() > 0) {
    }
  }

  static constexpr size_t size = 64;
  FakePlatform platform{{fenced(), fenced()}};
  Ref<Buffer> sum = platform.buffer(size), input = platform.buffer(size);
  Ref<Queue> queue = platform.queue(0), other = platform.queue(0);
  Ref<Queue> unordered = platform.queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Ref<Program> program = platform.program(
      {{"add", {pointerArgument(true, true), pointerArgument(true, false)}, [](const FakeLaunch&) {
        }}});
  Ref<Kernel> kernel = make<Kernel>(program, "add");
};

TEST_F(UsersTest, AreFewInALongQueue) {
  for (int i = 0; i < links; ++i) launch(*queue);
  EXPECT_EQ(platform.fake(0).pending(), size_t(links));
  EXPECT_LE(users(*sum), 2u);
  EXPECT_LE(users(*input), 2u);
  finishAll();
  EXPECT_EQ(users(*sum) + users(*input), 0u);
}

TEST_F(UsersTest, AreFewInAChain) {
  for (Queue* second : {queue.get(), other.get(), unordered.get()}) {
    Queue& first = second == unordered.get() ? *second : *queue;
    const auto events = chain(first, *second);
    EXPECT_EQ(platform.fake(0).pending(), size_t(links));
    EXPECT_LE(users(*sum), 2u);
    EXPECT_LE(users(*input), 2u);
    finishAll();
    EXPECT_EQ(events.back()->status(), CL_COMPLETE);
  }
}

// Without an order all of them count, and a writer elsewhere waits for each.
TEST_F(UsersTest, OfAnUnorderedQueueAreAllWaitedFor) {
  for (int i = 0; i < links; ++i) launch(*unordered);
  EXPECT_EQ(platform.fake(0).pending(), size_t(links));
  EXPECT_EQ(users(*input), size_t(links));
  const Ref<Queue> elsewhere = platform.queue(1);
  const char two = 2;
  const auto writer = enqueueFill(*elsewhere, *input, &two, 1, 0, size, {});
  for (int i = 0; i < links; ++i) {
    EXPECT_EQ(platform.fake(1).able(), 0u);
    EXPECT_TRUE(platform.fake(0).finish());
  }
  EXPECT_EQ(platform.fake(1).able(), 1u);
  finishAll();
  EXPECT_EQ(writer->status(), CL_COMPLETE);
  EXPECT_EQ(users(*sum) + users(*input), 0u);
}

// Of two that nothing orders one does not fail with the other, unless what it reads is lost.
TEST_F(UsersTest, OfAnUnorderedQueueFailWhenTheirInputIsLost) {
  const auto failing = launch(*unordered), beside = launch(*unordered);
  EXPECT_TRUE(platform.fake(0).finishAny(0, CL_OUT_OF_RESOURCES, Reach::run));
  finishAll();
  EXPECT_EQ(failing->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(beside->status(), dependent);
}

// Those who are not remembered, too.
TEST_F(UsersTest, PassFailureOn) {
  for (const Reach reach : {Reach::run, Reach::finish}) {
    std::vector<Ref<Event>> events;
    for (int i = 0; i < links; ++i) events.push_back(launch(*queue));
    const Ref<Queue> elsewhere = platform.queue(1);
    events.push_back(launch(*elsewhere, {&events.back(), 1}));
    EXPECT_TRUE(platform.fake(0).finishAny(0, CL_OUT_OF_RESOURCES, reach));
    finishAll();
    EXPECT_EQ(events.front()->status(), CL_OUT_OF_RESOURCES);
    for (size_t i = 1; i < events.size(); ++i) EXPECT_EQ(events[i]->status(), dependent);
    EXPECT_EQ(launch(*queue)->wait(), dependent);
    const char one = 1;
    const auto again = enqueueFill(*queue, *sum, &one, 1, 0, size, {});
    finishAll();
    EXPECT_EQ(again->status(), CL_COMPLETE);
  }
}

// Another device overwrites what many read: behind all of them.
TEST_F(UsersTest, AWriterElsewhereWaitsForAllReaders) {
  for (int i = 0; i < links; ++i) launch(*queue);
  const Ref<Queue> elsewhere = platform.queue(1);
  const char two = 2;
  const auto writer = enqueueFill(*elsewhere, *input, &two, 1, 0, size, {});
  EXPECT_EQ(platform.fake(1).able(), 0u);
  for (int i = 0; i < links; ++i) {
    EXPECT_EQ(platform.fake(1).able(), 0u);
    EXPECT_TRUE(platform.fake(0).finish());
  }
  EXPECT_EQ(platform.fake(1).able(), 1u);
  finishAll();
  EXPECT_EQ(writer->status(), CL_COMPLETE);
}

}  // namespace
}  // namespace weft::test
