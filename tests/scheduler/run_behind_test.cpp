// Commands of queues and devices that can wait for each other without the host: what is submitted
// before what it depends on has ended, what is not, in which order it ends, and failures.
#include <gtest/gtest.h>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 256;
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

// Devices 0 and 1 can wait for each other; device 2 for nobody.
class RunBehindTest : public testing::Test {
 protected:
  struct Lane {
    Ref<Queue> queue;
    Ref<Buffer> buffer;
  };

  // A buffer whose bytes are on the device already.
  Lane lane(size_t device, cl_command_queue_properties properties = 0) {
    Lane made{platform.queue(device, properties), platform.buffer(size)};
    fill(made, 1);
    finishAll();
    return made;
  }
  Ref<Event> fill(const Lane& lane, char value, WaitList waits = {}) {
    return enqueueFill(*lane.queue, *lane.buffer, &value, 1, 0, size, waits);
  }
  Ref<Event> fillAfter(const Lane& lane, Ref<Event> dependency, char value = 1) {
    return fill(lane, value, {&dependency, 1});
  }
  cl_int readStatus(const Lane& lane) {
    const auto read = enqueueRead(*lane.queue, *lane.buffer, 0, size, host_.data(), {});
    finishAll();
    return read->status();
  }
  std::vector<char> read(const Lane& lane) {
    EXPECT_EQ(readStatus(lane), CL_COMPLETE);
    return host_;
  }
  uint64_t bytesIn(size_t device) {
    return statistics(platform.context(), platform.device(device)).bytes_in;
  }
  void finishAll() {
    while (platform.fake(0).finishAll() + platform.fake(1).finishAll() +
               platform.fake(2).finishAll() >
           0) {
    }
  }
  size_t pending() const {
    return platform.fake(0).pending() + platform.fake(1).pending() + platform.fake(2).pending();
  }

  std::vector<char> host_ = std::vector<char>(size);
  mutable FakePlatform platform{{fenced(), fenced(), FakeOptions{}}};
};

TEST_F(RunBehindTest, AnUnorderedQueueIsFedAhead) {
  const Lane a = lane(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto first = fill(a, 3);
  const auto second = fillAfter(a, first, 4);
  const auto third = fillAfter(a, second, 5);
  EXPECT_EQ(pending(), 3u);
  EXPECT_EQ(platform.fake(0).able(), 1u);
  finishAll();
  EXPECT_EQ(third->status(), CL_COMPLETE);
  EXPECT_EQ(readStatus(a), CL_COMPLETE);
}

TEST_F(RunBehindTest, TwoQueuesAndTwoDevicesAreFedAhead) {
  for (const size_t device : {size_t(0), size_t(1)}) {
    const Lane a = lane(0), b = lane(device);
    Ref<Event> last = fill(a, 3);
    for (int i = 0; i < 6; ++i) last = fillAfter(i % 2 ? a : b, last);
    EXPECT_EQ(pending(), 7u);
    EXPECT_EQ(platform.fake(0).able() + platform.fake(1).able(), 1u);
    finishAll();
    EXPECT_EQ(last->status(), CL_COMPLETE);
  }
}

TEST_F(RunBehindTest, WhatCannotWaitIsNotSubmitted) {
  const Lane a = lane(0), c = lane(2);
  const auto first = fill(a, 3);
  const auto second = fillAfter(c, first);
  const auto third = fillAfter(a, second);
  EXPECT_EQ(pending(), 1u);
  platform.fake(0).finishAll();
  EXPECT_EQ(platform.fake(2).pending(), 1u);
  EXPECT_EQ(platform.fake(0).pending(), 0u);
  finishAll();
  EXPECT_EQ(third->status(), CL_COMPLETE);
}

TEST_F(RunBehindTest, NothingBehindAUserEventOrTheHostIsSubmitted) {
  const Lane a = lane(0), b = lane(1);
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  const auto first = fillAfter(a, gate);
  const auto second = fillAfter(b, first);
  EXPECT_EQ(pending(), 0u);
  gate->setStatus(CL_COMPLETE);
  EXPECT_EQ(pending(), 2u);
  Ref<Event> ends[] = {second};
  const auto marker = enqueueMarker(*a.queue, ends);
  const auto behind = fillAfter(b, marker);
  EXPECT_EQ(pending(), 2u);
  finishAll();
  EXPECT_TRUE(marker->done() && behind->done());
}

// The later one's end is seen first, and counts only once the earlier one's is.
TEST_F(RunBehindTest, EndsInTheOrderOfTheDependencies) {
  const Lane a = lane(0), b = lane(1);
  const auto first = fill(a, 3);
  const auto second = fillAfter(b, first);
  EXPECT_FALSE(platform.fake(1).finish());
  EXPECT_TRUE(platform.fake(0).finishAny(0, 0, Reach::run));
  EXPECT_TRUE(platform.fake(1).finish());
  EXPECT_FALSE(first->done());
  EXPECT_FALSE(second->done());
  finishAll();
  EXPECT_EQ(first->status(), CL_COMPLETE);
  EXPECT_EQ(second->status(), CL_COMPLETE);
}

TEST_F(RunBehindTest, FailureOverridesWhatWasSubmittedBehindIt) {
  for (const Reach reach : {Reach::run, Reach::finish}) {
    const Lane a = lane(0), b = lane(1), c = lane(1);
    const auto first = fill(a, 3);
    const auto second = fillAfter(b, first);
    const auto third = fillAfter(a, second);
    const auto other = fill(c, 7);
    EXPECT_EQ(pending(), 4u);
    EXPECT_TRUE(platform.fake(0).finishAny(0, CL_OUT_OF_RESOURCES, reach));
    platform.fake(1).finishAll();
    finishAll();
    EXPECT_EQ(first->status(), CL_OUT_OF_RESOURCES);
    EXPECT_EQ(second->status(), dependent);
    EXPECT_EQ(third->status(), dependent);
    EXPECT_EQ(other->status(), CL_COMPLETE);
    // What the overridden ones wrote is nobody's.
    EXPECT_EQ(readStatus(b), dependent);
    EXPECT_EQ(readStatus(c), CL_COMPLETE);
  }
}

// It waits for one that failed before it, by the order of a queue that carries no failure.
TEST_F(RunBehindTest, LostBytesFailAReaderOfAnotherQueue) {
  const Lane a = lane(0), b = lane(0), c = lane(0);
  const auto writer = fill(a, 3);
  const Lane between{a.queue, b.buffer};
  Ref<Event> after[] = {fill(between, 4)};
  const auto reader = enqueueCopy(*c.queue, *a.buffer, *c.buffer, 0, 0, size, after);
  EXPECT_EQ(pending(), 3u);
  EXPECT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  finishAll();
  EXPECT_EQ(after[0]->status(), CL_COMPLETE);
  EXPECT_EQ(reader->status(), dependent);
}

TEST_F(RunBehindTest, ACommandRunsBehindItsOwnTransfers) {
  const Lane a = lane(0), b = lane(1);
  const auto sum = enqueueCopy(*b.queue, *a.buffer, *b.buffer, 0, 0, size, {});
  EXPECT_EQ(platform.fake(1).pending(), 2u);
  EXPECT_EQ(platform.fake(1).able(), 1u);
  finishAll();
  EXPECT_EQ(sum->status(), CL_COMPLETE);
  std::vector<char> host(size);
  const auto read = enqueueRead(*b.queue, *b.buffer, 0, size, host.data(), {});
  finishAll();
  EXPECT_EQ(read->status(), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 1));
}

TEST_F(RunBehindTest, ATransferThatFailsFailsItsCommand) {
  const Lane a = lane(0), b = lane(1);
  const auto sum = enqueueCopy(*b.queue, *a.buffer, *b.buffer, 0, 0, size, {});
  EXPECT_TRUE(platform.fake(1).fail(CL_OUT_OF_RESOURCES));
  finishAll();
  EXPECT_EQ(sum->status(), dependent);
  EXPECT_EQ(readStatus(a), CL_COMPLETE);
  EXPECT_EQ(readStatus(b), dependent);
}

// What a submitted command is going to write is fetched behind it: a chain of commands that each
// read on one device what the last one wrote on the other one goes there at once.
TEST_F(RunBehindTest, ChainsWithTransfersAreSubmittedAhead) {
  constexpr int links = 40;
  const Lane a = lane(0), b = lane(1);
  Ref<Event> last = fill(a, 9);
  for (int i = 0; i < links; ++i) {
    const Lane &from = i % 2 ? b : a, &to = i % 2 ? a : b;
    last = enqueueCopy(*to.queue, *from.buffer, *to.buffer, 0, 0, size, {&last, 1});
  }
  EXPECT_EQ(pending(), size_t(2 * links + 1));  // each with its transfer
  EXPECT_EQ(platform.fake(0).able() + platform.fake(1).able(), 1u);
  finishAll();
  EXPECT_EQ(last->status(), CL_COMPLETE);
  EXPECT_EQ(read(a), std::vector<char>(size, 9));
  EXPECT_EQ(bytesIn(0) + bytesIn(1), size_t(links * size));
}

// A buffer that both change, in turns.
TEST_F(RunBehindTest, PingPongIsSubmittedAhead) {
  constexpr size_t links = 20;
  const Lane a = lane(0), b{platform.queue(1), a.buffer};
  Ref<Event> last = fill(a, 1);
  for (size_t i = 0; i < links; ++i) {
    const Lane& lane = i % 2 ? a : b;
    const char value = char('a' + i);
    last = enqueueFill(*lane.queue, *lane.buffer, &value, 1, i, 1, {&last, 1});
    last = enqueueCopy(*lane.queue, *lane.buffer, *lane.buffer, 0, size / 2, links, {&last, 1});
  }
  EXPECT_EQ(platform.fake(0).able() + platform.fake(1).able(), 1u);
  const size_t submitted = pending();
  EXPECT_GE(submitted, 3 * links);
  finishAll();
  EXPECT_EQ(last->status(), CL_COMPLETE);
  std::vector<char> expected(size, 1);
  for (size_t i = 0; i < links; ++i) expected[i] = expected[size / 2 + i] = char('a' + i);
  EXPECT_EQ(read(a), expected);
}

// The command that fails, those that read what it wrote, through transfers, and those that read
// theirs; not what overwrites it, and who reads that.
TEST_F(RunBehindTest, FailureGoesAlongBytes) {
  for (const Reach reach : {Reach::run, Reach::finish}) {
    const Lane a = lane(0), b = lane(1), c = lane(0);
    const auto writer = fill(a, 3);
    const auto reader = enqueueCopy(*b.queue, *a.buffer, *b.buffer, 0, 0, size, {});
    Ref<Event> after[] = {reader};
    const auto second = enqueueCopy(*c.queue, *b.buffer, *c.buffer, 0, 0, size, after);
    const auto overwriter = fill(a, 4);
    const auto its_reader = enqueueRead(*a.queue, *a.buffer, 0, size, host_.data(), {});
    EXPECT_TRUE(platform.fake(0).finishAny(0, CL_OUT_OF_RESOURCES, reach));
    finishAll();
    EXPECT_EQ(writer->status(), CL_OUT_OF_RESOURCES);
    EXPECT_EQ(reader->status(), dependent);
    EXPECT_EQ(second->status(), dependent);
    EXPECT_EQ(overwriter->status(), CL_COMPLETE);
    EXPECT_EQ(its_reader->status(), CL_COMPLETE);
    EXPECT_EQ(host_, std::vector<char>(size, 4));
    EXPECT_EQ(readStatus(a), CL_COMPLETE);
    EXPECT_EQ(readStatus(b), dependent);
    EXPECT_EQ(readStatus(c), dependent);
  }
}

// In one queue, whose order carries no failure: the reader was submitted before the writer failed,
// and so was who overwrites the bytes.
TEST_F(RunBehindTest, AReaderFailsThoughTheBytesAreOverwrittenSince) {
  const Lane a = lane(0), other = lane(0);
  const auto writer = fill(a, 3);
  const auto reader = enqueueCopy(*a.queue, *a.buffer, *other.buffer, 0, 0, size, {});
  const auto overwriter = fill(a, 4);
  EXPECT_EQ(pending(), 3u);
  EXPECT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  finishAll();
  EXPECT_EQ(writer->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(reader->status(), dependent);
  EXPECT_EQ(overwriter->status(), CL_COMPLETE);
  EXPECT_EQ(readStatus(other), dependent);
  EXPECT_EQ(read(a), std::vector<char>(size, 4));
}

// The transfer for the first reader serves the second one, which knows nothing of the first.
TEST_F(RunBehindTest, AReaderRunsBehindTheTransferOfAnother) {
  const Lane a = lane(0), b = lane(1), c = lane(1);
  const auto writer = fill(a, 3);
  Ref<Event> after[] = {writer};
  const auto first = enqueueCopy(*b.queue, *a.buffer, *b.buffer, 0, 0, size, after);
  const auto second = enqueueCopy(*c.queue, *a.buffer, *c.buffer, 0, 0, size, after);
  EXPECT_EQ(pending(), 4u);
  EXPECT_EQ(platform.fake(0).able() + platform.fake(1).able(), 1u);
  finishAll();
  EXPECT_EQ(bytesIn(1), size);
  EXPECT_EQ(first->status(), CL_COMPLETE);
  EXPECT_EQ(read(c), std::vector<char>(size, 3));
}

// The host's commands wait for the transfer only, which is submitted behind the writer.
TEST_F(RunBehindTest, AMapRunsBehindTheWriter) {
  const Lane a = lane(0);
  const auto writer = fill(a, 3);
  const Mapped mapped = enqueueMap(*a.queue, *a.buffer, CL_MAP_READ, 0, size, {});
  const Lane b{platform.queue(1), a.buffer};
  const Mapped other = enqueueMap(*b.queue, *b.buffer, CL_MAP_READ, 0, size, {});
  EXPECT_EQ(pending(), 2u);
  finishAll();
  EXPECT_EQ(mapped.event->status(), CL_COMPLETE);
  EXPECT_EQ(other.event->status(), CL_COMPLETE);
  EXPECT_EQ(static_cast<const char*>(mapped.pointer)[0], 3);
}

TEST_F(RunBehindTest, LongChainsEndWithoutRecursion) {
  constexpr int count = 1'000;  // the fake device looks through all of them for each
  const Lane a = lane(0), b = lane(1);
  auto gate = make<UserEvent>(Ref<Context>(&platform.context()));
  Ref<Event> last = gate;
  for (int i = 0; i < count; ++i) last = fillAfter(i % 2 ? a : b, last);
  gate->setStatus(CL_COMPLETE);
  EXPECT_EQ(pending(), size_t(count));
  // None of the ends is told before the last operation has run.
  while (platform.fake(0).finishAny(0, 0, Reach::run) +
         platform.fake(1).finishAny(0, 0, Reach::run));
  finishAll();
  EXPECT_EQ(last->status(), CL_COMPLETE);
}

TEST_F(RunBehindTest, ALostDeviceEndsWhatIsBehindIt) {
  const Lane a = lane(0), b = lane(1);
  const auto first = fill(a, 3);
  const auto second = fillAfter(b, first);
  platform.fake(0).lose();
  finishAll();
  EXPECT_EQ(first->status(), CL_DEVICE_NOT_AVAILABLE);
  EXPECT_EQ(second->status(), dependent);
  EXPECT_EQ(fill(b, 4)->status(), CL_SUBMITTED);
  finishAll();
  EXPECT_EQ(readStatus(b), CL_COMPLETE);
}

}  // namespace
}  // namespace weft::test
