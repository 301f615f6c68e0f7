// Commands claim what access records say they touch, and nothing else.
#include <gtest/gtest.h>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 1024;

// One byte a work-item, at its global id.
ArgumentInfo bytesOfIds(bool reads, bool writes, bool complete) {
  ArgumentInfo argument = pointerArgument(true, true);
  argument.reads_known = argument.writes_known = true;
  AccessStep id;
  id.code = AccessCode::global_id;
  argument.accesses = {{reads, writes, complete, 0, 1, {id}}};
  return argument;
}

class AccessTest : public testing::Test {
 protected:
  void runDevices() {
    while (platform.fake(0).finishAll() + platform.fake(1).finishAll() != 0) {
    }
  }
  cl_int outcome(const Ref<Event>& event) {
    runDevices();
    return event->status();
  }
  Ref<Event> launch(Queue& queue, const char* name, size_t begin, size_t end) {
    const auto kernel = make<Kernel>(program, name);
    const cl_mem handle = buffer->handle();
    kernel->setArgument(0, sizeof handle, &handle);
    const size_t global = end - begin;
    NDRange range;
    range.offset = &begin;
    range.global = &global;
    return enqueueLaunch(queue, *kernel, range, {});
  }
  Ref<Event> fill(Queue& queue, char value, size_t begin, size_t end) {
    return enqueueFill(queue, *buffer, &value, 1, begin, end - begin, {});
  }
  Ref<Event> read(size_t begin, size_t end) {
    return enqueueRead(*b, *buffer, begin, end - begin, host.data() + begin, {});
  }
  uint64_t bytesIn(size_t device) {
    return statistics(platform.context(), platform.device(device)).bytes_in;
  }

  static void ones(const FakeLaunch& launch) {
    std::memset(launch.pointer<char>(0) + launch.record.global_offset[0], 1,
                launch.record.global_size[0]);
  }

  FakePlatform platform{{FakeOptions{}, FakeOptions{}}};
  Ref<Program> program =
      platform.program({{"write", {bytesOfIds(false, true, true)}, ones},
                        {"perhaps", {bytesOfIds(false, true, false)}, ones},
                        {"read", {bytesOfIds(true, false, false)}, [](auto&) {}}});
  Ref<Queue> a = platform.queue(0);
  Ref<Queue> b = platform.queue(1);
  Ref<Buffer> buffer = platform.buffer(size);
  std::vector<char> host = std::vector<char>(size);
};

TEST_F(AccessTest, OnlyWhatIsReadMoves) {
  ASSERT_EQ(outcome(fill(*a, 7, 0, size)), CL_COMPLETE);
  EXPECT_EQ(outcome(launch(*b, "read", 100, 130)), CL_COMPLETE);
  EXPECT_EQ(bytesIn(1), 30u);
  EXPECT_EQ(outcome(launch(*b, "read", 120, 140)), CL_COMPLETE);
  EXPECT_EQ(bytesIn(1), 40u);
}

TEST_F(AccessTest, WhatIsOverwrittenDoesNotMoveAndWhatMayBeDoes) {
  ASSERT_EQ(outcome(fill(*a, 7, 0, size)), CL_COMPLETE);
  EXPECT_EQ(outcome(launch(*b, "write", 0, 100)), CL_COMPLETE);
  EXPECT_EQ(bytesIn(1), 0u);
  EXPECT_EQ(outcome(launch(*b, "perhaps", 50, 200)), CL_COMPLETE);
  EXPECT_EQ(bytesIn(1), 100u);
  ASSERT_EQ(outcome(read(0, size)), CL_COMPLETE);
  std::vector<char> expected(size, 7);
  std::fill_n(expected.begin(), 200, 1);
  EXPECT_EQ(host, expected);
}

TEST_F(AccessTest, OverwritingRepairsWhatWasLost) {
  ASSERT_EQ(outcome(fill(*a, 7, 0, size)), CL_COMPLETE);
  const auto failing = fill(*a, 9, 0, 300);
  ASSERT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  ASSERT_EQ(failing->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(outcome(launch(*b, "perhaps", 0, 300)), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(outcome(launch(*b, "write", 0, 200)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(0, 200)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(0, 300)), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(outcome(launch(*a, "write", 200, 300)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(0, size)), CL_COMPLETE);
}

TEST_F(AccessTest, KernelsOnPartsOfABufferRunSideBySide) {
  ASSERT_EQ(outcome(fill(*a, 7, 0, size)), CL_COMPLETE);
  const auto left = launch(*a, "write", 0, 512), right = launch(*b, "write", 512, size);
  EXPECT_EQ(platform.fake(0).pending(), 1u);
  EXPECT_EQ(platform.fake(1).pending(), 1u);
  const auto overlapping = launch(*b, "perhaps", 500, 520);
  EXPECT_EQ(platform.fake(1).pending(), 1u);
  runDevices();
  for (const auto& event : {left, right, overlapping}) EXPECT_EQ(event->status(), CL_COMPLETE);
}

TEST_F(AccessTest, AnEmptyLaunchTouchesNothing) {
  ASSERT_EQ(outcome(fill(*a, 7, 0, size)), CL_COMPLETE);
  EXPECT_EQ(outcome(launch(*b, "write", 5, 5)), CL_COMPLETE);
  EXPECT_EQ(outcome(read(0, size)), CL_COMPLETE);
  EXPECT_EQ(host, std::vector<char>(size, 7));
}

}  // namespace
}  // namespace weft::test
