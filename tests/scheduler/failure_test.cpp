// What a failed command leaves behind, and who hears of it.
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 1024;
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

// Collects what the context's callback is told.
class Listener {
 public:
  // One that lasts as long as the process: a context's callback may still run when the test ends.
  static Listener& fresh() {
    static auto* const all = new std::deque<Listener>;
    return all->emplace_back();
  }
  static void CL_CALLBACK hear(const char* message, const void*, size_t, void* user) {
    auto& self = *static_cast<Listener*>(user);
    const std::lock_guard lock(self.mutex_);
    self.heard_ += message;
    self.heard_ += '\n';
    self.changed_.notify_all();
  }
  bool hears(const std::string& words) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return heard_.find(words) != std::string::npos; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string heard_;
};

class FailureTest : public testing::Test {
 protected:
  // Enqueued commands go on when the test runs the devices.
  void runDevices() {
    while (platform.fake(0).finishAll() + platform.fake(1).finishAll() != 0) {
    }
  }
  cl_int outcome(const Ref<Event>& event) {
    runDevices();
    return event->status();
  }
  Ref<Event> fill(Queue& queue, Buffer& target, char value, size_t offset = 0,
                  size_t bytes = size) {
    return enqueueFill(queue, target, &value, 1, offset, bytes, {});
  }
  Ref<Event> read(Queue& queue, Buffer& source, size_t offset = 0, size_t bytes = size) {
    return enqueueRead(queue, source, offset, bytes, host.data(), {});
  }
  Ref<Event> copy(Queue& queue, Buffer& from, Buffer& to) {
    return enqueueCopy(queue, from, to, 0, 0, size, {});
  }
  // A fill that the device fails.
  void loseRange(size_t offset, size_t bytes) {
    const auto failing = fill(*a, *buffer, 9, offset, bytes);
    ASSERT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
    ASSERT_EQ(failing->status(), CL_OUT_OF_RESOURCES);
  }

  Listener& listener = Listener::fresh();
  FakePlatform platform{{FakeOptions{}, FakeOptions{}}, &Listener::hear, &listener};
  Ref<Queue> a = platform.queue(0);
  Ref<Queue> b = platform.queue(1);
  Ref<Buffer> buffer = platform.buffer(size);
  std::vector<char> host = std::vector<char>(size);
};

TEST_F(FailureTest, WhatAFailedCommandWroteIsLostAndNothingElse) {
  ASSERT_EQ(outcome(fill(*a, *buffer, 1)), CL_COMPLETE);
  loseRange(100, 50);
  EXPECT_EQ(outcome(read(*a, *buffer)), dependent);
  EXPECT_EQ(outcome(read(*b, *buffer, 149, 1)), dependent);
  EXPECT_EQ(outcome(read(*b, *buffer, 0, 100)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*a, *buffer, 150, size - 150)), CL_COMPLETE);
  EXPECT_EQ(host[0], 1);
}

TEST_F(FailureTest, OverwritingBringsLostBytesBack) {
  ASSERT_EQ(outcome(fill(*a, *buffer, 1)), CL_COMPLETE);
  loseRange(100, 50);
  EXPECT_EQ(outcome(fill(*b, *buffer, 2, 100, 25)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*a, *buffer)), dependent);
  EXPECT_EQ(outcome(fill(*b, *buffer, 2, 125, 25)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*a, *buffer)), CL_COMPLETE);
  EXPECT_EQ(std::count(host.begin(), host.end(), 2), 50);
}

TEST_F(FailureTest, LostBytesCannotBeMappedButReplaced) {
  loseRange(0, size);
  EXPECT_EQ(outcome(enqueueMap(*a, *buffer, CL_MAP_READ, 0, size, {}).event), dependent);
  const Mapped mapped = enqueueMap(*a, *buffer, CL_MAP_WRITE_INVALIDATE_REGION, 0, size, {});
  ASSERT_EQ(outcome(mapped.event), CL_COMPLETE);
  std::fill_n(static_cast<char*>(mapped.pointer), size, 3);
  ASSERT_EQ(outcome(enqueueUnmap(*a, *buffer, mapped.pointer, {})), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*b, *buffer)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 3));
}

TEST_F(FailureTest, ACommandThatNeverRanChangesNothing) {
  ASSERT_EQ(outcome(fill(*a, *buffer, 1)), CL_COMPLETE);
  const auto from = platform.buffer(size);
  ASSERT_EQ(outcome(fill(*b, *from, 2)), CL_COMPLETE);
  // The move of `from` to the first device fails, so the copy into `buffer` does not run.
  const auto copied = copy(*a, *from, *buffer);
  ASSERT_EQ(platform.fake(0).pending() + platform.fake(1).pending(), 1u);
  platform.fake(platform.fake(0).pending() ? 0 : 1).fail(CL_OUT_OF_RESOURCES);
  EXPECT_EQ(outcome(copied), dependent);
  EXPECT_EQ(outcome(read(*b, *buffer)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 1));
  EXPECT_EQ(outcome(copy(*a, *from, *buffer)), CL_COMPLETE);
}

TEST_F(FailureTest, TheOrderOfAQueueDoesNotCarryFailure) {
  const auto failing = fill(*a, *buffer, 1), next = fill(*a, *buffer, 2);
  ASSERT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  EXPECT_EQ(outcome(next), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*a, *buffer)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 2));
}

TEST_F(FailureTest, UnmappingWhatCouldNotBeMappedWritesNothing) {
  ASSERT_EQ(outcome(fill(*a, *buffer, 1)), CL_COMPLETE);
  const auto never = make<UserEvent>(Ref<Context>(&platform.context()));
  const Ref<Event> wait = never;
  const Mapped mapped = enqueueMap(*a, *buffer, CL_MAP_WRITE, 0, size, {&wait, 1});
  never->setStatus(-1);
  ASSERT_EQ(outcome(mapped.event), dependent);
  EXPECT_EQ(buffer->mapCount(), 0u);
  ASSERT_EQ(outcome(enqueueUnmap(*a, *buffer, mapped.pointer, {})), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*b, *buffer)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 1));
}

TEST_F(FailureTest, TheContextHearsWhatHappened) {
  loseRange(100, 50);
  EXPECT_TRUE(listener.hears("a buffer fill on fake failed with -5"));
  EXPECT_EQ(outcome(read(*a, *buffer)), dependent);
  EXPECT_TRUE(listener.hears("bytes 100 to 150 of a memory object were lost"));
  platform.fake(1).failAllocations(1);
  EXPECT_EQ(outcome(fill(*b, *buffer, 1)), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_TRUE(listener.hears("out of fake memory"));
}

TEST_F(FailureTest, TheContextHearsWhichKernelAndThatADeviceIsLost) {
  const auto program = platform.program({{"scale", {}, [](const FakeLaunch&) {}}});
  const auto kernel = make<Kernel>(program, "scale");
  const size_t one = 1;
  const auto failing = enqueueLaunch(*a, *kernel, {1, nullptr, &one, &one}, {});
  ASSERT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  EXPECT_EQ(failing->status(), CL_OUT_OF_RESOURCES);
  EXPECT_TRUE(listener.hears("kernel scale on fake failed with -5: the device could not complete"));
  const auto stranded = fill(*b, *buffer, 1);
  platform.fake(1).lose();
  runDevices();
  EXPECT_EQ(stranded->status(), CL_DEVICE_NOT_AVAILABLE);
  EXPECT_TRUE(listener.hears("a buffer fill on fake failed with -2: the device is lost"));
}

// Each of three sees the failure of the one it waits for, what waits for none of them does not.
TEST_F(FailureTest, DependentsOfDependentsEndAndOthersGoOn) {
  const auto other_buffer = platform.buffer(size);
  const Ref<Event> failing = fill(*a, *buffer, 1);
  const Ref<Event> second = enqueueFill(*b, *buffer, "2", 1, 0, size, {&failing, 1});
  const Ref<Event> third = enqueueMarker(*a, {&second, 1});
  const auto unrelated = fill(*b, *other_buffer, 4);
  ASSERT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  runDevices();
  EXPECT_EQ(second->status(), dependent);
  EXPECT_EQ(third->status(), dependent);
  EXPECT_EQ(unrelated->status(), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*a, *other_buffer)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 4));
}

// The only copy of what one device wrote goes with it; copies elsewhere are still good.
TEST_F(FailureTest, ALostDeviceTakesItsOnlyCopiesAlong) {
  const auto kept = platform.buffer(size);
  ASSERT_EQ(outcome(fill(*a, *buffer, 1)), CL_COMPLETE);
  ASSERT_EQ(outcome(fill(*a, *kept, 2)), CL_COMPLETE);
  ASSERT_EQ(outcome(read(*b, *kept)), CL_COMPLETE);
  MemObject* const object = kept.get();
  ASSERT_EQ(outcome(enqueueMigrate(*b, {&object, 1}, 0, {})), CL_COMPLETE);
  platform.fake(0).lose();
  EXPECT_LT(outcome(read(*b, *buffer)), 0);
  EXPECT_LT(outcome(read(*b, *buffer)), 0);
  EXPECT_EQ(outcome(read(*b, *kept)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 2));
}

TEST_F(FailureTest, ALostDeviceEndsItsCommandsAndNobodyElses) {
  ASSERT_EQ(outcome(fill(*a, *buffer, 1)), CL_COMPLETE);
  const auto other = platform.buffer(size), third = platform.buffer(size);
  ASSERT_EQ(outcome(fill(*b, *other, 2)), CL_COMPLETE);
  const auto stranded = copy(*b, *buffer, *other), late = fill(*a, *third, 3);
  platform.fake(0).lose();
  runDevices();
  EXPECT_LT(stranded->status(), 0);
  EXPECT_LT(late->status(), 0);
  EXPECT_LT(outcome(read(*b, *buffer)), 0);
  EXPECT_EQ(outcome(read(*b, *other)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 2));
  EXPECT_EQ(outcome(fill(*b, *buffer, 4)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(*b, *buffer)), CL_COMPLETE);
}

TEST(FailureReleaseTest, AReleasedContextIsNotHeardOfAgain) {
  int heard = 0;
  FakePlatform platform{
      {FakeOptions{}},
      [](const char*, const void*, size_t, void* count) { ++*static_cast<int*>(count); },
      &heard};
  platform.context().report("first");
  Ref<Context>(&platform.context()).detach()->releaseHandle();
  platform.context().report("second");
  EXPECT_EQ(heard, 1);
}

// Everything is given up while commands are still to fail: nobody waits for ever.
class ReleaseTest : public testing::TestWithParam<bool> {};

TEST_P(ReleaseTest, ContextsEndAfterFailures) {
  std::atomic<bool> ended{false};
  {
    FakePlatform platform{{FakeOptions{}, FakeOptions{}}};
    platform.context().addDestructorCallback(
        [](cl_context, void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &ended);
    {
      const auto buffer = platform.buffer(size), other = platform.buffer(size);
      const auto a = platform.queue(0), b = platform.queue(1);
      const char value = 1;
      enqueueFill(*a, *buffer, &value, 1, 0, size, {});
      const Ref<Event> first = enqueueCopy(*a, *buffer, *other, 0, 0, size, {});
      enqueueCopy(*b, *other, *buffer, 0, 0, size, {&first, 1});
    }
    if (GetParam())
      platform.fake(0).lose();
    else
      platform.fake(0).fail(CL_OUT_OF_RESOURCES);
    while (platform.fake(0).finishAll() + platform.fake(1).finishAll() != 0) {
    }
  }
  for (int i = 0; i < 12'000 && !ended; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(ended);
}

INSTANTIATE_TEST_SUITE_P(Each, ReleaseTest, testing::Bool(),
                         [](const auto& lost) { return lost.param ? "Lost" : "Failed"; });

}  // namespace
}  // namespace weft::test
