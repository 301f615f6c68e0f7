// Streams: order, overlap, what an operation is told, failures.
#include <deque>
#include <random>
#include <thread>

#include "core/error.h"
#include "tests/backends/contract.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;
using StreamContract = ContractTest;
using Operations = std::vector<std::unique_ptr<TestOperation>>;

TEST_P(StreamContract, EachOperationIsToldOnce) {
  auto memory = device->allocate(4096, 128);
  std::vector<uint8_t> host(4096);
  TestLaunch launch(*module, kernelIndex("add_one"), 100);
  launch.memory(memory.get());
  port::Fill fill;
  fill.memory = memory.get();
  fill.size = 4096;
  int calls = 0;
  const port::HostCall call{[](void* n) { ++*static_cast<int*>(n); }, &calls};
  const port::Operation::Work works[] = {std::monostate(), fill, launch.whole(), call,
                                         copyToHost(*memory, host.data(), host.size())};
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    auto queue = stream(order);
    for (const auto& work : works) {
      const port::ClockPair before = device->clocks();
      TestOperation operation(work);
      queue->submit(operation);
      ASSERT_TRUE(operation.wait());
      const port::ClockPair after = device->clocks();
      EXPECT_EQ(operation.status, 0);
      EXPECT_EQ(operation.starts, 1);
      EXPECT_EQ(operation.finishes, 1);
      EXPECT_EQ(operation.start_told, operation.start);
      EXPECT_LE(before.device, operation.start);
      EXPECT_LE(operation.start, operation.end);
      EXPECT_LE(operation.end, after.device);
    }
  }
  EXPECT_EQ(calls, 2);
}

TEST_P(StreamContract, InOrderOperationsFollowEachOther) {
  constexpr int count = 600;
  auto memory = device->allocate(64 * 4, 128);
  std::vector<uint32_t> values(64, 1);
  write(*memory, values.data(), 256);
  auto queue = stream();
  TestLaunch add(*module, kernelIndex("add_one"), 64);
  add.memory(memory.get());
  TestLaunch triple(*module, kernelIndex("scale"), 64);
  triple.memory(memory.get()).memory(memory.get()).value(3);
  Operations operations;
  uint32_t expected = 1;
  for (int i = 0; i < count; ++i) {
    operations.push_back(std::make_unique<TestOperation>((i % 3 ? add : triple).whole()));
    expected = i % 3 ? expected + 1 : expected * 3;
    queue->submit(*operations.back());
  }
  for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  for (size_t i = 1; i < operations.size(); ++i) {
    ASSERT_LE(operations[i - 1]->end, operations[i]->start) << i;
    ASSERT_LT(operations[i - 1]->rank, operations[i]->rank) << i;
  }
  read(*memory, values.data(), 256);
  EXPECT_EQ(values, std::vector<uint32_t>(64, expected));
}

// An operation waits, in the middle of its kernel, for one submitted after it.
TEST_P(StreamContract, UnorderedOperationsOverlap) {
  auto memory = device->allocate(64, 128);
  const uint32_t zero = 0;
  write(*memory, &zero, 4);
  auto queue = stream(port::Order::unordered);
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 3),
      setting(*module, kernelIndex("set_flag"), 1);
  waiting.memory(memory.get());
  setting.memory(memory.get());
  TestOperation first(waiting.whole()), second(setting.whole());
  queue->submit(first);
  queue->submit(second);
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(second.wait());
}

// Of other streams. A chain through three of them, longer than what is kept of their ends.
TEST_P(StreamContract, OperationsRunBehindOthers) {
  expectHolds("fences", device->capabilities().fence_group != 0);
  if (device->capabilities().fence_group == 0) return;
  constexpr size_t count = 600;
  auto memory = device->allocate(64 * 4, 128);
  std::vector<uint32_t> values(64, 1);
  write(*memory, values.data(), 256);
  std::unique_ptr<port::Stream> queues[] = {stream(), stream(port::Order::unordered), stream()};
  TestLaunch add(*module, kernelIndex("add_one"), 64);
  add.memory(memory.get());
  TestLaunch triple(*module, kernelIndex("scale"), 64);
  triple.memory(memory.get()).memory(memory.get()).value(3);
  Operations operations;
  uint32_t expected = 1;
  for (size_t i = 0; i < count; ++i) {
    operations.push_back(std::make_unique<TestOperation>((i % 3 ? add : triple).whole()));
    expected = i % 3 ? expected + 1 : expected * 3;
    TestOperation& operation = *operations.back();
    if (i % 5 == 0) operation.timed = operation.observed = operation.wants_start = false;
    const port::Operation* const before = i ? operations[i - 1].get() : nullptr;
    if (before) operation.behind = {&before, 1};
    queues[i * 7 % 3]->submit(operation);
  }
  for (auto& queue : queues) queue->flush();
  for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  read(*memory, values.data(), 256);
  EXPECT_EQ(values, std::vector<uint32_t>(64, expected));
}

// Two behind one: the first waits, in the middle of its kernel, for the second.
TEST_P(StreamContract, OperationsRunBehindNothingElse) {
  if (device->capabilities().fence_group == 0) return;
  auto memory = device->allocate(64, 128);
  auto queue = stream(port::Order::unordered);
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 3),
      setting(*module, kernelIndex("set_flag"), 1);
  waiting.memory(memory.get());
  setting.memory(memory.get());
  port::Fill fill;
  fill.memory = memory.get();
  fill.size = 64;
  TestOperation zero(fill), first(waiting.whole()), second(setting.whole());
  const port::Operation* const behind[] = {&zero};
  first.behind = second.behind = behind;
  queue->submit(zero);
  queue->submit(first);
  queue->submit(second);
  EXPECT_TRUE(zero.wait() && first.wait() && second.wait());
}

// Nor behind what comes after it in its stream: that waits, in the middle of its kernel, for the
// one that runs behind it.
TEST_P(StreamContract, WhatIsAwaitedIsWaitedForAlone) {
  if (device->capabilities().fence_group == 0) return;
  auto memory = device->allocate(64, 128);
  std::unique_ptr<port::Stream> queues[] = {stream(), stream()};
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 1),
      setting(*module, kernelIndex("set_flag"), 1);
  waiting.memory(memory.get());
  setting.memory(memory.get());
  port::Fill fill;
  fill.memory = memory.get();
  fill.size = 64;
  TestOperation zero(fill), later(waiting.whole()), other(setting.whole());
  zero.timed = zero.observed = zero.wants_start = false;
  zero.awaited = true;
  const port::Operation* const behind[] = {&zero};
  other.behind = behind;
  queues[0]->submit(zero);
  queues[0]->submit(later);
  queues[1]->submit(other);
  EXPECT_TRUE(other.wait() && later.wait() && zero.wait());
}

// Backends have small copies and large ones done in different ways.
constexpr size_t copy_sizes[] = {size_t(4) << 10, size_t(1) << 20};

// In which the host has a part: bytes go to the device, are changed, and come back, over and over,
// and each time over other streams.
TEST_P(StreamContract, CopiesOfTheHostsMemoryRunBehindOthers) {
  if (device->capabilities().fence_group == 0) return;
  constexpr size_t rounds = 40, count = 64;
  for (const size_t bytes : copy_sizes) {
    auto memory = device->allocate(bytes, 128);
    std::vector<uint32_t> values(bytes / 4, 1);
    std::unique_ptr<port::Stream> queues[] = {stream(), stream(port::Order::unordered), stream()};
    TestLaunch add(*module, kernelIndex("add_one"), count);
    add.memory(memory.get());
    const port::Operation::Work works[] = {copyToDevice(values.data(), *memory, bytes), add.whole(),
                                           copyToHost(*memory, values.data(), bytes)};
    Operations operations;
    for (size_t i = 0; i < 3 * rounds; ++i) {
      operations.push_back(std::make_unique<TestOperation>(works[i % 3]));
      const port::Operation* const before = i ? operations[i - 1].get() : nullptr;
      if (before) operations.back()->behind = {&before, 1};
      queues[i * 5 % 7 % 3]->submit(*operations.back());
    }
    for (auto& queue : queues) queue->flush();
    for (auto& operation : operations) ASSERT_TRUE(operation->wait());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], i < count ? 1 + rounds : 1) << i << " of " << bytes;
  }
}

enum class Link { none, kernel, ended_kernel };

struct CopyPair {
  size_t first, second;  // bytes
  bool writes;           // the second is from the host's memory
  Link between;          // in a third stream
  bool observed;         // what stands before the first
};

// Who completes the first stream's operations is kept busy before it gets to the first copy: only
// the copies see the host's memory, so a backend may order the device's part of them alone.
void copyBehindCopy(port::Device& device, port::Module& module, const CopyPair& pair) {
  const auto run = [&](port::Stream& stream, const port::Operation::Work& work) {
    TestOperation operation(work);
    stream.submit(operation);
    ASSERT_TRUE(operation.wait());
  };
  constexpr size_t most = copy_sizes[1];
  std::vector<uint32_t> ones(most / 4, 1), twos(most / 4, 2), host(most / 4, 0);
  const auto from = device.allocate(most, 128), other = device.allocate(most, 128);
  const auto queue = device.createStream(port::Order::in_order),
             between = device.createStream(port::Order::in_order),
             last = device.createStream(port::Order::in_order);
  run(*queue, copyToDevice(ones.data(), *from, most));
  run(*queue, copyToDevice(twos.data(), *other, most));
  const TestLaunch empty(module, kernelIndex("empty"), 1);
  TestOperation busy(empty.whole()), middle(empty.whole());
  TestOperation first(copyToHost(*from, host.data(), pair.first));
  TestOperation second(pair.writes ? copyToDevice(host.data(), *other, pair.second)
                                   : copyToHost(*other, host.data(), pair.second));
  busy.on_finished = [] { std::this_thread::sleep_for(3ms); };
  if (!pair.observed) busy.timed = busy.observed = busy.wants_start = false;
  const port::Operation* const behind[] = {&first, &middle};
  middle.behind = {&behind[0], 1};
  second.behind = {&behind[pair.between != Link::none], 1};
  queue->submit(busy);
  queue->submit(first);
  between->submit(middle);
  ASSERT_TRUE(pair.between != Link::ended_kernel || middle.wait());
  last->submit(second);
  for (TestOperation* each : {&busy, &first, &middle, &second}) ASSERT_TRUE(each->wait());
  if (pair.writes) run(*last, copyToHost(*other, twos.data(), most));
  const std::vector<uint32_t>& seen = pair.writes ? twos : host;
  for (size_t i = 0; i < seen.size(); ++i) {
    const uint32_t before = i < pair.first / 4 ? 1 : 0;
    const uint32_t expected = (i < pair.second / 4) == pair.writes ? before : 2;
    ASSERT_EQ(seen[i], expected) << i;
  }
}

TEST_P(StreamContract, CopiesOfTheSameHostMemoryRunBehindEachOther) {
  if (device->capabilities().fence_group == 0) return;
  for (const size_t first : copy_sizes)
    for (const size_t second : copy_sizes)
      for (const bool writes : {false, true})
        for (const Link between : {Link::none, Link::kernel, Link::ended_kernel})
          for (const bool observed : {false, true}) {
            SCOPED_TRACE(std::to_string(first) + (writes ? " B, write " : " B, read ") +
                         std::to_string(second) + " B, link " + std::to_string(int(between)) +
                         (observed ? ", observed" : ""));
            copyBehindCopy(*device, *module, {first, second, writes, between, observed});
          }
}

TEST_P(StreamContract, FailureStaysWithItsOperation) {
  auto memory = device->allocate(64 * 4, 128);
  std::vector<uint32_t> values(64, 0);
  write(*memory, values.data(), 256);
  TestLaunch good(*module, kernelIndex("add_one"), 64);
  good.memory(memory.get());
  TestLaunch huge(*module, kernelIndex("huge_context"), 1);
  huge.record.local_size[0] = huge.record.global_size[0] = 1024;
  TestLaunch absent(*module, 999, 1);
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    auto queue = stream(order);
    TestOperation before(good.whole()), context(huge.whole()), kernel(absent.whole());
    for (TestOperation* operation : {&before, &context, &kernel}) queue->submit(*operation);
    for (TestOperation* operation : {&before, &context, &kernel}) {
      ASSERT_TRUE(operation->wait());
      EXPECT_EQ(operation->finishes, 1);
    }
    EXPECT_EQ(before.status, 0);
    expectHolds("lane context", context.status == CL_OUT_OF_RESOURCES);
    EXPECT_LT(kernel.status, 0);
    run(*queue, good.whole());
  }
  read(*memory, values.data(), 256);
  EXPECT_EQ(values, std::vector<uint32_t>(64, 4));
}

// With a flush, and without.
TEST_P(StreamContract, OperationsThatNobodyObservesEnd) {
  TestLaunch launch(*module, kernelIndex("empty"), 1);
  for (const auto order : {port::Order::in_order, port::Order::unordered})
    for (const bool flushed : {false, true}) {
      auto queue = stream(order);
      Operations operations;
      for (int i = 0; i < 20; ++i) {
        operations.push_back(std::make_unique<TestOperation>(launch.whole()));
        TestOperation& operation = *operations.back();
        operation.timed = operation.observed = operation.wants_start = false;
        queue->submit(operation);
      }
      if (flushed) queue->flush();
      for (auto& operation : operations) {
        ASSERT_TRUE(operation->wait());
        EXPECT_EQ(operation->status, 0);
        EXPECT_LE(operation->starts, 1);
        EXPECT_EQ(operation->finishes, 1);
        EXPECT_LE(operation->start, operation->end);
      }
    }
}

TEST_P(StreamContract, FinishedMaySubmitMore) {
  constexpr int length = 200;
  auto queue = stream();
  TestLaunch launch(*module, kernelIndex("empty"), 1);
  Operations chain;
  for (int i = 0; i < length; ++i) chain.push_back(std::make_unique<TestOperation>(launch.whole()));
  for (int i = 0; i + 1 < length; ++i)
    chain[size_t(i)]->on_finished = [&, i] { queue->submit(*chain[size_t(i) + 1]); };
  queue->submit(*chain.front());
  for (auto& operation : chain) ASSERT_TRUE(operation->wait());
}

// Deletes itself: the operation's memory is gone when finished() returns.
struct Fleeting final : port::Operation {
  explicit Fleeting(std::atomic<int>& left) : left(left) {}
  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus, port::Nanoseconds, port::Nanoseconds) noexcept override {
    std::atomic<int>& count = left;
    delete this;
    count.fetch_sub(1);
  }
  std::atomic<int>& left;
};

TEST_P(StreamContract, ManyThreadsSubmitToManyStreams) {
  constexpr int threads = 4, each = 400;
  std::vector<std::unique_ptr<port::Stream>> queues;
  for (int i = 0; i < 3; ++i) {
    queues.push_back(stream(port::Order::in_order));
    queues.push_back(stream(port::Order::unordered));
  }
  auto memory = device->allocate(threads * each * 4, 128);
  std::vector<uint32_t> values(threads * each, 0);
  write(*memory, values.data(), values.size() * 4);
  std::vector<std::unique_ptr<TestLaunch>> launches;
  for (int i = 0; i < threads * each; ++i) {
    launches.push_back(std::make_unique<TestLaunch>(*module, kernelIndex("add_one"), 1));
    launches.back()->memory(memory.get(), size_t(i) * 4);
  }
  std::atomic<int> left{threads * each};
  std::vector<std::thread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&, t] {
      std::mt19937 random{unsigned(t)};
      for (int i = 0; i < each; ++i) {
        auto* operation = new Fleeting(left);
        operation->work = launches[size_t(t * each + i)]->whole();
        queues[random() % queues.size()]->submit(*operation);
      }
    });
  for (auto& submitter : submitters) submitter.join();
  for (int i = 0; i < 6000 && left != 0; ++i) std::this_thread::sleep_for(10ms);
  ASSERT_EQ(left, 0);
  read(*memory, values.data(), values.size() * 4);
  EXPECT_EQ(values, std::vector<uint32_t>(threads * each, 1));
}

TEST_P(StreamContract, StreamsMayGoWithTheirLastOperation) {
  TestLaunch launch(*module, kernelIndex("empty"), 1);
  for (int i = 0; i < 300; ++i) {
    auto queue = stream(i % 2 ? port::Order::in_order : port::Order::unordered);
    TestOperation a(launch.whole()), b(launch.whole());
    queue->submit(a);
    queue->submit(b);
    ASSERT_TRUE(b.wait() && a.wait());
  }
}

TEST_P(StreamContract, EndsAreToldWhileSomebodyPolls) {
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    auto queue = stream(order);
    queue->poll();  // of nothing
    std::vector<std::unique_ptr<port::Memory>> memory;
    std::deque<TestLaunch> launches;
    Operations operations;
    for (int i = 0; i < 40; ++i) {
      // Unordered operations would add to the same elements at once.
      memory.push_back(device->allocate(512 * 4, 128));
      TestLaunch& launch = launches.emplace_back(*module, kernelIndex("busy"), 512);
      launch.value(20'000).memory(memory.back().get());
      queue->submit(*operations.emplace_back(std::make_unique<TestOperation>(launch.whole())));
    }
    queue->flush();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (const auto& operation : operations)
      while (!operation->isFinished() && std::chrono::steady_clock::now() < end) queue->poll();
    for (const auto& operation : operations) ASSERT_TRUE(operation->wait());
  }
}

TEST_P(StreamContract, AssistEndsWhenDone) {
  auto memory = device->allocate(512 * 4, 128);
  std::vector<uint32_t> values(512, 0);
  write(*memory, values.data(), 2048);
  TestLaunch launch(*module, kernelIndex("busy"), 512);
  launch.value(20'000).memory(memory.get());
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    auto queue = stream(order);
    Operations operations;
    for (int i = 0; i < 5; ++i) {
      operations.push_back(std::make_unique<TestOperation>(launch.whole()));
      queue->submit(*operations.back());
      // Unordered operations would add to the same elements at once.
      if (order == port::Order::in_order) continue;
      queue->assist([&] { return operations.back()->isFinished(); });
      ASSERT_TRUE(operations.back()->wait());
    }
    queue->assist([&] { return operations.back()->isFinished(); });
    for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  }
  read(*memory, values.data(), 2048);
  EXPECT_EQ(values, std::vector<uint32_t>(512, 10));
}

INSTANTIATE_TEST_SUITE_P(Devices, StreamContract, ::testing::ValuesIn(subjects()), subjectName);

}  // namespace
}  // namespace weft::test
