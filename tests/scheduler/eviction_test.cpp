// Working sets larger than a device's memory: what goes, what moves for that, who waits.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 1024;

FakeOptions device(size_t buffers, bool manual) {
  FakeOptions options;
  options.manual = manual;
  options.max_delay = std::chrono::microseconds(0);
  options.memory_bytes = buffers * size;
  return options;
}

class EvictionTest : public testing::Test {
 protected:
  // Two devices, the first with room for so many buffers.
  void start(size_t buffers, bool manual = false) {
    platform = std::make_unique<FakePlatform>(
        std::vector<FakeOptions>{device(buffers, manual), device(64, manual)});
    queue = platform->queue(0);
    other = platform->queue(1);
  }
  Ref<Event> fill(Queue& queue, Buffer& target, char value) {
    return enqueueFill(queue, target, &value, 1, 0, target.size(), {});
  }
  Ref<Event> copy(Queue& queue, Buffer& from, Buffer& to) {
    return enqueueCopy(queue, from, to, 0, 0, size, {});
  }
  std::vector<char> contents(Buffer& source) {
    std::vector<char> bytes(source.size());
    EXPECT_EQ(enqueueRead(*other, source, 0, bytes.size(), bytes.data(), {})->wait(), CL_COMPLETE);
    return bytes;
  }
  DeviceStatistics numbers() { return statistics(platform->context(), platform->device(0)); }

  std::unique_ptr<FakePlatform> platform;
  Ref<Queue> queue, other;
};

TEST_F(EvictionTest, AWorkingSetLargerThanTheMemoryKeepsItsContents) {
  start(3);
  std::vector<Ref<Buffer>> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(platform->buffer(size));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(fill(*queue, *buffers[i], char(i))->wait(), CL_COMPLETE);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(copy(*queue, *buffers[i], *buffers[i + 1])->wait(), CL_COMPLETE);
  for (const auto& buffer : buffers) EXPECT_EQ(contents(*buffer), std::vector<char>(size, 0));
  EXPECT_LE(platform->fake(0).allocatedBytes(), 3 * size);
}

TEST_F(EvictionTest, TheLeastRecentlyUsedGoesAndOnlyWhatIsDirtyIsWrittenBack) {
  start(2);
  const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
  fill(*queue, *a, 1)->wait();
  fill(*queue, *b, 2)->wait();
  MemObject* const object = a.get();
  enqueueMigrate(*queue, {&object, 1}, CL_MIGRATE_MEM_OBJECT_HOST, {})->wait();
  fill(*queue, *a, 3)->wait();
  EXPECT_EQ(numbers().bytes_out, size);  // the migration

  fill(*queue, *c, 4)->wait();  // b goes: it was used before a
  EXPECT_EQ(numbers().evictions, 1u);
  EXPECT_EQ(numbers().bytes_out, 2 * size);
  fill(*queue, *a, 5)->wait();  // is still there
  EXPECT_EQ(numbers().evictions, 1u);

  copy(*queue, *b, *a)->wait();  // c goes, b comes back
  EXPECT_EQ(numbers().evictions, 2u);
  EXPECT_EQ(numbers().bytes_out, 3 * size);
  EXPECT_EQ(numbers().bytes_in, size);
  copy(*queue, *c, *a)->wait();  // b is valid in host memory, too
  EXPECT_EQ(numbers().evictions, 3u);
  EXPECT_EQ(numbers().bytes_out, 3 * size);
  EXPECT_EQ(contents(*a), std::vector<char>(size, 4));
  EXPECT_EQ(contents(*b), std::vector<char>(size, 2));
}

TEST_F(EvictionTest, WhatWasReleasedIsNotWrittenBack) {
  start(1);
  for (int i = 0; i < 8; ++i) fill(*queue, *platform->buffer(size / 2), char(i))->wait();
  const auto last = platform->buffer(size / 2);
  EXPECT_EQ(fill(*queue, *last, 1)->wait(), CL_COMPLETE);
  EXPECT_EQ(contents(*last), std::vector<char>(size / 2, 1));
}

TEST_F(EvictionTest, ACommandThatCannotFitFailsAlone) {
  start(2);
  const auto a = platform->buffer(size), b = platform->buffer(size / 2), c = platform->buffer(size);
  const auto program = platform->program(
      {{"touch",
        {pointerArgument(true, true), pointerArgument(true, true), pointerArgument(true, true)},
        [](auto&) {}}});
  const auto kernel = make<Kernel>(program, "touch");
  const cl_mem handles[] = {a->handle(), b->handle(), c->handle()};
  for (const cl_uint i : {0, 1, 2}) kernel->setArgument(i, sizeof handles[i], &handles[i]);
  const size_t global = 1;
  NDRange range;
  range.global = &global;
  EXPECT_EQ(enqueueLaunch(*queue, *kernel, range, {})->wait(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(enqueueLaunch(*other, *kernel, range, {})->wait(), CL_COMPLETE);
  EXPECT_EQ(fill(*queue, *a, 1)->wait(), CL_COMPLETE);
  EXPECT_EQ(copy(*queue, *a, *c)->wait(), CL_COMPLETE);
  EXPECT_EQ(contents(*c), std::vector<char>(size, 1));
}

TEST_F(EvictionTest, CommandsWaitForMemoryThatOthersUse) {
  start(2, true);
  const auto third = platform->queue(0);
  const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
  const auto first = fill(*queue, *a, 1), second = fill(*third, *b, 2);
  const auto waiting = fill(*platform->queue(0), *c, 3);
  EXPECT_EQ(platform->fake(0).pending(), 2u);
  EXPECT_EQ(waiting->status(), CL_QUEUED);
  while (platform->fake(0).finishAll() + platform->fake(1).finishAll() != 0) {
  }
  for (const auto& event : {first, second, waiting}) EXPECT_EQ(event->status(), CL_COMPLETE);
  EXPECT_EQ(platform->fake(0).allocatedBytes(), 2 * size);
}

// Who needs that memory waits for it, and nobody else does.
TEST_F(EvictionTest, ObjectsReleaseTheirMemoryWithoutALock) {
  start(2);
  auto a = platform->buffer(size);
  const auto b = platform->buffer(size), c = platform->buffer(size), d = platform->buffer(size);
  for (const auto& buffer : {a, b}) fill(*queue, *buffer, 1)->wait();
  EXPECT_EQ(enqueueMarker(*queue, {})->wait(), CL_COMPLETE);
  std::promise<void> releasing, go;
  const auto gone = go.get_future();
  std::atomic<bool> in_time = false, first = true;
  platform->fake(0).whileReleasing([&] {
    if (!first.exchange(false)) return;
    releasing.set_value();
    in_time = gone.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  });
  std::thread end([&] { a = nullptr; });
  releasing.get_future().wait();
  std::promise<Ref<Event>> evicting;
  std::thread needs([&] { evicting.set_value(fill(*platform->queue(0), *c, 3)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(fill(*other, *d, 4)->wait(), CL_COMPLETE);
  go.set_value();
  end.join();
  needs.join();
  EXPECT_EQ(evicting.get_future().get()->wait(), CL_COMPLETE);
  EXPECT_TRUE(in_time);
  EXPECT_EQ(contents(*c), std::vector<char>(size, 3));
  platform->fake(0).whileReleasing(nullptr);
}

// Who asks what an object has does so under the lock that all claims need.
TEST_F(EvictionTest, NobodyWaitsForAnAllocationToBeMade) {
  start(2);
  const auto a = platform->buffer(size), b = platform->buffer(size);
  std::promise<void> allocating, go;
  const auto gone = go.get_future();
  std::atomic<bool> in_time = false, first = true;
  platform->fake(0).whileAllocating([&] {
    if (!first.exchange(false)) return;
    allocating.set_value();
    in_time = gone.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  });
  std::promise<Ref<Event>> filling;
  std::thread fills([&] { filling.set_value(fill(*queue, *a, 1)); });
  allocating.get_future().wait();
  EXPECT_EQ(a->storage().find(platform->device(0).capabilities().memory_space), nullptr);
  const auto second = fill(*other, *a, 2);
  EXPECT_EQ(fill(*platform->queue(1), *b, 3)->wait(), CL_COMPLETE);
  go.set_value();
  fills.join();
  EXPECT_TRUE(in_time);
  EXPECT_EQ(filling.get_future().get()->wait(), CL_COMPLETE);
  EXPECT_EQ(second->wait(), CL_COMPLETE);
  EXPECT_EQ(contents(*a), std::vector<char>(size, 2));
  platform->fake(0).whileAllocating(nullptr);
}

// The device has less than it said: others use it, too.
TEST_F(EvictionTest, AFailedAllocationEvictsAndIsTriedAgain) {
  start(8);
  const auto a = platform->buffer(size), b = platform->buffer(size);
  fill(*queue, *a, 1)->wait();
  platform->fake(0).failAllocations(2);  // before `a` is written back, and after that
  EXPECT_EQ(fill(*queue, *b, 2)->wait(), CL_COMPLETE);
  EXPECT_EQ(numbers().evictions, 1u);
  platform->fake(0).failAllocations(8);
  EXPECT_EQ(copy(*queue, *b, *a)->wait(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  platform->fake(0).failAllocations(0);
  EXPECT_EQ(copy(*queue, *b, *a)->wait(), CL_COMPLETE);
  EXPECT_EQ(contents(*a), std::vector<char>(size, 2));
}

// An object's end gives memory back after the allocation failed and before anything else is tried.
TEST_F(EvictionTest, WhatWasGivenBackMeanwhileIsEnough) {
  start(8);
  const auto a = platform->buffer(size), b = platform->buffer(size);
  auto gone = platform->buffer(size);
  for (const auto& buffer : {a, gone}) fill(*queue, *buffer, 1)->wait();
  EXPECT_EQ(enqueueMarker(*queue, {})->wait(), CL_COMPLETE);
  platform->fake(0).whileAllocating([&] {
    if (!gone) return;
    std::thread([&] { gone = nullptr; }).join();
    throw Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "too early");
  });
  EXPECT_EQ(copy(*queue, *a, *b)->wait(), CL_COMPLETE);
  platform->fake(0).whileAllocating(nullptr);
  EXPECT_EQ(contents(*b), std::vector<char>(size, 1));
}

// What is allocated beside memory objects: idle ones make room for it.
class RoomTest : public EvictionTest {
 protected:
  // Of buffers. False where there is none.
  bool take(size_t buffers) {
    try {
      allocateIn(platform->context(), platform->device(0), buffers * size,
                 [&](const std::shared_ptr<void>& room) {
                   std::vector<std::unique_ptr<port::Memory>> all;
                   for (size_t i = 0; i < buffers; ++i)
                     all.push_back(platform->fake(0).allocate(size, 128));
                   for (auto& one : all) taken.emplace_back(room, std::move(one));
                 });
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
      return false;
    }
  }
  // With the same bytes on the device and in host memory.
  Ref<Buffer> clean() {
    auto buffer = platform->buffer(size);
    fill(*queue, *buffer, 1)->wait();
    MemObject* const object = buffer.get();
    enqueueMigrate(*queue, {&object, 1}, CL_MIGRATE_MEM_OBJECT_HOST, {})->wait();
    const auto ended = enqueueMarker(*queue, {});
    EXPECT_EQ(ended->wait(), CL_COMPLETE);
    return buffer;
  }

  std::vector<std::pair<std::shared_ptr<void>, std::unique_ptr<port::Memory>>> taken;
};

TEST_F(RoomTest, NothingGoesInVain) {
  start(3);
  const auto idle = clean(), dirty = platform->buffer(size);
  fill(*queue, *dirty, 2)->wait();
  EXPECT_FALSE(take(3));
  EXPECT_EQ(numbers().evictions, 0u);
  EXPECT_TRUE(take(2));
  EXPECT_EQ(numbers().evictions, 1u);
  EXPECT_FALSE(take(1));
  EXPECT_EQ(contents(*dirty), std::vector<char>(size, 2));
}

TEST_F(RoomTest, WhereTheDeviceHasLessIdleObjectsGo) {
  start(8);
  const auto a = clean(), b = clean(), c = clean();
  platform->fake(0).failAllocations(1);
  EXPECT_TRUE(take(2));
  EXPECT_EQ(numbers().evictions, 2u);
  platform->fake(0).failAllocations(3);
  EXPECT_FALSE(take(2));
  EXPECT_EQ(numbers().evictions, 3u);
  EXPECT_EQ(platform->fake(0).allocatedBytes(), 2 * size);
}

// Its bytes are nobody's any more, but its memory is still there.
TEST_F(RoomTest, DirtyObjectsThatAreGoneMakeRoom) {
  start(2);
  ASSERT_TRUE(take(1));
  auto buffer = platform->buffer(size);
  ASSERT_EQ(fill(*queue, *buffer, 1)->wait(), CL_COMPLETE);
  EXPECT_EQ(enqueueMarker(*queue, {})->wait(), CL_COMPLETE);
  EXPECT_FALSE(take(1));
  bool in_time = false;
  std::pair self(this, &in_time);
  buffer->addDestructorCallback(
      [](cl_mem, void* user) {
        const auto& [test, result] = *static_cast<decltype(self)*>(user);
        *result = test->take(1);
      },
      &self);
  buffer = nullptr;
  EXPECT_TRUE(in_time);
}

TEST_F(RoomTest, ACommandThatItLeavesNoRoomFailsAtOnce) {
  start(3);
  const auto idle = clean(), a = platform->buffer(size), b = platform->buffer(size);
  ASSERT_TRUE(take(2));
  EXPECT_EQ(copy(*queue, *a, *b)->wait(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(numbers().evictions, 0u);
  taken.clear();
  EXPECT_EQ(copy(*queue, *idle, *b)->wait(), CL_COMPLETE);
}

TEST_F(RoomTest, ACommandWaitsForWhatIsReservedInVain) {
  start(3);
  const auto a = platform->buffer(size), b = platform->buffer(size);
  std::promise<Ref<Event>> copying;
  std::thread copies;
  const auto fails = [&](const std::shared_ptr<void>&) {
    if (!copies.joinable()) copies = std::thread([&] { copying.set_value(copy(*queue, *a, *b)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    throw Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "less than promised");
  };
  EXPECT_THROW(allocateIn(platform->context(), platform->device(0), 2 * size, fails), Error);
  copies.join();
  EXPECT_EQ(copying.get_future().get()->wait(), CL_COMPLETE);
}

}  // namespace
}  // namespace weft::test
