// What only the CPU's executor promises: who runs what, side by side, and on which threads.
#include <dirent.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "backends/cpu/backend.h"
#include "backends/cpu/executor.h"
#include "core/release_batch.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"
#include "tests/support/unit_sets.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<port::Device> discover() {
  std::vector<port::Diagnostic> diagnostics;
  return cpu::makeBackend()->discover(diagnostics).at(0);
}

// The process's threads that are workers, by thread id.
std::vector<int> workers() {
  std::vector<int> ids;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    std::string name;
    std::ifstream(std::string("/proc/self/task/") + entry->d_name + "/comm") >> name;
    if (name == "weft-cpu") ids.push_back(std::atoi(entry->d_name));
  }
  closedir(tasks);
  return ids;
}

// False when it does not come true in a time that no machine needs.
template <class F>
bool eventually(F&& condition) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() : device(discover()), module(device->load(testImage(device->target()))) {}

  uint32_t units() const { return device->capabilities().compute_units; }

  std::shared_ptr<port::Device> device;
  std::unique_ptr<port::Module> module;
};

// A launch of so many groups, of a millisecond each, that it does not end before it is told to.
class EndlessLaunch {
 public:
  EndlessLaunch(port::Device& device, port::Module& module)
      : EndlessLaunch(device, module, 120'000 * device.capabilities().compute_units, 1ms) {}
  EndlessLaunch(port::Device& device, port::Module& module, uint64_t groups,
                std::chrono::nanoseconds each)
      : memory_(device.allocate(64 + elements * 8, 64)),
        launch_(module, kernelIndex("until_flag"), groups) {
    std::fill_n(memory_->host(), memory_->size(), std::byte{0});
    launch_.value(uint64_t(each.count())).memory(memory_.get()).memory(memory_.get(), 64);
  }
  port::Launch whole() const { return launch_.whole(); }
  void end() { std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(memory_->host())).store(1); }
  // Those seen so far.
  const std::set<uint64_t>& threads() {
    auto* const data = reinterpret_cast<uint64_t*>(memory_->host() + 64);
    for (size_t i = 0; i < elements; ++i)
      if (const uint64_t thread = std::atomic_ref<uint64_t>(data[i]).load())
        threads_.insert(thread);
    return threads_;
  }

 private:
  static constexpr size_t elements = 1024;
  std::unique_ptr<port::Memory> memory_;
  TestLaunch launch_;
  std::set<uint64_t> threads_;
};

TEST_F(ExecutorTest, OneUnitSubDevicesRunSideBySide) {
  if (units() < 2) GTEST_SKIP() << "one processor only";
  auto parts = device->partition(singles(2));
  // Each group waits for the next one of the other.
  constexpr uint64_t groups = 4;
  auto log = device->allocate((1 + 2 * groups) * 8, 64);
  std::fill_n(log->host(), log->size(), std::byte{0});
  std::vector<std::unique_ptr<port::Stream>> streams;
  std::vector<std::unique_ptr<port::Memory>> memories;
  std::vector<std::unique_ptr<TestLaunch>> launches;
  std::vector<std::unique_ptr<TestOperation>> operations;
  for (auto& part : parts) {
    streams.push_back(part->createStream(port::Order::in_order));
    memories.push_back(part->allocate(groups << 16, 64));
    launches.push_back(std::make_unique<TestLaunch>(*module, kernelIndex("take_turns"), groups));
    launches.back()->value(0).value(2 * groups).memory(log.get()).memory(memories.back().get());
    operations.push_back(std::make_unique<TestOperation>(launches.back()->whole()));
  }
  for (size_t i = 0; i < parts.size(); ++i) streams[i]->submit(*operations[i]);
  for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  EXPECT_EQ(*reinterpret_cast<const uint64_t*>(log->host()), 2 * groups);
}

TEST_F(ExecutorTest, BigLaunchUsesEveryWorker) {
  EndlessLaunch launch(*device, *module);
  auto stream = device->createStream(port::Order::in_order);
  TestOperation operation(launch.whole());
  stream->submit(operation);
  EXPECT_TRUE(eventually([&] { return launch.threads().size() >= units(); }));
  launch.end();
  ASSERT_TRUE(operation.wait());
  EXPECT_EQ(launch.threads().size(), units());
  EXPECT_FALSE(launch.threads().contains(uint64_t(gettid())));
}

// Of a kernel that never ran, so that nobody knows how long they are.
TEST_F(ExecutorTest, FewLongGroupsRunSideBySide) {
  if (units() < 2) GTEST_SKIP() << "one processor only";
  EndlessLaunch launch(*device, *module, 2, 10s);
  auto stream = device->createStream(port::Order::in_order);
  TestOperation operation(launch.whole());
  stream->submit(operation);
  EXPECT_TRUE(eventually([&] { return launch.threads().size() == 2; }));
  launch.end();
  ASSERT_TRUE(operation.wait());
}

// However long they have been waiting: awake, about to fall asleep, asleep, or up to look around.
TEST_F(ExecutorTest, BigLaunchesAfterPausesUseEveryWorker) {
  auto stream = device->createStream(port::Order::in_order);
  constexpr int rounds = 60;
  for (int round = 0; round < rounds; ++round) {
    EndlessLaunch launch(*device, *module);
    TestOperation operation(launch.whole());
    stream->submit(operation);
    EXPECT_TRUE(eventually([&] { return launch.threads().size() >= units(); })) << round;
    launch.end();
    ASSERT_TRUE(operation.wait());
    std::this_thread::sleep_for(std::chrono::microseconds(round * 50));
  }
}

// Each worker of each sub-device is bound to a PU of its own.
TEST_F(ExecutorTest, WorkersAreBound) {
  auto parts = device->partition(singles(units()));
  std::map<int, int> workers_by_pu;
  for (auto& part : parts) {
    auto memory = part->allocate(8, 64);
    auto stream = part->createStream(port::Order::in_order);
    TestLaunch launch(*module, kernelIndex("who"), 1);
    launch.value(0).memory(memory.get());
    TestOperation operation(launch.whole());
    stream->submit(operation);
    ASSERT_TRUE(operation.wait());
    cpu_set_t set;
    const auto thread = pid_t(*reinterpret_cast<uint64_t*>(memory->host()));
    ASSERT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
    ASSERT_EQ(CPU_COUNT(&set), 1);
    for (int pu = 0; pu < CPU_SETSIZE; ++pu)
      if (CPU_ISSET(pu, &set)) ++workers_by_pu[pu];
  }
  EXPECT_EQ(workers_by_pu.size(), units());
}

TEST_F(ExecutorTest, ThreadsComeWithTheFirstStreamAndGoWithTheDevice) {
  EXPECT_TRUE(workers().empty());
  auto stream = device->createStream(port::Order::in_order);
  // A new thread takes a moment to name itself.
  EXPECT_TRUE(eventually([] { return !workers().empty(); }));
  TestLaunch launch(*module, kernelIndex("empty"), 1);
  TestOperation operation(launch.whole());
  stream->submit(operation);
  ASSERT_TRUE(operation.wait());
  EXPECT_LE(workers().size(), units() + cpu::Executor::most_spares);
  device.reset();
  EXPECT_FALSE(workers().empty());
  stream.reset();
  // A joined thread may stay in /proc a little longer.
  EXPECT_TRUE(eventually([] { return workers().empty(); }));
}

// The last reference goes in a callback, on a worker, which cannot join itself.
TEST_F(ExecutorTest, DeviceMayGoInACallback) {
  for (int i = 0; i < 20; ++i) {
    auto own = discover();
    auto stream = own->createStream(i % 2 ? port::Order::in_order : port::Order::unordered);
    TestLaunch launch(*module, kernelIndex("empty"), 1);
    TestOperation operation(launch.whole());
    operation.on_finished = [&] {
      stream.reset();
      own.reset();
    };
    auto* raw = stream.get();
    raw->submit(operation);
    ASSERT_TRUE(operation.wait());
  }
  EXPECT_TRUE(eventually([] { return workers().empty(); }));
}

// A kernel that waits for the host keeps one worker, whatever else it was given.
TEST_F(ExecutorTest, SpinningKernelHangsOnlyItself) {
  if (units() < 2) GTEST_SKIP() << "one processor only";
  auto flag = device->allocate(64, 64);
  auto data = device->allocate(4096, 64);
  auto* set = reinterpret_cast<uint32_t*>(flag->host());
  *set = 0;
  auto blocked = device->createStream(port::Order::in_order);
  auto free = device->createStream(port::Order::in_order);
  auto unordered = device->createStream(port::Order::unordered);
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 64);
  waiting.memory(flag.get());
  TestLaunch work(*module, kernelIndex("busy"), 400);
  work.value(20'000).memory(data.get());
  TestLaunch tiny(*module, kernelIndex("empty"), 1);
  // What has been tiny so far hangs this time.
  __atomic_store_n(set, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 20; ++i) {
    TestOperation warm(waiting.whole());
    blocked->submit(warm);
    ASSERT_TRUE(warm.wait());
  }
  __atomic_store_n(set, 0, __ATOMIC_RELEASE);
  TestOperation hung(waiting.whole()), behind(tiny.whole());
  blocked->submit(hung);
  blocked->submit(behind);
  for (int i = 0; i < 10; ++i) {
    TestOperation a(work.whole()), b(tiny.whole());
    free->submit(a);
    unordered->submit(b);
    ASSERT_TRUE(a.wait());
    ASSERT_TRUE(b.wait());
  }
  EXPECT_FALSE(hung.isFinished());
  EXPECT_FALSE(behind.isFinished());
  __atomic_store_n(set, 1, __ATOMIC_RELEASE);
  ASSERT_TRUE(hung.wait() && behind.wait());
}

// What small operations have used ends while their worker is at one that was small so far, as soon
// as another worker has had something to do meanwhile.
TEST_F(ExecutorTest, NothingIsKeptForTheLengthOfAKernel) {
  if (units() < 2) GTEST_SKIP() << "one processor only";
  struct Kept final : Object {
    explicit Kept(std::atomic<bool>& over) : ended(over) {}
    ~Kept() override { ended = true; }
    std::atomic<bool>& ended;
  };
  EndlessLaunch wide(*device, *module);
  auto stream = device->createStream(port::Order::in_order);
  TestOperation all(wide.whole());
  stream->submit(all);
  EXPECT_TRUE(eventually([&] { return wide.threads().size() >= units(); }));
  wide.end();
  ASSERT_TRUE(all.wait());

  auto flag = device->allocate(64, 64);
  std::atomic_ref<uint32_t> set(*reinterpret_cast<uint32_t*>(flag->host()));
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 1);
  waiting.memory(flag.get());
  set = 1;
  for (int i = 0; i < 20; ++i) {
    TestOperation warm(waiting.whole());
    stream->submit(warm);
    ASSERT_TRUE(warm.wait());
  }
  std::atomic<bool> ended = false;
  TestOperation gives(waiting.whole()), hangs(waiting.whole());
  gives.on_finished = [&] {
    ReleaseBatch::give(make<Kept>(ended));
    set = 0;
  };
  stream->submit(gives);
  stream->submit(hangs);
  auto second = device->createStream(port::Order::in_order);
  TestLaunch tiny(*module, kernelIndex("empty"), 1);
  EXPECT_TRUE(eventually([&] {
    TestOperation other(tiny.whole());
    second->submit(other);
    return other.wait() && ended.load();
  }));
  EXPECT_FALSE(hangs.isFinished());
  set = 1;
  ASSERT_TRUE(gives.wait() && hangs.wait());
}

// What an operation's end makes ready runs where that one ran.
TEST_F(ExecutorTest, AChainOfStreamsStaysOnItsWorker) {
  constexpr size_t length = 200;  // more than one turn
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    auto log = device->allocate(length * 8, 64);
    std::vector<std::unique_ptr<port::Stream>> streams;
    for (int i = 0; i < 3; ++i) streams.push_back(device->createStream(order));
    std::vector<std::unique_ptr<TestLaunch>> launches;
    std::vector<std::unique_ptr<TestOperation>> operations;
    for (size_t i = 0; i < length; ++i) {
      launches.push_back(std::make_unique<TestLaunch>(*module, kernelIndex("who"), 1));
      launches.back()->value(0).memory(log.get(), i * 8);
      operations.push_back(std::make_unique<TestOperation>(launches.back()->whole()));
    }
    for (size_t i = 0; i + 1 < length; ++i)
      operations[i]->on_finished = [&, i] {
        streams[(i + 1) % streams.size()]->submit(*operations[i + 1]);
      };
    streams[0]->submit(*operations[0]);
    for (auto& operation : operations) ASSERT_TRUE(operation->wait());
    const auto* const threads = reinterpret_cast<const uint64_t*>(log->host());
    EXPECT_EQ(std::count(threads, threads + length, threads[0]), ptrdiff_t(length));
  }
}

// Of two operations that an end makes ready neither waits for the other's end.
TEST_F(ExecutorTest, WhatAnEndMakesReadyRunsSideBySide) {
  if (units() < 2) GTEST_SKIP() << "one processor only";
  auto flag = device->allocate(64, 64);
  std::atomic_ref<uint32_t> set(*reinterpret_cast<uint32_t*>(flag->host()));
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 1),
      setting(*module, kernelIndex("set_flag"), 1), tiny(*module, kernelIndex("empty"), 1);
  waiting.memory(flag.get());
  setting.memory(flag.get());
  auto first = device->createStream(port::Order::in_order);
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    auto one = device->createStream(order);
    auto another = order == port::Order::in_order ? device->createStream(order) : nullptr;
    for (int i = 0; i < 50; ++i) {
      set = 0;
      TestOperation ends(tiny.whole()), waits(waiting.whole()), sets(setting.whole());
      ends.on_finished = [&] {
        one->submit(waits);
        (another ? another : one)->submit(sets);
      };
      first->submit(ends);
      ASSERT_TRUE(ends.wait() && waits.wait() && sets.wait());
    }
  }
}

// As many kernels as there are threads wait for the one that has none.
TEST_F(ExecutorTest, SpareThreadsFreeWhatWaits) {
  auto part = device->partition(singles(1)).at(0);
  auto flag = part->allocate(64, 64);
  auto* set = reinterpret_cast<uint32_t*>(flag->host());
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 1);
  waiting.memory(flag.get());
  TestLaunch setting(*module, kernelIndex("set_flag"), 1);
  setting.memory(flag.get());
  constexpr int waiters = cpu::Executor::most_spares;
  for (const auto order : {port::Order::in_order, port::Order::unordered}) {
    *set = 0;
    std::vector<std::unique_ptr<port::Stream>> streams;
    std::vector<std::unique_ptr<TestOperation>> operations;
    for (int i = 0; i <= waiters; ++i) {
      // An unordered stream may run all of them.
      if (i == 0 || order == port::Order::in_order) streams.push_back(part->createStream(order));
      operations.push_back(
          std::make_unique<TestOperation>(i < waiters ? waiting.whole() : setting.whole()));
      streams.back()->submit(*operations.back());
    }
    for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  }
}

// A stream that a spare took over goes on in order, and back to the worker.
TEST_F(ExecutorTest, SpareThreadsKeepTheOrder) {
  auto part = device->partition(singles(1)).at(0);
  auto flag = part->allocate(64, 64);
  *reinterpret_cast<uint32_t*>(flag->host()) = 0;
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 1), tiny(*module, kernelIndex("empty"), 1);
  waiting.memory(flag.get());
  auto hung = part->createStream(port::Order::in_order),
       other = part->createStream(port::Order::in_order);
  TestOperation blocked(waiting.whole());
  hung->submit(blocked);
  std::vector<std::unique_ptr<TestOperation>> operations;
  for (int i = 0; i < 300; ++i) {
    operations.push_back(std::make_unique<TestOperation>(tiny.whole()));
    other->submit(*operations.back());
    if (i != 100) continue;
    ASSERT_TRUE(operations.back()->wait());
    EXPECT_FALSE(blocked.isFinished());
    __atomic_store_n(reinterpret_cast<uint32_t*>(flag->host()), 1, __ATOMIC_RELEASE);
  }
  for (auto& operation : operations) ASSERT_TRUE(operation->wait());
  ASSERT_TRUE(blocked.wait());
  for (size_t i = 1; i < operations.size(); ++i)
    EXPECT_LT(operations[i - 1]->rank, operations[i]->rank);
}

// A child's kernel that waits for ever leaves its parent, on the same processor, a share of it.
TEST_F(ExecutorTest, ChildThatSpinsDoesNotHoldUpItsParent) {
  auto part = device->partition(singles(1)).at(0);
  auto child = part->partition(singles(1)).at(0);
  auto flag = part->allocate(64, 64), data = part->allocate(4096, 64);
  *reinterpret_cast<uint32_t*>(flag->host()) = 0;
  TestLaunch waiting(*module, kernelIndex("wait_flag"), 1), work(*module, kernelIndex("busy"), 100);
  waiting.memory(flag.get());
  work.value(20'000).memory(data.get());
  auto of_child = child->createStream(port::Order::in_order),
       of_parent = part->createStream(port::Order::in_order);
  TestOperation hung(waiting.whole());
  of_child->submit(hung);
  for (int i = 0; i < 5; ++i) {
    TestOperation operation(work.whole());
    of_parent->submit(operation);
    ASSERT_TRUE(operation.wait());
  }
  EXPECT_FALSE(hung.isFinished());
  __atomic_store_n(reinterpret_cast<uint32_t*>(flag->host()), 1, __ATOMIC_RELEASE);
  ASSERT_TRUE(hung.wait());
}

// A long launch on every worker gives one up for what another stream wants.
TEST_F(ExecutorTest, ShortOperationsPassLongOnes) {
  if (units() < 2) GTEST_SKIP() << "one processor only";
  auto slow = device->createStream(port::Order::in_order);
  auto quick = device->createStream(port::Order::in_order);
  EndlessLaunch work(*device, *module);
  TestLaunch tiny(*module, kernelIndex("empty"), 1);
  TestOperation first(work.whole());
  slow->submit(first);
  EXPECT_TRUE(eventually([&] { return work.threads().size() == units(); }));
  for (int i = 0; i < 5; ++i) {
    TestOperation operation(tiny.whole());
    quick->submit(operation);
    ASSERT_TRUE(operation.wait());
  }
  EXPECT_FALSE(first.isFinished());
  work.end();
  ASSERT_TRUE(first.wait());
}

TEST_F(ExecutorTest, AssistKeepsTheCallersFloatState) {
  auto memory = device->allocate(64 * 4, 64);
  auto stream = device->createStream(port::Order::in_order);
  TestLaunch launch(*module, kernelIndex("float_state"), 64);
  launch.memory(memory.get());
  const unsigned before = _mm_getcsr();
  const unsigned odd = 0x9fc0 | 0x2000;  // flush to zero, denormals are zero, round down
  _mm_setcsr(odd);
  for (int i = 0; i < 200; ++i) {
    TestOperation operation(launch.whole());
    stream->submit(operation);
    stream->assist([&] { return operation.isFinished(); });
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, odd & ~0x3fu);
    ASSERT_TRUE(operation.wait());
    const auto* state = reinterpret_cast<const uint32_t*>(memory->host());
    for (int g = 0; g < 64; ++g) ASSERT_EQ(state[g], 0x1f80u);
  }
  _mm_setcsr(before);
}

// Host calls run on the device's threads, even while the application could.
TEST_F(ExecutorTest, HostCallsAreNotForTheCaller) {
  auto stream = device->createStream(port::Order::in_order);
  for (int i = 0; i < 200; ++i) {
    pid_t thread = 0;
    const port::HostCall call{[](void* id) { *static_cast<pid_t*>(id) = gettid(); }, &thread};
    TestOperation operation(call);
    stream->submit(operation);
    stream->assist([&] { return operation.isFinished(); });
    ASSERT_TRUE(operation.wait());
    ASSERT_NE(thread, gettid());
  }
}

// A debugger opens the libraries of a program by their names, in which "self" would be the
// debugger.
TEST_F(ExecutorTest, CodeHasANameForOtherProcesses) {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        const std::string name = info->dlpi_name;
        if (name.find("/fd") != std::string::npos)
          static_cast<std::vector<std::string>*>(to)->push_back(name);
        return 0;
      },
      &names);
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) EXPECT_FALSE(name.starts_with("/proc/self")) << name;
}

}  // namespace
}  // namespace weft::test
