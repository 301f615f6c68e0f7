// Streams of Level Zero, when its driver refuses something.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <tuple>

#include "core/ports/shared_memory.h"
#include "tests/support/software_gpus.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {
namespace {

port::Nanoseconds hostNow() {
  return static_cast<port::Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch() /
                                        std::chrono::nanoseconds(1));
}

// Operations in three streams, on memory whose words are `word` and, apart from it, `mark`.
class LevelZeroEnds {
 public:
  static constexpr size_t word = 0, mark = 128, bytes = 256;

  void run(const port::Operation::Work& work) {
    TestOperation operation(work);
    streams[2]->submit(operation);
    EXPECT_TRUE(operation.wait());
    EXPECT_EQ(operation.status, 0);
  }
  TestLaunch launch(const char* kernel, size_t at) const {
    TestLaunch result(*module_, kernelIndex(kernel), 1);
    result.memory(memory_.get(), at);
    return result;
  }
  TestLaunch empty() const { return {*module_, kernelIndex("empty"), 1}; }
  void clear() {
    port::Fill zeros;
    zeros.memory = memory_.get();
    zeros.size = bytes;
    run(zeros);
  }
  bool marked() {
    uint32_t value = 0;
    port::Copy copy;
    copy.source.memory = memory_.get();
    copy.source.offset = mark;
    copy.destination.host = reinterpret_cast<std::byte*>(&value);
    copy.region = {sizeof value, 1, 1};
    run(copy);
    return value != 0;
  }
  bool lost() const { return device_->lost(); }

 private:
  std::shared_ptr<port::Device> discovered() const {
    std::vector<port::Diagnostic> diagnostics;
    return backend_->discover(diagnostics).at(0);
  }
  std::unique_ptr<port::Stream> stream() const {
    return device_->createStream(port::Order::in_order);
  }

  const std::unique_ptr<port::Backend> backend_ = softwareLevelZero();
  const std::shared_ptr<port::Device> device_ = discovered();
  const std::unique_ptr<port::Module> module_ = device_->load(testImage(device_->target()));
  const std::unique_ptr<port::Memory> memory_ = device_->allocate(bytes, 128);

 public:
  const std::array<std::unique_ptr<port::Stream>, 3> streams{stream(), stream(), stream()};
};

// What is to tell that operations have ended cannot be had for a while. They do not end before it
// is, those in other streams that are behind them begin no sooner, and then all is well.
class LevelZeroUnknownEnds : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(LevelZeroUnknownEnds, NothingEndsBeforeItIsKnown) {
  const auto [timed, refusals] = GetParam();
  LevelZeroEnds device;
  device.clear();
  const TestLaunch waits = device.launch("wait_flag", device.word),
                   sets = device.launch("set_flag", device.word),
                   marks = device.launch("set_flag", device.mark), empty = device.empty();
  TestOperation before(waits.whole()), after(marks.whole()), last(empty.whole());
  for (TestOperation* each : {&before, &after, &last}) each->timed = each->wants_start = timed;
  before.awaited = true;
  const port::Operation* const behind[] = {&before};
  after.behind = behind;
  std::atomic<int>& refused = softwareLevelZeroFaults()->signals.failing;
  refused = refusals;
  device.streams[0]->submit(before);
  device.streams[1]->submit(after);
  device.streams[0]->submit(last);
  constexpr std::chrono::milliseconds moment(50);
  EXPECT_FALSE(before.wait(moment));
  EXPECT_FALSE(after.isFinished() || last.isFinished());
  refused = 0;
  EXPECT_FALSE(before.wait(moment));
  EXPECT_FALSE(device.marked());
  device.run(sets.whole());
  EXPECT_TRUE(before.wait() && after.wait() && last.wait());
  EXPECT_TRUE(device.marked());
  for (const TestOperation* each : {&before, &after, &last}) {
    EXPECT_EQ(each->status, 0);
    EXPECT_LE(each->start, each->end);
    EXPECT_LE(each->end, hostNow());
  }
  // The streams' events are used again.
  for (int i = 0; i < 100; ++i) device.run(empty.whole());
  EXPECT_FALSE(device.lost());
}

INSTANTIATE_TEST_SUITE_P(LevelZeroStream, LevelZeroUnknownEnds,
                         testing::Combine(testing::Bool(), testing::Values(1, 2, 1 << 30)));

// The same of what the host has a part in.
TEST(LevelZeroStream, CopiesOfTheHostEndNoSoonerThanTheyDo) {
  const auto backend = softwareLevelZero();
  std::vector<port::Diagnostic> diagnostics;
  const std::shared_ptr<port::Device> device = backend->discover(diagnostics).at(0);
  const auto stream = device->createStream(port::Order::in_order);
  constexpr size_t bytes = size_t{1} << 20;
  const auto memory = device->allocate(bytes, 128);
  std::vector<uint32_t> values(bytes / sizeof(uint32_t), 7), seen(values.size());
  std::atomic<int>& refused = softwareLevelZeroFaults()->signals.failing;
  TestOperation in(copyToDevice(values.data(), *memory, bytes)),
      out(copyToHost(*memory, seen.data(), bytes));
  refused = 2;
  stream->submit(in);
  EXPECT_TRUE(in.wait());
  EXPECT_EQ(in.status, 0);
  refused = 2;
  stream->submit(out);
  EXPECT_TRUE(out.wait());
  EXPECT_EQ(out.status, 0);
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(seen, values);
}

// One whose driver never makes what tells of ends is as good as lost.
TEST(LevelZeroStream, EndsThatAreNeverToldOf) {
  const auto backend = softwareLevelZero();
  std::vector<port::Diagnostic> diagnostics;
  const std::shared_ptr<port::Device> device = backend->discover(diagnostics).at(0);
  const auto module = device->load(testImage(device->target()));
  const auto stream = device->createStream(port::Order::in_order);
  const TestLaunch empty(*module, kernelIndex("empty"), 1);
  TestOperation operation(empty.whole());
  std::atomic<int>& refused = softwareLevelZeroFaults()->signals.failing;
  refused = 1 << 30;
  stream->submit(operation);
  EXPECT_TRUE(operation.wait());
  refused = 0;
  EXPECT_LT(operation.status, 0);
  EXPECT_TRUE(device->lost());
}

TEST(LevelZeroStream, WhoPollsOftenAsksSeldom) {
  std::vector<port::Diagnostic> diagnostics;
  const std::shared_ptr<port::Device> device = softwareLevelZero()->discover(diagnostics).at(0);
  const auto module = device->load(testImage(device->target()));
  const auto stream = device->createStream(port::Order::in_order);
  const auto memory = device->allocate(128, 128);
  TestLaunch launch(*module, kernelIndex("busy"), 1);
  launch.value(100'000'000).memory(memory.get());
  TestOperation operation(launch.whole());
  std::atomic<int>& questions = softwareLevelZeroFaults()->questions;
  for (const bool submitted : {false, true}) {
    if (submitted) {
      stream->submit(operation);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the stream's thread rests
    }
    const int before = questions;
    const port::Nanoseconds begin = hostNow();
    for (int i = 0; i < 50'000; ++i) stream->poll();
    const auto most = static_cast<int>((hostNow() - begin) / 1000 + 1000);
    EXPECT_LE(questions - before, submitted ? most : 0);
  }
  EXPECT_TRUE(operation.wait());
}

// A busy machine may delay the comparison of the two clocks by milliseconds. An operation is then
// somewhere else, but takes as long.
TEST(LevelZeroStream, TimesAreNotCutShort) {
  constexpr uint64_t ns = 20'000'000;
  constexpr int64_t off = 15'000'000;
  std::atomic<int64_t>& ahead = softwareLevelZeroFaults()->clock_ahead;
  for (const int64_t skew : {int64_t{0}, off, -off}) {
    ahead = skew;
    std::vector<port::Diagnostic> diagnostics;
    const std::shared_ptr<port::Device> device = softwareLevelZero()->discover(diagnostics).at(0);
    const auto module = device->load(testImage(device->target()));
    const auto stream = device->createStream(port::Order::in_order);
    const auto memory = device->allocate(128, 128);
    TestLaunch launch(*module, kernelIndex("busy"), 1);
    launch.value(ns).memory(memory.get());
    TestOperation operation(launch.whole());
    operation.wants_start = false;
    const port::Nanoseconds before = hostNow();
    stream->submit(operation);
    EXPECT_TRUE(operation.wait());
    EXPECT_EQ(operation.status, 0);
    EXPECT_GE(operation.start, before);
    EXPECT_LE(operation.end, hostNow());
    EXPECT_GE(operation.end - operation.start, ns * 9 / 10) << skew;
  }
  ahead = 0;
}

// Of one that has no times it is known only when the host noticed its end, which may be with that
// of the next one.
TEST(LevelZeroStream, TimesAreNotCutShortByWhatHasNone) {
  constexpr uint64_t ns = 20'000'000;
  std::vector<port::Diagnostic> diagnostics;
  const std::shared_ptr<port::Device> device = softwareLevelZero()->discover(diagnostics).at(0);
  const auto module = device->load(testImage(device->target()));
  const auto stream = device->createStream(port::Order::in_order);
  const auto memory = device->allocate(128, 128);
  TestLaunch launch(*module, kernelIndex("busy"), 1);
  launch.value(ns).memory(memory.get());
  TestOperation untimed(launch.whole()), timed(launch.whole());
  untimed.timed = untimed.observed = untimed.wants_start = timed.wants_start = false;
  stream->submit(untimed);
  stream->submit(timed);
  EXPECT_TRUE(untimed.wait() && timed.wait());
  EXPECT_EQ(timed.status, 0);
  EXPECT_GE(timed.end - timed.start, ns * 9 / 10);
  EXPECT_LE(timed.end, hostNow());
}

// Two devices of the driver, and a kernel on the first that waits until told to end.
class LevelZeroDevices : public testing::Test {
 protected:
  struct One {
    explicit One(std::shared_ptr<port::Device> its) : device(std::move(its)) {}
    const std::shared_ptr<port::Device> device;
    const std::unique_ptr<port::Module> module = device->load(testImage(device->target()));
    // Outlives the streams: a lost device's kernel may still wait for what is written there.
    const std::unique_ptr<port::Memory> memory = device->allocate(256, 128);
    const std::unique_ptr<port::Stream> stream = device->createStream(port::Order::in_order),
                                        other = device->createStream(port::Order::in_order);
  };

  static std::vector<std::shared_ptr<port::Device>> discover() {
    std::vector<port::Diagnostic> diagnostics;
    return softwareLevelZero()->discover(diagnostics);
  }
  static void run(port::Stream& stream, const port::Operation::Work& work) {
    TestOperation operation(work);
    stream.submit(operation);
    EXPECT_TRUE(operation.wait());
    EXPECT_EQ(operation.status, 0);
  }
  // The first device's memory begins with the flag.
  TestLaunch launch(const One& on, const char* kernel) const {
    TestLaunch result(*on.module, kernelIndex(kernel), 1);
    return std::move(result.memory(first.memory.get()));
  }
  void clearFlag() const {
    port::Fill zeros;
    zeros.memory = first.memory.get();
    zeros.size = 256;
    run(*first.stream, zeros);
  }
  void SetUp() override { clearFlag(); }

  const std::vector<std::shared_ptr<port::Device>> devices = discover();
  const One first{devices.at(0)}, second{devices.at(1)};
};

TEST_F(LevelZeroDevices, WaitForEachOther) {
  EXPECT_EQ(first.device->capabilities().fence_group, second.device->capabilities().fence_group);
  const TestLaunch waits = launch(first, "wait_flag"), sets = launch(first, "set_flag"),
                   empty(*second.module, kernelIndex("empty"), 1);
  TestOperation before(waits.whole()), after(empty.whole());
  const port::Operation* const behind[] = {&before};
  after.behind = behind;
  first.stream->submit(before);
  second.stream->submit(after);
  EXPECT_FALSE(after.wait(std::chrono::milliseconds(50)));
  run(*first.other, sets.whole());
  EXPECT_TRUE(before.wait() && after.wait());
  EXPECT_EQ(after.status, 0);
  EXPECT_GE(after.start, before.end);
}

TEST_F(LevelZeroDevices, CopyFromEachOther) {
  ASSERT_TRUE(second.device->reaches(first.device->capabilities().memory_space));
  std::vector<uint32_t> values(64, 7), copied(64, 0);
  run(*first.stream, copyToDevice(values.data(), *first.memory, 256));
  port::Copy copy;
  copy.source.memory = first.memory.get();
  copy.destination.memory = second.memory.get();
  copy.region = {256, 1, 1};
  run(*second.stream, copy);
  run(*second.stream, copyToHost(*second.memory, copied.data(), 256));
  EXPECT_EQ(copied, values);
}

// From and to ordinary memory the host takes part when the device has come that far; what the
// driver made for the host is the device's own business: the driver is asked at once.
TEST_F(LevelZeroDevices, CopyMemoryOfTheirDriversByThemselves) {
  constexpr size_t bytes = size_t(1) << 20;
  auto* const source = dynamic_cast<port::SharedMemorySource*>(first.device.get());
  ASSERT_NE(source, nullptr);
  const auto known = source->allocateShared(bytes);
  std::vector<std::byte> ordinary(bytes);
  const auto there = first.device->allocate(bytes, 128);
  std::atomic<int>& refused = softwareLevelZeroFaults()->copies.failing;
  for (const bool is_known : {true, false}) {
    std::byte* const host = is_known ? known->host() : ordinary.data();
    std::memset(host, is_known ? 3 : 4, bytes);
    port::Copy copy;
    copy.source.host = host;
    copy.destination.memory = there.get();
    copy.region = {1000, 1000, 1};
    copy.source.row_pitch = copy.destination.row_pitch = 1024;
    clearFlag();
    const TestLaunch waits = launch(first, "wait_flag"), sets = launch(first, "set_flag");
    TestOperation before(waits.whole()), copying(copy);
    first.stream->submit(before);
    first.stream->submit(copying);
    refused = 1;
    run(*first.other, sets.whole());
    EXPECT_TRUE(before.wait() && copying.wait());
    EXPECT_EQ(copying.status == 0, is_known);
    refused = 0;
  }
  std::vector<std::byte> seen(1000);
  run(*first.stream, copyToHost(*there, seen.data(), 1000, 999 * 1024));
  EXPECT_EQ(seen, std::vector<std::byte>(1000, std::byte{3}));
}

TEST_F(LevelZeroDevices, OneThatIsLostDoesNotHoldUpOthers) {
  const TestLaunch waits = launch(first, "wait_flag"),
                   empty(*second.module, kernelIndex("empty"), 1);
  TestOperation before(waits.whole()), after(empty.whole());
  const port::Operation* const behind[] = {&before};
  after.behind = behind;
  first.stream->submit(before);
  second.stream->submit(after);
  std::atomic<int>& lost = softwareLevelZeroFaults()->lost_device;
  lost = 0;
  EXPECT_TRUE(before.wait());
  EXPECT_LT(before.status, 0);
  EXPECT_TRUE(after.wait());
  EXPECT_EQ(after.status, 0);
  EXPECT_TRUE(first.device->lost());
  EXPECT_FALSE(second.device->lost());
  run(*second.other, empty.whole());
  // For its list to come to an end.
  lost = -1;
  const One again(discover().at(0));
  const TestLaunch sets = launch(again, "set_flag");
  run(*again.stream, sets.whole());
}

}  // namespace
}  // namespace weft::test
