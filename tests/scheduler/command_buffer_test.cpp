// Command buffers on fake devices: what is submitted when, what moves, what a failure leaves.
#include "scheduler/command_buffer.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

constexpr size_t size = 1024;
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

class CommandBufferTest : public testing::Test {
 protected:
  using Points = std::vector<cl_sync_point_khr>;

  // Two devices, the first with room for so many buffers.
  void start(bool manual, size_t buffers = 64, uint64_t seed = 1) {
    FakeOptions first, second;
    first.manual = second.manual = manual;
    first.max_delay = second.max_delay = std::chrono::microseconds(0);
    first.memory_bytes = buffers * size;
    first.seed = seed;
    first.runs_ahead = first.fences = runs_ahead;
    platform = std::make_unique<FakePlatform>(std::vector<FakeOptions>{first, second});
    queue = platform->queue(0);
    unordered = platform->queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    other = platform->queue(1);
  }
  // Of so many buffers, on the first device: somebody else's.
  std::vector<std::unique_ptr<port::Memory>> room(size_t buffers) {
    std::vector<std::unique_ptr<port::Memory>> taken(buffers);
    for (auto& one : taken) one = platform->fake(0).allocate(size, 128);
    return taken;
  }
  Ref<CommandBuffer> record(const Ref<Queue>& on) {
    return make<CommandBuffer>(on, 0, 0, std::vector<cl_command_buffer_properties_khr>{});
  }
  static cl_sync_point_khr fill(CommandBuffer& into, Buffer& target, char value,
                                const Points& waits = {}, size_t offset = 0, size_t bytes = size) {
    return into.record(
        recorded(FillWork(target, &value, 1, {{offset, 0, 0}, bytes, bytes}, {bytes, 1, 1})),
        waits);
  }
  static cl_sync_point_khr copy(CommandBuffer& into, Buffer& from, Buffer& to,
                                const Points& waits = {}) {
    return into.record(
        recorded(CopyWork{CopyEnd::linear(from, 0), CopyEnd::linear(to, 0), {size, 1, 1}}), waits);
  }
  void runDevices() {
    while (platform->fake(0).finishAll() + platform->fake(1).finishAll() != 0) {
    }
  }
  // In automatic mode.
  std::vector<char> contents(Buffer& source) {
    std::vector<char> bytes(size);
    EXPECT_EQ(enqueueRead(*other, source, 0, size, bytes.data(), {})->wait(), CL_COMPLETE);
    return bytes;
  }
  static void set(Queue& queue, Buffer& target, char value) {
    enqueueFill(queue, target, &value, 1, 0, size, {});
  }
  DeviceStatistics numbers() { return statistics(platform->context(), platform->device(0)); }

  bool runs_ahead = false;  // the first device's streams
  std::unique_ptr<FakePlatform> platform;
  Ref<Queue> queue, unordered, other;
};

TEST_F(CommandBufferTest, AnInOrderQueueGetsAllAtOnce) {
  start(true);
  const auto buffer = platform->buffer(size);
  const auto commands = record(queue);
  for (char i = 0; i < 5; ++i) fill(*commands, *buffer, i);
  commands->finalize();
  for (int i = 0; i < 3; ++i) {
    const auto event = commands->enqueue(*queue, {});
    EXPECT_EQ(platform->fake(0).pending(), 5u);
    EXPECT_EQ(platform->fake(0).able(), 1u);
    runDevices();
    EXPECT_EQ(event->status(), CL_COMPLETE);
  }
}

TEST_F(CommandBufferTest, AnUnorderedOneGetsWhatIsReady) {
  start(true);
  const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
  const auto commands = record(unordered);
  const auto first = fill(*commands, *a, 1);
  fill(*commands, *b, 2);
  copy(*commands, *a, *c, {first});
  commands->record(nullptr, {});  // a barrier
  copy(*commands, *c, *b);
  copy(*commands, *c, *a);
  commands->finalize();
  for (const size_t choice : {0, 1, 2}) {
    const auto event = commands->enqueue(*unordered, {});
    EXPECT_EQ(platform->fake(0).pending(), 2u);
    platform->fake(0).finish();  // the first: what waits for it follows
    EXPECT_EQ(platform->fake(0).pending(), 2u);
    while (platform->fake(0).log().size() % 5 < 3) platform->fake(0).finishAny(choice);
    EXPECT_EQ(platform->fake(0).pending(), 2u);
    runDevices();
    EXPECT_EQ(event->status(), CL_COMPLETE);
  }
}

TEST_F(CommandBufferTest, ABarrierWithPointsHoldsWhatFollowsAndWaitsForNoMore) {
  start(true);
  const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
  const auto commands = record(unordered);
  const auto first = fill(*commands, *a, 1);
  fill(*commands, *b, 2);
  commands->record(nullptr, Points{first});
  fill(*commands, *c, 3);
  commands->record(nullptr, {});
  fill(*commands, *a, 4);
  commands->finalize();
  const auto event = commands->enqueue(*unordered, {});
  EXPECT_EQ(platform->fake(0).pending(), 2u);
  platform->fake(0).finish();
  EXPECT_EQ(platform->fake(0).pending(), 2u);  // b and c
  platform->fake(0).finishAny(1);
  EXPECT_EQ(platform->fake(0).pending(), 1u);  // the last waits for b, too
  platform->fake(0).finish();
  EXPECT_EQ(platform->fake(0).pending(), 1u);
  runDevices();
  EXPECT_EQ(event->status(), CL_COMPLETE);
}

TEST_F(CommandBufferTest, MovesWhatItReadsOnceAndWhatItOverwritesNever) {
  start(false);
  const auto in = platform->buffer(size), between = platform->buffer(size),
             out = platform->buffer(size);
  for (const auto& each : {in, between, out}) set(*other, *each, 1);
  other->finish();
  const auto commands = record(queue);
  fill(*commands, *in, 2, {}, 0, size / 2);
  copy(*commands, *in, *between);
  for (int i = 0; i < 10; ++i) {
    copy(*commands, *between, *out);
    copy(*commands, *in, *out);
  }
  commands->finalize();
  EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_COMPLETE);
  EXPECT_EQ(numbers().bytes_in, size / 2);
  EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_COMPLETE);
  EXPECT_EQ(numbers().bytes_in, size / 2);
  const auto result = contents(*out);
  EXPECT_EQ(std::count(result.begin(), result.end(), 2), std::ptrdiff_t(size / 2));
  EXPECT_EQ(std::count(result.begin(), result.end(), 1), std::ptrdiff_t(size / 2));
}

TEST_F(CommandBufferTest, AFailureIsTheWholesAndItsBytesAreLost) {
  for (const bool in_order : {true, false}) {
    start(true);
    const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
    set(*queue, *c, 5);
    runDevices();
    const auto& on = in_order ? queue : unordered;
    const auto commands = record(on);
    const auto point = fill(*commands, *a, 1);
    copy(*commands, *a, *b, {point});
    commands->finalize();
    const auto event = commands->enqueue(*on, {});
    const Ref<Event> after = enqueueCopy(*other, *c, *a, 0, 0, size, {&event, 1});
    ASSERT_TRUE(platform->fake(0).fail(CL_OUT_OF_RESOURCES));
    runDevices();
    EXPECT_EQ(event->status(), CL_OUT_OF_RESOURCES);
    EXPECT_EQ(after->status(), dependent);
    std::vector<char> bytes(size);
    for (const auto& lost : {a, b}) {
      const auto read = enqueueRead(*other, *lost, 0, size, bytes.data(), {});
      runDevices();
      EXPECT_EQ(read->status(), dependent);
    }
    const auto again = commands->enqueue(*on, {});
    const auto read = enqueueRead(*queue, *b, 0, size, bytes.data(), {&again, 1});
    runDevices();
    EXPECT_EQ(again->status(), CL_COMPLETE);
    EXPECT_EQ(read->status(), CL_COMPLETE);
    EXPECT_EQ(bytes, std::vector<char>(size, 1));
  }
}

TEST_F(CommandBufferTest, WhatNeverRanChangesNothing) {
  start(false);
  const auto a = platform->buffer(size);
  set(*queue, *a, 5);
  const auto commands = record(queue);
  fill(*commands, *a, 1);
  commands->finalize();
  const auto never = make<UserEvent>(Ref<Context>(&platform->context()));
  const Ref<Event> wait = never;
  const auto event = commands->enqueue(*queue, {&wait, 1});
  never->setStatus(-1);
  EXPECT_EQ(event->wait(), dependent);
  EXPECT_EQ(contents(*a), std::vector<char>(size, 5));
}

// However much of it there is, other parts of the object are not the command buffer's.
TEST_F(CommandBufferTest, MovesNothingBetweenItsSubBuffers) {
  start(false);
  constexpr size_t part = 1024;
  const auto root = platform->buffer(4 * part);
  const char one = 1;
  enqueueFill(*other, *root, &one, 1, 0, 4 * part, {})->wait();
  const auto commands = record(queue);
  for (const size_t origin : {size_t(0), 3 * part}) {
    const auto own = make<Buffer>(root, CL_MEM_READ_WRITE, origin, part);
    for (size_t at = 0; at < part; at += 2) fill(*commands, *own, 2, {}, at, 1);
  }
  commands->finalize();
  EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_COMPLETE);
  EXPECT_LE(numbers().bytes_in, 2 * part);
  std::vector<char> bytes(4 * part);
  enqueueRead(*other, *root, 0, bytes.size(), bytes.data(), {})->wait();
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 2), std::ptrdiff_t(part));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 1), std::ptrdiff_t(3 * part));
}

// The device has room for three of ten buffers.
TEST_F(CommandBufferTest, AWorkingSetLargerThanTheMemory) {
  start(false, 4);
  std::shared_ptr<void> room;  // for all but three of them
  allocateIn(platform->context(), platform->device(0), size,
             [&](std::shared_ptr<void> given) { room = std::move(given); });
  std::vector<Ref<Buffer>> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(platform->buffer(size));
  const auto timed = platform->queue(0, CL_QUEUE_PROFILING_ENABLE);
  const auto commands = record(timed);
  fill(*commands, *buffers[0], 7);
  for (int i = 0; i < 9; ++i) copy(*commands, *buffers[i], *buffers[i + 1]);
  commands->finalize();
  for (int i = 0; i < 2; ++i) {
    const auto event = commands->enqueue(*timed, {});
    EXPECT_EQ(event->wait(), CL_COMPLETE);
    EXPECT_LE(event->times().queued, event->times().submitted);
    EXPECT_LE(event->times().started, event->times().ended);
  }
  for (const auto& buffer : buffers) EXPECT_EQ(contents(*buffer), std::vector<char>(size, 7));
  EXPECT_LE(platform->fake(0).allocatedBytes(), 3 * size);
  EXPECT_EQ(platform->fake(0).violations(), 0u);
}

// Others have five of its eight buffers' room, so what is cut by what the device says it has does
// not fit; nor the halves of it. Another device wants what the whole claimed meanwhile.
TEST_F(CommandBufferTest, LessMemoryThanTheDeviceSaid) {
  for (const int kind : {0, 1, 2, 3}) {
    const bool in_order = kind % 2 == 0;
    runs_ahead = kind >= 2;
    start(false, 8);
    const auto others = room(5);
    std::vector<Ref<Buffer>> buffers;
    for (int i = 0; i < 10; ++i) buffers.push_back(platform->buffer(size));
    const auto& on = in_order ? queue : unordered;
    const auto commands = record(on);
    auto point = fill(*commands, *buffers[0], 7);
    for (int i = 0; i < 9; ++i) point = copy(*commands, *buffers[i], *buffers[i + 1], {point});
    commands->finalize();
    Ref<Event> beside;
    platform->fake(0).whileAllocating([&] {
      if (!beside) beside = enqueueCopy(*other, *buffers[6], *buffers[9], 0, 0, size, {});
    });
    for (int i = 0; i < 3; ++i) {
      const auto event = commands->enqueue(*on, {});
      EXPECT_EQ(event->wait(), CL_COMPLETE);
      EXPECT_LE(event->times().started, event->times().ended);
    }
    EXPECT_EQ(beside->wait(), CL_COMPLETE);
    for (const auto& buffer : buffers) EXPECT_EQ(contents(*buffer), std::vector<char>(size, 7));
    EXPECT_EQ(platform->fake(0).violations(), 0u);
  }
}

TEST_F(CommandBufferTest, FailsWhereOneOfItsCommandsHasTooLittleMemory) {
  start(false, 8);
  const auto others = room(7);
  const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
  for (const auto& each : {a, b, c}) set(*other, *each, 5);
  const auto commands = record(queue);
  fill(*commands, *a, 1);
  copy(*commands, *a, *b);
  fill(*commands, *c, 1);
  commands->finalize();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(contents(*c), std::vector<char>(size, 5));
}

// One that is cut into pieces when it is finalized, or when its claim shows what it can have. What
// the first piece wrote is lost with the last one's.
TEST_F(CommandBufferTest, AFailureOfALaterPieceIsTheWholes) {
  for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
    SCOPED_TRACE(testing::Message() << "kind " << kind);
    const bool in_order = kind % 2 == 0, when_claimed = kind >= 4;
    runs_ahead = kind % 4 >= 2;
    start(true, when_claimed ? 8 : 3);
    const auto others = room(when_claimed ? 5 : 0);
    std::vector<Ref<Buffer>> buffers;
    for (int i = 0; i < 5; ++i) {
      buffers.push_back(platform->buffer(size));
      set(*other, *buffers[i], 5);
    }
    runDevices();
    const auto& on = in_order ? queue : unordered;
    const auto commands = record(on);
    auto point = fill(*commands, *buffers[0], 7);
    for (int i = 0; i < 4; ++i) point = copy(*commands, *buffers[i], *buffers[i + 1], {point});
    commands->finalize();
    for (int round = 0; round < 2; ++round) {
      const auto event = commands->enqueue(*on, {});
      const size_t until = platform->fake(0).log().size();
      const auto ran = [&] {
        const auto log = platform->fake(0).log();
        return std::count_if(log.begin() + std::ptrdiff_t(until), log.end(), [](const auto& each) {
          return each.kind == FakeRecord::Kind::fill ||
                 (each.kind == FakeRecord::Kind::copy && each.from == each.to);
        });
      };
      while (ran() < 4 && platform->fake(0).finish() + platform->fake(1).finish() != 0) {
      }
      ASSERT_EQ(ran(), 4);
      // The last one, or a transfer of its piece's.
      while (event->status() > 0) {
        ASSERT_TRUE(platform->fake(0).fail(CL_OUT_OF_RESOURCES));
        while (platform->fake(1).finish()) {
        }
      }
      EXPECT_LT(event->status(), 0);
      for (const auto& buffer : buffers) {
        std::vector<char> bytes(size);
        const auto read = enqueueRead(*other, *buffer, 0, size, bytes.data(), {});
        runDevices();
        EXPECT_EQ(read->status(), dependent);
      }
    }
    const auto again = commands->enqueue(*on, {});
    runDevices();
    EXPECT_EQ(again->status(), CL_COMPLETE);
    std::vector<char> bytes(size);
    enqueueRead(*other, *buffers[0], 0, size, bytes.data(), {});
    runDevices();
    EXPECT_EQ(bytes, std::vector<char>(size, 7));
    EXPECT_EQ(platform->fake(0).violations(), 0u);
  }
}

// Of those that come behind the pieces fails who takes what one of them left, and nobody else.
TEST_F(CommandBufferTest, WhoFollowsPiecesThatFail) {
  runs_ahead = true;
  start(true, 8);
  std::vector<Ref<Buffer>> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(platform->buffer(size));
  const auto commands = record(queue);
  fill(*commands, *buffers[0], 7);
  for (int i = 0; i < 4; ++i) copy(*commands, *buffers[i], *buffers[i + 1]);
  commands->finalize();
  {
    const auto others = room(5);  // so that it is cut
    commands->enqueue(*queue, {});
    runDevices();
  }
  const auto program =
      platform->program({{"add", {pointerArgument(true, true)}, [](const FakeLaunch& launch) {
                            for (size_t i = 0; i < size; ++i) ++launch.pointer<char>(0)[i];
                          }}});
  const auto kernel = make<Kernel>(program, "add");
  const auto add = [&](Buffer& target, WaitList waits) {
    const cl_mem handle = target.handle();
    kernel->setArgument(0, sizeof handle, &handle);
    const size_t one = 1;
    return enqueueLaunch(*queue, *kernel, {1, nullptr, &one, &one}, waits);
  };
  const auto event = commands->enqueue(*queue, {});
  const auto takes = enqueueCopy(*queue, *buffers[0], *buffers[4], 0, 0, size, {});
  const auto changes = add(*buffers[1], {});
  set(*queue, *buffers[2], 3);
  const char value = 3;
  const Ref<Event> overwrites = enqueueFill(*queue, *buffers[3], &value, 1, 0, size, {});
  const auto goes_on = add(*buffers[3], {&overwrites, 1});
  for (int i = 0; i < 4; ++i) platform->fake(0).finish();
  ASSERT_TRUE(platform->fake(0).fail(CL_OUT_OF_RESOURCES));
  runDevices();
  EXPECT_EQ(event->status(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(takes->status(), dependent);
  EXPECT_EQ(changes->status(), dependent);
  EXPECT_EQ(goes_on->status(), CL_COMPLETE);
  const cl_int lost = dependent, there = CL_COMPLETE;
  std::vector<char> bytes(size);
  for (const auto& [buffer, status, expected] :
       {std::tuple{0, lost, 0}, {1, lost, 0}, {2, there, 3}, {3, there, 4}, {4, lost, 0}}) {
    const auto read = enqueueRead(*queue, *buffers[size_t(buffer)], 0, size, bytes.data(), {});
    runDevices();
    EXPECT_EQ(read->status(), status) << buffer;
    if (status == lost) continue;
    EXPECT_EQ(bytes, std::vector<char>(size, char(expected)));
  }
}

// A piece that cannot be submitted behind one that has run fails the whole as well.
TEST_F(CommandBufferTest, ALaterPieceHasTooLittleMemory) {
  start(false, 8);
  const auto others = room(7);
  const auto a = platform->buffer(size), b = platform->buffer(size), c = platform->buffer(size);
  for (const auto& each : {a, b, c}) set(*other, *each, 5);
  other->finish();
  const auto commands = record(queue);
  fill(*commands, *a, 1);
  copy(*commands, *b, *c);
  commands->finalize();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    std::vector<char> bytes(size);
    for (const auto& lost : {a, c})
      EXPECT_EQ(enqueueRead(*other, *lost, 0, size, bytes.data(), {})->wait(), dependent);
    EXPECT_EQ(contents(*b), std::vector<char>(size, 5));
  }
}

TEST_F(CommandBufferTest, NoticesThatItsMemoryWasTaken) {
  start(false, 2);
  const auto a = platform->buffer(size), b = platform->buffer(size);
  const auto c = platform->buffer(size), d = platform->buffer(size);
  const auto commands = record(queue);
  fill(*commands, *a, 3);
  copy(*commands, *a, *b);
  commands->finalize();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_COMPLETE);
    set(*queue, *c, 4);
    set(*queue, *d, 5);
    queue->finish();
    EXPECT_EQ(contents(*b), std::vector<char>(size, 3));
  }
  EXPECT_GE(numbers().evictions, 4u);
  EXPECT_EQ(platform->fake(0).violations(), 0u);
}

// Random copies and fills, ordered where they meet, in queues of both kinds and interleaved with
// commands of another device, against the same done one after the other.
TEST_F(CommandBufferTest, RandomRecordingsDoWhatTheirCommandsWould) {
  constexpr size_t objects = 6;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    start(false, seed % 2 ? 64 : 3 + seed % 4, seed);
    const auto others = room(seed % 4);
    std::vector<Ref<Buffer>> buffers;
    std::vector<char> model(objects);
    for (size_t i = 0; i < objects; ++i) {
      buffers.push_back(platform->buffer(size));
      set(*other, *buffers[i], model[i] = char(i));
    }
    other->finish();
    const auto& on = random() % 2 ? queue : unordered;
    const auto commands = record(on);
    std::vector<std::pair<size_t, int>> steps;  // target; source, or -1 - value
    std::vector<Points> users(objects);
    for (size_t i = 0, count = 1 + random() % 20; i < count; ++i) {
      const size_t to = random() % objects, from = random() % objects;
      if (random() % 8 == 0)
        commands->record(nullptr, {});
      else if (to != from && random() % 3) {
        Points waits = users[to];
        waits.insert(waits.end(), users[from].begin(), users[from].end());
        const auto point = copy(*commands, *buffers[from], *buffers[to], waits);
        users[to].push_back(point);
        users[from].push_back(point);
        steps.emplace_back(to, int(from));
      } else {
        users[to].push_back(fill(*commands, *buffers[to], char(i + 10), users[to]));
        steps.emplace_back(to, -1 - int(i + 10));
      }
    }
    commands->finalize();
    for (int round = 0; round < 3; ++round) {
      const auto& where = random() % 2 ? queue : unordered;
      EXPECT_EQ(commands->enqueue(*where, {})->wait(), CL_COMPLETE);
      for (const auto& [to, from] : steps)
        model[to] = from < 0 ? char(-1 - from) : model[size_t(from)];
      const size_t touched = random() % objects;
      set(*other, *buffers[touched], model[touched] = char(100 + round));
      other->finish();
    }
    for (size_t i = 0; i < objects; ++i)
      EXPECT_EQ(contents(*buffers[i]), std::vector<char>(size, model[i]));
    EXPECT_EQ(platform->fake(0).violations(), 0u);
  }
}

}  // namespace
}  // namespace weft::test
