// Data ahead of use: what moves while others still work, and what does not.
#include <gtest/gtest.h>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 1024;

FakeOptions device(size_t buffers) {
  FakeOptions options;
  options.memory_bytes = buffers * size;
  return options;
}

class PrefetchTest : public testing::Test {
 protected:
  // Two manual devices, the first with room for so many buffers.
  void start(size_t buffers) {
    platform =
        std::make_unique<FakePlatform>(std::vector<FakeOptions>{device(buffers), device(64)});
    a = platform->queue(0);
    b = platform->queue(1);
    for (Ref<Buffer>* buffer : {&x, &y, &z}) *buffer = platform->buffer(size);
  }
  Ref<Event> fill(Queue& queue, Buffer& target, char value) {
    return enqueueFill(queue, target, &value, 1, 0, size, {});
  }
  Ref<Event> copy(Queue& queue, Buffer& from, Buffer& to, WaitList waits = {}) {
    return enqueueCopy(queue, from, to, 0, 0, size, waits);
  }
  void runAll() {
    while (platform->fake(0).finishAll() + platform->fake(1).finishAll() != 0) {
    }
  }
  // Copies into the device's memory that are there or have been made, by the other's hand or its
  // own.
  uint64_t bytesIn(size_t index) {
    return statistics(platform->context(), platform->device(index)).bytes_in;
  }
  uint64_t pending() { return platform->fake(0).pending() + platform->fake(1).pending(); }
  std::vector<char> contents(Buffer& source) {
    runAll();
    std::vector<char> bytes(size);
    const auto event = enqueueRead(*b, source, 0, size, bytes.data(), {});
    runAll();
    EXPECT_EQ(event->status(), CL_COMPLETE);
    return bytes;
  }
  // Everything but the first command of `queue` on the device, which goes on working.
  void runTransfers() {
    for (int i = 0; i < 8; ++i)
      for (const size_t d : {0, 1}) platform->fake(d).finish(transfer_streams);
  }

  static constexpr uint32_t transfer_streams = 1;  // made after each device's queue
  std::unique_ptr<FakePlatform> platform;
  Ref<Queue> a, b;
  Ref<Buffer> x, y, z;
};

TEST_F(PrefetchTest, WhatTheNextCommandReadsMovesWhileTheDeviceWorks) {
  start(64);
  fill(*b, *x, 1);
  runAll();
  const auto working = fill(*a, *y, 2);
  const auto next = copy(*a, *x, *z);
  runTransfers();
  EXPECT_EQ(working->status(), CL_SUBMITTED);
  EXPECT_EQ(bytesIn(0), size);
  ASSERT_TRUE(platform->fake(0).finish(0));
  EXPECT_EQ(next->status(), CL_SUBMITTED);  // has nothing to wait for any more
  EXPECT_EQ(contents(*z), std::vector<char>(size, 1));
  EXPECT_EQ(bytesIn(0), size);
}

TEST_F(PrefetchTest, OnlyTheNextCommandsInputMoves) {
  start(64);
  fill(*b, *x, 1);
  fill(*b, *y, 2);
  runAll();
  const auto first = fill(*a, *z, 3);
  copy(*a, *x, *z);
  const auto third = copy(*a, *y, *x);
  runTransfers();
  EXPECT_EQ(bytesIn(0), size);
  ASSERT_TRUE(platform->fake(0).finish(0));  // the copy of x is next
  runTransfers();
  EXPECT_EQ(bytesIn(0), 2 * size);
  EXPECT_EQ(third->status(), CL_QUEUED);
  EXPECT_EQ(contents(*x), std::vector<char>(size, 2));
}

TEST_F(PrefetchTest, WhatIsStillWrittenStays) {
  start(64);
  fill(*b, *x, 1);
  runAll();
  const Ref<Event> writer = fill(*b, *x, 2);
  fill(*a, *y, 3);
  const auto next = copy(*a, *x, *z, {&writer, 1});
  runTransfers();
  EXPECT_EQ(bytesIn(0), 0u);
  ASSERT_TRUE(platform->fake(1).finish(0));  // now the bytes are final, and the device still works
  runTransfers();
  EXPECT_EQ(bytesIn(0), size);
  EXPECT_EQ(next->status(), CL_QUEUED);
  EXPECT_EQ(contents(*z), std::vector<char>(size, 2));
  EXPECT_EQ(bytesIn(0), size);
}

TEST_F(PrefetchTest, WhatAQueuedCommandIsGoingToWriteStays) {
  start(64);
  fill(*b, *x, 1);
  runAll();
  const auto gate = make<UserEvent>(Ref<Context>(&platform->context()));
  const Ref<Event> wait = gate;
  const char two = 2;
  const Ref<Event> late = enqueueFill(*b, *x, &two, 1, 0, size, {&wait, 1});
  fill(*a, *y, 3);
  copy(*a, *x, *z, {&late, 1});
  runTransfers();
  EXPECT_EQ(bytesIn(0), 0u);
  gate->setStatus(CL_COMPLETE);
  EXPECT_EQ(contents(*z), std::vector<char>(size, 2));
  EXPECT_EQ(bytesIn(0), size);
}

TEST_F(PrefetchTest, NothingMovesIntoAFullDevice) {
  start(2);
  fill(*b, *x, 1);
  fill(*a, *y, 2);
  runAll();
  fill(*a, *y, 3);
  const auto next = copy(*a, *x, *y);
  EXPECT_EQ(pending(), 1u);
  runAll();
  EXPECT_EQ(next->status(), CL_COMPLETE);
  EXPECT_EQ(statistics(platform->context(), platform->device(0)).evictions, 0u);
  EXPECT_EQ(contents(*y), std::vector<char>(size, 1));
}

TEST_F(PrefetchTest, AFailedPrefetchFailsNobody) {
  start(64);
  fill(*b, *x, 1);
  runAll();
  fill(*a, *y, 2);
  const auto next = copy(*a, *x, *z);
  ASSERT_EQ(pending(), 2u);
  // The move goes through host memory, so its first step is the other device's.
  ASSERT_TRUE(platform->fake(1).fail(CL_OUT_OF_RESOURCES));
  runAll();
  EXPECT_EQ(next->status(), CL_COMPLETE);
  EXPECT_EQ(contents(*z), std::vector<char>(size, 1));
}

TEST_F(PrefetchTest, MapsReadAhead) {
  start(64);
  fill(*a, *x, 1);
  runAll();
  fill(*a, *y, 2);
  const Mapped mapped = enqueueMap(*a, *x, CL_MAP_READ, 0, size, {});
  runTransfers();
  EXPECT_EQ(statistics(platform->context(), platform->device(0)).bytes_out, size);
  EXPECT_EQ(mapped.event->status(), CL_QUEUED);
  ASSERT_TRUE(platform->fake(0).finish(0));
  EXPECT_EQ(mapped.event->status(), CL_COMPLETE);
  EXPECT_EQ(*static_cast<char*>(mapped.pointer), 1);
}

TEST_F(PrefetchTest, MigrationsRunAhead) {
  start(64);
  fill(*b, *x, 1);
  runAll();
  fill(*a, *y, 2);
  MemObject* const object = x.get();
  const auto migration = enqueueMigrate(*a, {&object, 1}, 0, {});
  runTransfers();
  EXPECT_EQ(bytesIn(0), size);
  EXPECT_EQ(migration->status(), CL_QUEUED);
  runAll();
  EXPECT_EQ(migration->status(), CL_COMPLETE);
  EXPECT_EQ(bytesIn(0), size);
}

}  // namespace
}  // namespace weft::test
