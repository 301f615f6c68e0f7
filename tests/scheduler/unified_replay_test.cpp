// Command buffers on a unified device: their commands are divided and placed as if they were
// enqueued one by one, and the whole is one command.
#include <algorithm>

#include "scheduler/command_buffer.h"
#include "scheduler/executed_parts.h"
#include "tests/scheduler/stencil_kernel.h"
#include "tests/scheduler/unified_machine.h"

namespace weft::test {
namespace {

constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
constexpr size_t bytes = stencil_bytes;

class UnifiedReplayTest : public UnifiedMachine {
 protected:
  using Points = std::vector<cl_sync_point_khr>;

  void start(bool manual, const char* how = "random:5") {
    split = how;
    UnifiedMachine::start(manual, {stencil<0>("straight"), stencil<2>("shifted")});
    for (size_t i = 0; i < bytes; ++i) x[i] = uint8_t(i * 7 + 1), y[i] = uint8_t(i * 5 + 2);
    a = buffer(bytes, x.data());
    b = buffer(bytes, y.data());
    unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  }
  Ref<CommandBuffer> recordOn(const Ref<Queue>& on) const {
    return make<CommandBuffer>(on, 0, 0, std::vector<cl_command_buffer_properties_khr>{});
  }
  cl_sync_point_khr kernel(CommandBuffer& into, const char* name, Buffer& from, Buffer& to,
                           const Points& waits = {}) const {
    return into.record(recorded(work(name, from, to)), waits);
  }
  static cl_sync_point_khr fill(CommandBuffer& into, Buffer& target, char value,
                                const Points& waits = {}) {
    return into.record(recorded(FillWork(target, &value, 1, {{}, bytes, bytes}, {bytes, 1, 1})),
                       waits);
  }
  // There and back again, and what that makes of `x` and `y`.
  Ref<CommandBuffer> steps(const Ref<Queue>& on) const {
    auto commands = recordOn(on);
    const auto there = kernel(*commands, "shifted", *a, *b);
    kernel(*commands, "straight", *b, *a, {there});
    commands->finalize();
    return commands;
  }
  void step() {
    apply(x.data(), y.data(), 0, items, 2);
    apply(y.data(), x.data(), 0, items, 0);
  }
  void expectData(const testing::Message& when = {}) const {
    std::vector<uint8_t> data(bytes);
    ASSERT_EQ(read(*a, data), CL_COMPLETE) << when;
    ASSERT_EQ(data, x) << when;
    ASSERT_EQ(read(*b, data), CL_COMPLETE) << when;
    ASSERT_EQ(data, y) << when;
  }
  static const std::vector<ExecutedPart>& partsOf(const Event& event) {
    return dynamic_cast<const PartedCommand&>(event).executedParts();
  }

  Ref<Buffer> a, b;
  Ref<Queue> unordered;
  std::vector<uint8_t> x = std::vector<uint8_t>(bytes), y = x;  // what they have to be

 private:
  LaunchWork work(const char* name, Buffer& from, Buffer& to) const {
    const auto kernel = make<Kernel>(program, name);
    cl_uint index = 0;
    for (Buffer* argument : {&from, &to}) {
      const cl_mem handle = argument->handle();
      kernel->setArgument(index++, sizeof handle, &handle);
    }
    NDRange range;
    range.global = &items;
    range.local = &local_size;
    return LaunchWork::check(*queue, *kernel, range);
  }
};

TEST_F(UnifiedReplayTest, RecordedKernelsAreDivided) {
  start(true);
  for (const auto& on : {queue, unordered}) {
    const auto commands = steps(on);
    for (int round = 0; round < 3; ++round) {
      const auto event = commands->enqueue(*on, {});
      finishAll();
      ASSERT_EQ(event->status(), CL_COMPLETE);
      EXPECT_GE(partsOf(*event).size(), 3u);  // of two kernels
      uint64_t groups = 0;
      for (const ExecutedPart& part : partsOf(*event))
        groups += part.groups.end[0] - part.groups.begin[0];
      EXPECT_EQ(groups, 2 * items / stencil_group);
      step();
      expectData();
    }
  }
}

TEST_F(UnifiedReplayTest, AQueueThatNeverDividesReplaysAtHome) {
  start(true);
  const auto never = newQueue(0, SplitPolicy::never);
  const auto commands = steps(queue);
  for (const auto& [on, divides] : {std::pair(never, false), {queue, true}, {never, false}}) {
    fakes->device(1).clearLog();
    const auto event = commands->enqueue(*on, {});
    finishAll();
    ASSERT_EQ(event->status(), CL_COMPLETE);
    const auto log = fakes->device(1).log();
    EXPECT_EQ(divides, std::ranges::count(log, FakeRecord::Kind::launch, &FakeRecord::kind) > 0);
    step();
    expectData();
  }
}

// It holds its place in the queue: what comes before it in an in-order one, or at a barrier, has
// ended, and what comes behind it waits.
TEST_F(UnifiedReplayTest, IsOneCommandOfItsQueue) {
  start(true);
  for (const auto& on : {queue, unordered}) {
    const auto commands = steps(on);
    const auto gate = make<UserEvent>(context);
    const Ref<Event> wait = gate;
    const auto first = commands->enqueue(*on, {&wait, 1});
    enqueueBarrier(*on, {});
    const auto second = commands->enqueue(*on, {});
    const auto marker = enqueueMarker(*on, {});
    EXPECT_EQ(pending(), 0u);
    gate->setStatus(CL_COMPLETE);
    EXPECT_GT(pending(), 0u);
    EXPECT_GT(first->status(), CL_COMPLETE);
    EXPECT_EQ(second->status(), CL_QUEUED);
    finishAll();
    for (const auto& event : {first, second, marker}) EXPECT_EQ(event->status(), CL_COMPLETE);
    step(), step();
    expectData();
  }
}

TEST_F(UnifiedReplayTest, BarriersAndPointsKeepTheirOrder) {
  start(true);
  const Ref<Buffer> c = buffer(bytes, x.data());
  const auto commands = recordOn(unordered);
  commands->record(nullptr, {});  // there is nothing before it
  const auto first = fill(*commands, *a, 1);
  fill(*commands, *c, 2);
  commands->record(nullptr, Points{first});
  kernel(*commands, "straight", *a, *b);
  commands->record(nullptr, {});
  kernel(*commands, "shifted", *b, *c);
  kernel(*commands, "straight", *b, *a);
  commands->finalize();
  std::vector<uint8_t> z(bytes, 2);
  std::ranges::fill(x, uint8_t{1});
  apply(x.data(), y.data(), 0, items, 0);
  apply(y.data(), z.data(), 0, items, 2);
  apply(y.data(), x.data(), 0, items, 0);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto event = commands->enqueue(*unordered, {});
    runInAnyOrder(seed);
    ASSERT_EQ(event->status(), CL_COMPLETE);
    expectData(testing::Message() << seed);
    std::vector<uint8_t> data(bytes);
    ASSERT_EQ(read(*c, data), CL_COMPLETE);
    ASSERT_EQ(data, z);
  }
}

TEST_F(UnifiedReplayTest, InAnyOrderTheBytesAreRight) {
  start(true);
  const Ref<CommandBuffer> ordered = steps(queue), free = steps(unordered);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    ordered->enqueue(*queue, {});
    launch("shifted", {a.get(), b.get()});
    const auto last = free->enqueue(*queue, {});
    ordered->enqueue(*unordered, {&last, 1});
    step();
    apply(x.data(), y.data(), 0, items, 2);
    step(), step();
    runInAnyOrder(seed);
    expectData(testing::Message() << seed);
  }
  EXPECT_EQ(fakes->device(0).violations() + fakes->device(1).violations(), 0u);
}

TEST_F(UnifiedReplayTest, DevicesThatWorkByThemselves) {
  start(false);
  const Ref<CommandBuffer> ordered = steps(queue), free = steps(unordered);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 10; ++i) {
      (i % 2 ? free : ordered)->enqueue(*queue, {});
      step();
    }
    expectData(testing::Message() << round);
  }
}

// Executions of one command buffer that do not wait for each other, and its last reference gone.
TEST_F(UnifiedReplayTest, ExecutionsOverlapAndOutliveTheCommandBuffer) {
  start(true);
  auto commands = recordOn(unordered);
  fill(*commands, *a, 1);
  kernel(*commands, "straight", *b, *a, {1});
  commands->finalize();
  for (int i = 0; i < 5; ++i) events.push_back(commands->enqueue(*unordered, {}));
  commands = nullptr;
  runInAnyOrder(1);
  for (const auto& event : events) EXPECT_EQ(event->status(), CL_COMPLETE);
  std::ranges::fill(x, uint8_t{1});
  apply(y.data(), x.data(), 0, items, 0);
  expectData();
}

TEST_F(UnifiedReplayTest, AnEmptyOneCompletes) {
  start(true);
  const auto empty = recordOn(queue);
  empty->finalize();
  const auto barriers = recordOn(unordered);
  barriers->record(nullptr, {});
  barriers->record(nullptr, {});
  barriers->finalize();
  for (const auto& commands : {empty, barriers}) {
    const auto event = commands->enqueue(*queue, {});
    EXPECT_EQ(event->status(), CL_COMPLETE);
    EXPECT_TRUE(partsOf(*event).empty());
  }
}

// In a part of a kernel, whatever becomes of the others: all that the whole writes is lost, also
// what never ran, until it is written anew.
TEST_F(UnifiedReplayTest, AFailureIsTheWholesAndItsBytesAreLost) {
  for (const bool in_order : {true, false}) {
    start(true);
    const auto& on = in_order ? queue : unordered;
    const auto commands = recordOn(on);
    const auto first = fill(*commands, *a, 1);
    kernel(*commands, "straight", *a, *b, {first});
    commands->finalize();
    const auto event = commands->enqueue(*on, {});
    const auto after = launchOn(*unordered, "straight", {b.get(), a.get()}, {&event, 1});
    const size_t failing = fakes->device(0).able() > 0 ? 0 : 1;
    ASSERT_TRUE(fakes->device(failing).fail(CL_OUT_OF_RESOURCES));
    finishAll();
    EXPECT_EQ(event->status(), CL_OUT_OF_RESOURCES);
    EXPECT_EQ(after->status(), dependent);
    std::vector<uint8_t> data(bytes);
    for (const auto& lost : {a, b}) EXPECT_EQ(read(*lost, data), dependent);
    const auto again = commands->enqueue(*on, {});
    finishAll();
    EXPECT_EQ(again->status(), CL_COMPLETE);
    // The kernel leaves its last two bytes as they were: lost.
    data.resize(items);
    EXPECT_EQ(read(*a, data), CL_COMPLETE);
    EXPECT_EQ(data, std::vector<uint8_t>(items, 1));
    EXPECT_EQ(read(*b, data), CL_COMPLETE);
    EXPECT_EQ(data, std::vector<uint8_t>(items, 9));
    TearDown();
  }
}

TEST_F(UnifiedReplayTest, WhatNeverRanChangesNothing) {
  start(true);
  const auto commands = steps(queue);
  const auto gate = make<UserEvent>(context);
  const Ref<Event> wait = gate;
  const auto event = commands->enqueue(*queue, {&wait, 1});
  gate->setStatus(-1);
  EXPECT_EQ(event->status(), dependent);
  EXPECT_EQ(pending(), 0u);
  expectData();
}

TEST_F(UnifiedReplayTest, HasTheTimesOfItsCommands) {
  start(true);
  const auto timed = newQueue(CL_QUEUE_PROFILING_ENABLE);
  const auto commands = steps(timed);
  const auto event = commands->enqueue(*timed, {});
  fakes->device(0).clock().advance(100);
  finishAll();
  ASSERT_EQ(event->status(), CL_COMPLETE);
  const EventTimes& times = event->times();
  EXPECT_GT(times.queued, 0u);
  EXPECT_LE(times.queued, times.submitted);
  EXPECT_LE(times.started, times.ended);
}

}  // namespace
}  // namespace weft::test
