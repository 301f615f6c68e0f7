// Order, overlap, completion, times, waiting.
#include <thread>

#include "tests/backends/hip/hip_test.h"

namespace weft::test {
namespace {

using StreamTest = HipTest;
using namespace std::chrono_literals;

void askNothing(TestOperation& operation) {
  operation.timed = operation.observed = operation.wants_start = false;
}

TEST_P(StreamTest, OperationsOfOneStreamRunInOrder) {
  const auto memory = device->allocate(4, 4);
  const uint32_t zero = 0;
  write(*memory, &zero, 4);
  GpuLaunchCase launch(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  launch.memory(memory.get());
  constexpr size_t count = 500;
  std::vector<uint32_t> seen(count);
  std::vector<std::unique_ptr<TestOperation>> operations;
  for (size_t i = 0; i < count; ++i) {
    operations.push_back(std::make_unique<TestOperation>(launch.whole()));
    operations.push_back(std::make_unique<TestOperation>(copyToHost(*memory, &seen[i], 4)));
  }
  for (auto& operation : operations) stream->submit(*operation);
  port::Nanoseconds last = 0;
  uint64_t rank = 0;
  for (auto& operation : operations) {
    ASSERT_TRUE(operation->wait());
    ASSERT_EQ(operation->status, 0);
    ASSERT_EQ(operation->starts, 1);
    ASSERT_GT(operation->rank, rank);
    ASSERT_LE(operation->start, operation->end);
    ASSERT_GE(operation->end, last);
    last = operation->end;
    rank = operation->rank;
  }
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], i + 1);
}

TEST_P(StreamTest, TwoStreamsOverlap) {
  const auto flag = device->allocate(8, 4);
  const uint32_t zeros[2] = {};
  write(*flag, zeros, 8);
  GpuLaunchCase await(*module, "await", {1, 1, 1}, {1, 1, 1}),
      set(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation waits(await.memory(flag.get()).whole()), sets(set.memory(flag.get()).whole());
  const auto second = device->createInOrderStream({});
  stream->submit(waits);
  second->submit(sets);
  // The one ends because the other runs meanwhile.
  ASSERT_TRUE(waits.wait() && sets.wait());
}

TEST_P(StreamTest, UnorderedStreamsOverlapAndFinishAll) {
  constexpr uint64_t ns = 20'000'000;
  const auto unordered = device->createStream(port::Order::unordered);
  std::vector<std::unique_ptr<port::Memory>> memory;
  std::vector<std::unique_ptr<GpuLaunchCase>> launches;
  std::vector<std::unique_ptr<TestOperation>> operations;
  const port::Nanoseconds begin = hip::hostNow();
  for (int i = 0; i < 4; ++i) {
    memory.push_back(device->allocate(4, 4));
    launches.push_back(std::make_unique<GpuLaunchCase>(
        *module, "spin", std::array<uint64_t, 3>{1, 1, 1}, std::array<uint64_t, 3>{1, 1, 1}));
    launches.back()->value(ns).memory(memory.back().get());
    operations.push_back(std::make_unique<TestOperation>(launches.back()->whole()));
    unordered->submit(*operations.back());
  }
  for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  if (GetParam() == Subject::gpu) {
    EXPECT_LT(hip::hostNow() - begin, 3 * ns);
  }
}

TEST_P(StreamTest, TimesAreThoseOfTheHostsClock) {
  constexpr uint64_t ns = 20'000'000;
  const auto memory = device->allocate(4, 4);
  GpuLaunchCase launch(*module, "spin", {1, 1, 1}, {1, 1, 1});
  launch.value(ns).memory(memory.get());
  port::Nanoseconds last = 0;
  for (int i = 0; i < 5; ++i) {
    TestOperation operation(launch.whole());
    // A start that is told while it runs is where the host's clock has it.
    operation.wants_start = i % 2 != 0;
    const port::Nanoseconds before = hip::hostNow();
    stream->submit(operation);
    ASSERT_TRUE(operation.wait());
    const port::Nanoseconds after = hip::hostNow();
    EXPECT_GE(operation.start, before);
    EXPECT_LE(operation.end, after);
    EXPECT_GE(operation.start, last);
    if (operation.wants_start) {
      EXPECT_EQ(operation.start_told, operation.start);
    } else {
      EXPECT_GE(operation.end - operation.start, ns * 9 / 10);
    }
    if (GetParam() == Subject::gpu) {
      EXPECT_LE(operation.end - operation.start, ns * 13 / 10);
    }
    last = operation.end;
    std::this_thread::sleep_for(300ms);  // across a new time base
  }
}

TEST_P(StreamTest, AStreamWaitsForAWordOfTheHost) {
  hip::HostWord word;
  {
    const hip::Current current(device->context()->api, 0);
    word = device->context()->runtime->words.take();
  }
  const auto memory = device->allocate(4, 4);
  const uint32_t zero = 0;
  write(*memory, &zero, 4);
  GpuLaunchCase launch(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation operation(launch.memory(memory.get()).whole());
  ASSERT_EQ(stream->wait(word, 3), hip::success);
  stream->submit(operation);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(operation.isFinished());
  word.release(2);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(operation.isFinished());
  word.release(3);
  ASSERT_TRUE(operation.wait());
  EXPECT_EQ(contents<uint32_t>(*memory, 1)[0], 1u);
  device->context()->runtime->words.give(word, 3);
}

TEST_P(StreamTest, AnOperationRunsBehindOneOfAnotherStream) {
  const auto flag = device->allocate(8, 4);
  const uint32_t zeros[2] = {};
  write(*flag, zeros, 8);
  const auto second = device->createInOrderStream({}), third = device->createInOrderStream({});
  GpuLaunchCase await(*module, "await", {1, 1, 1}, {1, 1, 1}),
      set(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation first(await.memory(flag.get()).whole()), then;
  const port::Operation* const behind[] = {&first};
  then.behind = behind;
  stream->submit(first);
  second->submit(then);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(then.isFinished());
  run(*third, set.memory(flag.get()).whole());
  ASSERT_TRUE(first.wait() && then.wait());
}

// Others only run behind it, and the event that comes next is of something that takes any time.
TEST_P(StreamTest, AnEndIsToldWhileWhatIsBehindItWaits) {
  const auto flag = device->allocate(8, 4), spun = device->allocate(4, 4);
  const uint32_t zeros[2] = {};
  write(*flag, zeros, 8);
  const auto second = device->createInOrderStream({});
  GpuLaunchCase spin(*module, "spin", {1, 1, 1}, {1, 1, 1}),
      await(*module, "await", {1, 1, 1}, {1, 1, 1}), set(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation first(spin.value(uint64_t(20'000'000)).memory(spun.get()).whole()),
      later(await.memory(flag.get()).whole());
  first.observed = first.timed = first.wants_start = false;
  first.awaited = true;
  stream->submit(first);
  stream->submit(later);
  EXPECT_TRUE(first.wait(2s));
  EXPECT_FALSE(later.isFinished());
  run(*second, set.memory(flag.get()).whole());
  ASSERT_TRUE(first.wait() && later.wait());
}

TEST_P(StreamTest, AnOperationRunsBehindOneOfAnotherDevice) {
  if (devices.size() < 2) GTEST_SKIP() << "one device";
  const auto other = devices[1]->createInOrderStream({});
  const auto memory = device->allocate(4, 4), copy = devices[1]->allocate(4, 4);
  const uint32_t zero = 0;
  write(*memory, &zero, 4);
  const auto spun = device->allocate(4, 4);
  GpuLaunchCase spin(*module, "spin", {1, 1, 1}, {1, 1, 1}),
      add(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation first(spin.value(uint64_t(20'000'000)).memory(spun.get()).whole()),
      second(add.memory(memory.get()).whole());
  uint32_t seen = 9;
  TestOperation move(port::Copy{{memory.get()}, {copy.get()}, {4, 1, 1}}),
      back(copyToHost(*copy, &seen, 4));
  const port::Operation* const behind[] = {&second};
  move.behind = behind;
  second.observed = second.timed = second.wants_start = false;
  stream->submit(first);
  stream->submit(second);
  other->submit(move);
  other->submit(back);
  ASSERT_TRUE(first.wait() && second.wait() && move.wait() && back.wait());
  EXPECT_EQ(seen, 1u);
}

// The host's part of a small read is left to whoever notices its end, and here that comes late.
TEST_P(StreamTest, WhatWasReadIsUsedByAnotherStream) {
  const auto source = device->allocate(4, 4), target = device->allocate(4, 4);
  const auto second = device->createInOrderStream({});
  GpuLaunchCase add(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  add.memory(source.get());
  const uint32_t zero = 0;
  write(*source, &zero, 4);
  for (uint32_t i = 0; i < 20; ++i) {
    auto through = std::make_unique<uint32_t>(99);
    TestOperation late, old(copyToHost(*source, through.get(), 4)), step(add.whole()),
        in(copyToDevice(through.get(), *target, 4)), fresh(copyToHost(*source, through.get(), 4));
    late.on_finished = [] { std::this_thread::sleep_for(5ms); };
    const port::Operation* const behind[] = {&old};
    in.behind = behind;
    stream->submit(late);
    stream->submit(old);
    second->submit(in);
    second->submit(step);
    second->submit(fresh);
    ASSERT_TRUE(in.wait() && step.wait() && fresh.wait());
    ASSERT_TRUE(late.wait() && old.wait());
    ASSERT_EQ(*through, i + 1);
    ASSERT_EQ(contents<uint32_t>(*target, 1)[0], i);
  }
}

TEST_P(StreamTest, HostCallsRunInStreamOrder) {
  const auto memory = device->allocate(4, 4);
  const uint32_t zero = 0;
  write(*memory, &zero, 4);
  struct Seen {
    uint32_t value = 0, at_call = 0;
  } seen;
  GpuLaunchCase launch(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation operations[3];
  operations[0].work = launch.memory(memory.get()).whole();
  operations[1].work = copyToHost(*memory, &seen.value, 4);
  operations[2].work = port::HostCall{[](void* user) {
                                        auto& s = *static_cast<Seen*>(user);
                                        s.at_call = s.value;
                                      },
                                      &seen};
  for (auto& operation : operations) stream->submit(operation);
  for (auto& operation : operations) ASSERT_TRUE(operation.wait());
  EXPECT_EQ(seen.at_call, 1u);
}

// A stream may be destroyed by what its last operation sets off, and finished() may submit more.
TEST_P(StreamTest, FinishedMaySubmitAndDestroy) {
  auto own = device->createInOrderStream({});
  TestOperation first, second;
  std::atomic<bool> destroyed{false};
  first.on_finished = [&] { own->submit(second); };
  second.on_finished = [&] {
    own = nullptr;
    destroyed = true;
  };
  own->submit(first);
  ASSERT_TRUE(second.wait());
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(second.status, 0);
}

// Operations as a scheduler has them: recycled from finished(), from several streams at once.
TEST_P(StreamTest, Soak) {
  const size_t total = GetParam() == Subject::gpu ? 100'000 : 20'000;
  constexpr size_t streams = 4, depth = 64;
  const auto memory = device->allocate(streams * 4, 8);
  const std::vector<uint32_t> zeros(streams);
  write(*memory, zeros.data(), streams * 4);
  struct Lane {
    std::unique_ptr<hip::InOrderStream> stream;
    std::unique_ptr<GpuLaunchCase> launch;
    std::vector<std::unique_ptr<TestOperation>> operations;
    std::atomic<size_t> submitted{0}, finished{0};
  };
  std::vector<Lane> lanes(streams);
  for (size_t i = 0; i < streams; ++i) {
    Lane& lane = lanes[i];
    lane.stream = device->createInOrderStream({});
    lane.launch = std::make_unique<GpuLaunchCase>(
        *module, "add_one", std::array<uint64_t, 3>{1, 1, 1}, std::array<uint64_t, 3>{1, 1, 1});
    lane.launch->memory(memory.get(), i * 4);
    for (size_t k = 0; k < depth; ++k) {
      lane.operations.push_back(std::make_unique<TestOperation>(lane.launch->whole()));
      TestOperation* const operation = lane.operations.back().get();
      operation->on_finished = [&lane, operation, total] {
        if (lane.submitted.fetch_add(1) < total / streams) lane.stream->submit(*operation);
        lane.finished.fetch_add(1);
      };
    }
  }
  for (Lane& lane : lanes) lane.submitted = depth;
  for (Lane& lane : lanes)
    for (auto& operation : lane.operations) lane.stream->submit(*operation);
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  for (Lane& lane : lanes)
    while (lane.finished < total / streams && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(1ms);
  for (Lane& lane : lanes) ASSERT_EQ(lane.finished, total / streams);
  for (Lane& lane : lanes) lane.stream = nullptr;
  const auto counts = contents<uint32_t>(*memory, streams);
  EXPECT_EQ(counts, std::vector<uint32_t>(streams, uint32_t(total / streams)));
}

// The completion thread and a waiting caller at once: each operation finishes once, in order.
TEST_P(StreamTest, CallersAssist) {
  const auto by_word = device->createInOrderStream({});
  const auto by_event = device->createInOrderStream({.word = false});
  for (int round = 0; round < 200; ++round) {
    auto& own = round % 2 ? by_word : by_event;
    TestOperation operations[5];
    for (auto& operation : operations) {
      if (round % 4 < 2) askNothing(operation);
      own->submit(operation);
    }
    while (!operations[4].isFinished()) own->assist([&] { return operations[4].isFinished(); });
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(operations[i].wait());
      ASSERT_EQ(operations[i].finishes, 1);
      ASSERT_EQ(operations[i].status, 0);
      ASSERT_TRUE(i == 0 || operations[i].rank > operations[i - 1].rank);
    }
  }
}

TEST_P(StreamTest, WhateverIsAskedForTimesAreInOrder) {
  for (const bool timed : {false, true})
    for (const bool word : {false, true}) {
      const auto own = device->createInOrderStream({.spin_ns = 0, .word = word});
      TestOperation operations[50];
      const port::Nanoseconds before = hip::hostNow();
      for (auto& operation : operations) {
        if (!timed) askNothing(operation);
        own->submit(operation);
      }
      port::Nanoseconds last = before;
      for (auto& operation : operations) {
        ASSERT_TRUE(operation.wait());
        EXPECT_GE(operation.start, before);
        EXPECT_GE(operation.end, last);
        EXPECT_EQ(operation.starts, timed ? 1 : 0);
        last = operation.end;
      }
      EXPECT_LE(last, hip::hostNow());
    }
}

// What a stream has waited for once it need not wait for again, nor for what came before that.
TEST_P(StreamTest, WaitsForAnotherStreamOnce) {
  static std::atomic<int> waits;
  static decltype(hip::Api::streamWaitEvent) wait;
  hip::Api& api = device->context()->runtime->provider->api;
  wait = api.streamWaitEvent;
  api.streamWaitEvent = [](hip::StreamHandle stream, hip::EventHandle event, unsigned flags) {
    ++waits;
    return wait(stream, event, flags);
  };
  const auto flag = device->allocate(8, 4);
  const uint32_t zeros[2] = {};
  write(*flag, zeros, 8);
  const auto second = device->createInOrderStream({}), third = device->createInOrderStream({});
  GpuLaunchCase await(*module, "await", {1, 1, 1}, {1, 1, 1}),
      set(*module, "add_one", {1, 1, 1}, {1, 1, 1});
  TestOperation first(await.memory(flag.get()).whole()), next, behind_both, behind_first;
  const port::Operation* const both[] = {&first, &next};
  behind_both.behind = both;
  behind_first.behind = {both, 1};
  stream->submit(first);
  stream->submit(next);
  waits = 0;
  second->submit(behind_both);
  second->submit(behind_first);
  EXPECT_EQ(waits, 1);
  EXPECT_FALSE(behind_first.isFinished());
  run(*third, set.memory(flag.get()).whole());
  EXPECT_TRUE(first.wait() && next.wait() && behind_both.wait() && behind_first.wait());
  api.streamWaitEvent = wait;
}

// Counts the events that are recorded and the words that are written.
class MarkCounter {
 public:
  explicit MarkCounter(hip::Api& api) : api_(api) {
    record_ = api.eventRecord;
    write_ = api.streamWriteValue32;
    marks = 0;
    api.eventRecord = [](hip::EventHandle event, hip::StreamHandle stream) {
      ++marks;
      return record_(event, stream);
    };
    if (!write_) return;
    api.streamWriteValue32 = [](hip::StreamHandle stream, void* at, uint32_t value,
                                unsigned flags) {
      ++marks;
      return write_(stream, at, value, flags);
    };
  }
  ~MarkCounter() {
    api_.eventRecord = record_;
    api_.streamWriteValue32 = write_;
  }
  MarkCounter(const MarkCounter&) = delete;
  MarkCounter& operator=(const MarkCounter&) = delete;

  static inline std::atomic<int> marks{0};

 private:
  hip::Api& api_;
  static inline decltype(hip::Api::eventRecord) record_ = nullptr;
  static inline decltype(hip::Api::streamWriteValue32) write_ = nullptr;
};

// What nobody observes has no mark to itself, and yet it ends: by a flush, by a later operation
// that is observed, or by and by.
TEST_P(StreamTest, OneMarkEndsABatch) {
  enum class End : uint8_t { flush, later, patience };
  const MarkCounter counter(device->context()->runtime->provider->api);
  for (const End end : {End::flush, End::later, End::patience}) {
    constexpr int count = 50;
    // Nobody's patience ends but where that is asked for.
    const bool patience = end == End::patience;
    const auto own =
        device->createInOrderStream({.spin_ns = patience ? 50'000'000u : 1'000'000'000'000u});
    TestOperation first;
    own->submit(first);
    ASSERT_TRUE(first.wait());
    const int before = MarkCounter::marks;
    TestOperation operations[count];
    for (auto& operation : operations) {
      askNothing(operation);
      own->submit(operation);
    }
    TestOperation last;
    last.timed = last.wants_start = false;
    if (end == End::flush) own->flush();
    if (end == End::later) own->submit(last);
    for (auto& operation : operations) {
      ASSERT_TRUE(operation.wait());
      ASSERT_EQ(operation.status, 0);
    }
    if (end == End::later) {
      ASSERT_TRUE(last.wait());
    }
    // It may end while they are submitted; yet not after each of them.
    EXPECT_GE(MarkCounter::marks - before, 1);
    EXPECT_LE(MarkCounter::marks - before, patience ? count / 2 : 1);
  }
}

// Ends of operations that were never asked for are told in time, however many there are.
TEST_P(StreamTest, BatchesDoNotGrowWithoutEnd) {
  const auto own = device->createInOrderStream({.spin_ns = 1'000'000'000'000});
  TestOperation operations[200];
  for (auto& operation : operations) {
    askNothing(operation);
    own->submit(operation);
  }
  ASSERT_TRUE(operations[100].wait());
  own->flush();
  ASSERT_TRUE(operations[199].wait());
}

INSTANTIATE_TEST_SUITE_P(Hip, StreamTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
