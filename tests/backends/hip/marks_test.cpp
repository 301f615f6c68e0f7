// What is told of operations, and when, while something holds up what comes behind them.
#include <deque>
#include <set>
#include <thread>

#include "tests/backends/hip/running_kernel.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

using MarksTest = HipTest;

// A driver whose queue is full: launches of other threads return only when they are let go, or
// after a while.
class FullQueue {
 public:
  explicit FullQueue(hip::Api& api) : api_(api) {
    launch_ = api.moduleLaunchKernel;
    full = false;
    waiting = false;
    api.moduleLaunchKernel = [](auto... arguments) {
      for (int i = 0; full && i < 3000; ++i) {
        waiting = true;
        std::this_thread::sleep_for(1ms);
      }
      waiting = false;
      return launch_(arguments...);
    };
  }
  ~FullQueue() { api_.moduleLaunchKernel = launch_; }
  FullQueue(const FullQueue&) = delete;
  FullQueue& operator=(const FullQueue&) = delete;

  static inline std::atomic<bool> full, waiting;

 private:
  hip::Api& api_;
  static inline decltype(hip::Api::moduleLaunchKernel) launch_ = nullptr;
};

// Neither the stream's thread nor a caller that assists waits for who submits.
TEST_P(MarksTest, AnEndIsToldWhileSomebodyCannotSubmit) {
  const FullQueue queue(device->context()->runtime->provider->api);
  for (const bool assists : {false, true}) {
    const auto other = device->createInOrderStream({.spin_ns = 20'000'000});
    RunningKernel kernel(*device, *module);
    GpuLaunchCase empty(*module, "empty", {1, 1, 1}, {1, 1, 1});
    TestOperation first(kernel.launch()), later(empty.whole());
    // A fence, on which nobody can sleep.
    first.timed = first.wants_start = first.observed = false;
    first.awaited = true;
    other->submit(first);
    kernel.awaitBegin();
    FullQueue::full = true;
    std::thread submitter([&] { other->submit(later); });
    std::this_thread::sleep_for(60ms);  // nobody looks at it any more
    ASSERT_TRUE(FullQueue::waiting);
    kernel.end();
    while (assists && FullQueue::waiting && !first.isFinished())
      other->assist([&] { return first.isFinished(); });
    EXPECT_TRUE(first.wait(2s));
    EXPECT_TRUE(FullQueue::waiting);
    FullQueue::full = false;
    submitter.join();
    ASSERT_TRUE(first.wait() && later.wait());
  }
}

// The events and words that the runtime is asked for, and which of the events interrupt: those made
// since then for a thread to sleep on.
class CountedMarks {
 public:
  explicit CountedMarks(hip::Api& api) : api_(api) {
    make_ = api.eventCreateWithFlags;
    record_ = api.eventRecord;
    write_ = api.streamWriteValue32;
    events = interrupts = words = 0;
    api.eventCreateWithFlags = [](hip::EventHandle* event, unsigned flags) {
      const hip::Status status = make_(event, flags);
      if (flags & hip::event_blocking_sync) interrupting_.lock()->insert(*event);
      return status;
    };
    api.eventRecord = [](hip::EventHandle event, auto... arguments) {
      interrupts += interrupting_.lock()->contains(event);
      return ++events, record_(event, arguments...);
    };
    api.streamWriteValue32 = [](auto... arguments) { return ++words, write_(arguments...); };
  }
  ~CountedMarks() {
    api_.eventCreateWithFlags = make_;
    api_.eventRecord = record_;
    api_.streamWriteValue32 = write_;
    interrupting_.lock()->clear();
  }
  CountedMarks(const CountedMarks&) = delete;
  CountedMarks& operator=(const CountedMarks&) = delete;

  static inline std::atomic<int> events, interrupts, words;

 private:
  hip::Api& api_;
  static inline Guarded<std::set<hip::EventHandle>> interrupting_{std::set<hip::EventHandle>{}};
  static inline decltype(hip::Api::eventCreateWithFlags) make_ = nullptr;
  static inline decltype(hip::Api::eventRecord) record_ = nullptr;
  static inline decltype(hip::Api::streamWriteValue32) write_ = nullptr;
};

// An event costs more than a word and is for those who sleep.
TEST_P(MarksTest, WhatIsAloneHasAWordUntilSomebodySleeps) {
  const CountedMarks counted(device->context()->runtime->provider->api);
  for (const bool sleeps : {false, true}) {
    const auto other = device->createInOrderStream({.spin_ns = sleeps ? 0 : 2'000'000'000u});
    RunningKernel kernel(*device, *module);
    TestOperation alone(kernel.launch());
    alone.timed = alone.wants_start = false;
    CountedMarks::events = CountedMarks::words = 0;
    other->submit(alone);
    other->flush();
    kernel.awaitBegin();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(CountedMarks::events, sleeps ? 1 : 0);
    EXPECT_EQ(CountedMarks::words, 1);
    kernel.end();
    ASSERT_TRUE(alone.wait());
  }
}

// Nobody sleeps while a caller looks: the event would interrupt it.
TEST_P(MarksTest, WhoAssistsIsNotInterrupted) {
  const CountedMarks counted(device->context()->runtime->provider->api);
  for (const bool observed : {false, true}) {
    const auto other =
        device->createInOrderStream({.spin_ns = 20'000'000, .assist_ns = 20'000'000'000u});
    RunningKernel kernel(*device, *module);
    TestOperation alone(kernel.launch());
    alone.timed = alone.wants_start = false;
    alone.observed = observed;
    CountedMarks::events = CountedMarks::words = 0;
    other->submit(alone);
    std::thread ends([&] {
      kernel.awaitBegin();
      std::this_thread::sleep_for(60ms);
      EXPECT_EQ(CountedMarks::events, 0);
      EXPECT_EQ(CountedMarks::words, 1);
      kernel.end();
    });
    other->assist([&] { return alone.isFinished(); });
    EXPECT_TRUE(alone.isFinished());
    ends.join();
    ASSERT_TRUE(alone.wait());
  }
}

// Also where the thread sleeps, and does not look at the word.
TEST_P(MarksTest, TheEndOfWhatWasAloneIsToldBeforeThatOfWhatCameBehind) {
  const CountedMarks counted(device->context()->runtime->provider->api);
  hip::HostWord word;
  {
    const hip::Current current(device->context()->api, 0);
    word = device->context()->runtime->words.take();
  }
  for (const bool waits : {false, true}) {
    const auto other = device->createInOrderStream({.spin_ns = 20'000'000});
    RunningKernel first(*device, *module), second(*device, *module);
    TestOperation alone(first.launch()), behind(second.launch());
    alone.timed = alone.wants_start = behind.timed = behind.wants_start = false;
    CountedMarks::events = CountedMarks::words = 0;
    other->submit(alone);
    if (waits) {
      ASSERT_EQ(other->wait(word, 1), hip::success);
    }
    other->submit(behind);
    EXPECT_EQ(CountedMarks::interrupts, waits ? 1 : 0);
    EXPECT_EQ(CountedMarks::events, waits ? 2 : 1);
    EXPECT_EQ(CountedMarks::words, 1);
    first.awaitBegin();
    std::this_thread::sleep_for(60ms);  // nobody looks at it any more
    first.end();
    EXPECT_TRUE(alone.wait(2s));
    EXPECT_FALSE(behind.isFinished());
    word.release(1);
    second.end();
    ASSERT_TRUE(behind.wait());
  }
  device->context()->runtime->words.give(word, 1);
}

// Submitting must not be held up by interrupts, but where operations take long threads sleep until
// the end of each.
TEST_P(MarksTest, OnlyEndsThatTakeLongInterrupt) {
  const CountedMarks counted(device->context()->runtime->provider->api);
  const auto other = device->createInOrderStream({.spin_ns = 2'000'000'000});
  for (const bool known : {false, true}) {
    RunningKernel kernel(*device, *module);
    GpuLaunchCase empty(*module, "empty", {1, 1, 1}, {1, 1, 1});
    std::deque<TestOperation> operations;
    operations.emplace_back(kernel.launch());
    for (int i = 0; i < 8; ++i) operations.emplace_back(empty.whole());
    CountedMarks::interrupts = 0;
    for (TestOperation& operation : operations) {
      operation.wants_start = false;
      operation.timed = &operation == &operations[3];
      other->submit(operation);
    }
    EXPECT_EQ(CountedMarks::interrupts, known ? operations.size() : 0);
    kernel.awaitBegin();
    std::this_thread::sleep_for(20ms);
    kernel.end();
    for (TestOperation& operation : operations) ASSERT_TRUE(operation.wait());
  }
}

// By a caller that polls, while the stream's thread sleeps on.
TEST_P(MarksTest, WhoPollsTellsTheEnd) {
  static std::atomic<bool> asleep, entered;
  static decltype(hip::Api::eventSynchronize) synchronize;
  hip::Api& api = device->context()->runtime->provider->api;
  synchronize = api.eventSynchronize;
  asleep = true;
  entered = false;
  api.eventSynchronize = [](hip::EventHandle event) {
    entered = true;
    const hip::Status status = synchronize(event);
    for (int i = 0; asleep && i < 3000; ++i) std::this_thread::sleep_for(1ms);
    return status;
  };
  {
    const auto other = device->createInOrderStream({.spin_ns = 0});
    RunningKernel kernel(*device, *module);
    TestOperation running(kernel.launch());
    running.wants_start = false;
    other->submit(running);
    kernel.awaitBegin();
    std::this_thread::sleep_for(20ms);  // nobody looks at it any more
    ASSERT_TRUE(entered);
    other->poll();
    EXPECT_FALSE(running.isFinished());
    kernel.end();
    for (int i = 0; !running.isFinished() && i < 2000; ++i) {
      std::this_thread::sleep_for(1ms);
      other->poll();
    }
    EXPECT_TRUE(running.isFinished());
    asleep = false;
    ASSERT_TRUE(running.wait());
  }
  api.eventSynchronize = synchronize;
}

// Which another mark told of before the device came to it.
TEST_P(MarksTest, AWordIsNotAnothersBeforeItIsWritten) {
  if (GetParam() == Subject::gpu) GTEST_SKIP() << "holds back what a software GPU would write";
  static std::atomic<uint32_t*> word;
  static std::atomic<uint32_t> value;
  static std::atomic<bool> holds_back;
  static decltype(hip::Api::streamWriteValue32) write;
  hip::Api& api = device->context()->runtime->provider->api;
  write = api.streamWriteValue32;
  holds_back = true;
  word = nullptr;
  api.streamWriteValue32 = [](hip::StreamHandle on, void* at, uint32_t number, unsigned flags) {
    if (!holds_back) return write(on, at, number, flags);
    value = number;
    word = static_cast<uint32_t*>(at);
    return hip::success;
  };
  for (int i = 0; i < 2; ++i) {
    const auto other = device->createInOrderStream({});
    RunningKernel kernel(*device, *module);
    TestOperation running(kernel.launch());
    other->submit(running);
    kernel.awaitBegin();
    if (holds_back) {
      int asked = 0;
      other->assist([&] {
        if (++asked == 3) kernel.end();  // the word was asked for
        return running.isFinished();
      });
      holds_back = false;
    } else {
      ASSERT_NE(word.load(), nullptr);
      std::atomic_ref<uint32_t>(*word).store(value);
      other->assist([&] { return running.isFinished(); });
      EXPECT_FALSE(running.isFinished());
      kernel.end();
    }
    ASSERT_TRUE(running.wait());
  }
  api.streamWriteValue32 = write;
}

// And the end of what came before, though nobody has asked for that.
TEST_P(MarksTest, AStartThatComesLateIsToldBeforeTheEnd) {
  hip::HostWord word;
  {
    const hip::Current current(device->context()->api, 0);
    word = device->context()->runtime->words.take();
  }
  for (const bool follows : {false, true}) {
    auto other = device->createInOrderStream({.spin_ns = 0});
    RunningKernel kernel(*device, *module);
    TestOperation before, running(kernel.launch());
    before.timed = before.observed = before.wants_start = false;
    word.release(0);
    ASSERT_EQ(other->wait(word, 1), hip::success);
    if (follows) other->submit(before);
    other->submit(running);
    std::this_thread::sleep_for(20ms);  // nobody looks at it any more
    EXPECT_EQ(running.starts, 0);
    word.release(1);
    kernel.awaitBegin();
    for (int i = 0; i < 2000 && running.starts == 0; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(running.starts, 1);
    EXPECT_EQ(before.isFinished(), follows);
    EXPECT_FALSE(running.isFinished());
    kernel.end();
    ASSERT_TRUE(running.wait());
    EXPECT_EQ(running.starts, 1);
    EXPECT_EQ(running.start, running.start_told);
  }
  device->context()->runtime->words.give(word, 1);
}

INSTANTIATE_TEST_SUITE_P(Hip, MarksTest, ::testing::Values(Subject::software, Subject::gpu),
                         subjectName);

}  // namespace
}  // namespace weft::test
