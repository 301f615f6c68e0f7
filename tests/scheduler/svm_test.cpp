// Shared virtual memory of devices that find it at the host's address: where it is made, and what
// moves its pages.
#include "core/svm.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/host_share.h"
#include "core/system.h"
#include "scheduler/command_buffer.h"
#include "scheduler/unified_device.h"
#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

FakeOptions sharing(FakeShares shares) {
  FakeOptions options;
  options.manual = false;
  options.max_delay = std::chrono::microseconds(0);
  options.shares = shares;
  return options;
}

// What moved, and where.
struct Move {
  uint64_t bytes;
  bool to_host;
  bool operator==(const Move&) const = default;
};
using Moves = std::vector<Move>;

class ManagedSvmTest : public testing::Test {
 protected:
  static constexpr size_t size = size_t(4) << 20, page = 4096;

  void start(std::vector<FakeOptions> devices) {
    platform = std::make_unique<FakePlatform>(std::move(devices));
    memory = platform->context().svm().allocate(size);
  }
  void TearDown() override {
    if (memory) platform->context().svm().free(memory);
  }
  Ref<Event> map(Queue& queue, const void* pointer, size_t bytes) {
    return enqueueSvmMigrate(queue, {&pointer, 1}, &bytes, CL_MIGRATE_MEM_OBJECT_HOST, {},
                             CL_COMMAND_SVM_MAP);
  }
  Ref<Event> unmap(Queue& queue, const void* pointer) {
    return enqueueSvmMigrate(queue, {&pointer, 1}, nullptr, 0, {}, CL_COMMAND_SVM_UNMAP);
  }
  // Since it was last asked.
  Moves moves(size_t device) {
    Moves list;
    for (const FakeRecord& record : platform->fake(device).log())
      if (record.kind == FakeRecord::Kind::prefetch)
        list.push_back({record.bytes, record.to == port::host_space});
    platform->fake(device).clearLog();
    return list;
  }

  // With all that lies behind `pointer`; returns how much of it that brought there.
  uint64_t launch(size_t device, const void* pointer) {
    const auto queue = platform->queue(device);
    const auto kernel = touching(pointer);
    EXPECT_EQ(enqueueLaunch(*queue, *kernel, range(), {})->wait(), CL_COMPLETE);
    return broughtBy(device);
  }
  Ref<Kernel> touching(const void* pointer) {
    if (!program)
      program = platform->program({{"touch", {pointerArgument(true, true)}, [](auto&) {}}});
    auto kernel = make<Kernel>(program, "touch");
    kernel->setSvmArgument(0, pointer);
    return kernel;
  }
  static NDRange range() {
    static constexpr size_t global = 1;
    NDRange range;
    range.global = &global;
    return range;
  }
  // The only launch since it was last asked.
  uint64_t broughtBy(size_t device) {
    for (const FakeRecord& record : platform->fake(device).log())
      if (record.kind == FakeRecord::Kind::launch) {
        platform->fake(device).clearLog();
        return record.bytes;
      }
    return ~uint64_t(0);
  }

  std::unique_ptr<FakePlatform> platform;
  Ref<Program> program;
  std::byte* memory = nullptr;
};

TEST_F(ManagedSvmTest, WhatWasMappedMovesToTheHostAndBack) {
  start({sharing(FakeShares::managed)});
  const auto queue = platform->queue(0);
  constexpr size_t part = size_t(1) << 20;
  map(*queue, memory + page, part)->wait();
  EXPECT_EQ(moves(0), (Moves{{part, true}}));
  unmap(*queue, memory + page)->wait();
  EXPECT_EQ(moves(0), (Moves{{part, false}}));
  // Once for each map, as much as was mapped there.
  map(*queue, memory, size)->wait();
  map(*queue, memory, part)->wait();
  moves(0);
  for (int i = 0; i < 3; ++i) unmap(*queue, memory)->wait();
  EXPECT_EQ(moves(0), (Moves{{size, false}, {size, false}}));
}

// By a device that can move it: the CPU does not.
TEST_F(ManagedSvmTest, QueuesOfOthersMoveItToTheHost) {
  start({sharing(FakeShares::everything), sharing(FakeShares::managed)});
  const auto queue = platform->queue(0);
  const void* const pointer = memory;
  map(*queue, memory, size)->wait();
  EXPECT_EQ(moves(1), (Moves{{size, true}}));
  unmap(*queue, memory)->wait();
  EXPECT_EQ(moves(1), Moves{});
  for (const bool asks : {false, true}) {
    const cl_mem_migration_flags flags = asks ? CL_MIGRATE_MEM_OBJECT_HOST : 0;
    enqueueSvmMigrate(*queue, {&pointer, 1}, nullptr, flags, {})->wait();
    EXPECT_EQ(moves(1), (Moves{{size, true}}));
  }
  EXPECT_EQ(moves(0), Moves{});
}

// Drivers give more, until it is touched.
TEST_F(ManagedSvmTest, IsNoMoreThanTheHostHas) {
  start({sharing(FakeShares::managed)});
  const size_t most = physicalMemoryBytes() / 5 * 3;
  SvmTable& table = platform->context().svm();
  for (int i = 0; i < 2; ++i) {
    std::byte* const large = table.allocate(most);
    EXPECT_NE(large, nullptr);
    try {
      table.allocate(most);
      ADD_FAILURE() << "more than there is";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    table.free(large);
  }
}

// What a GPU moves and what the CPU has nearer.
TEST_F(ManagedSvmTest, EachOfAListIsMovedByItsOwn) {
  start({sharing(FakeShares::everything), sharing(FakeShares::managed)});
  SvmTable& table = platform->context().svm();
  UsmTraits traits;
  traits.type = CL_MEM_TYPE_HOST_INTEL;
  std::byte* const host = table.allocate(2 * size, traits);
  for (const bool host_first : {false, true}) {
    const void* pointers[] = {memory, host};
    if (host_first) std::swap(pointers[0], pointers[1]);
    enqueueSvmMigrate(*platform->queue(0), pointers, nullptr, 0, {})->wait();
    EXPECT_EQ(moves(0), (Moves{{2 * size, false}}));
    EXPECT_EQ(moves(1), (Moves{{size, true}}));
  }
  table.free(host, SvmTable::Sort::usm);
}

// Whoever makes it: its driver, or who makes the host's other memory.
TEST_F(ManagedSvmTest, IsCountedOnce) {
  constexpr size_t bytes = size_t(64) << 20;
  for (const FakeShares shares : {FakeShares::managed, FakeShares::everything}) {
    platform = std::make_unique<FakePlatform>(
        std::vector<FakeOptions>{sharing(shares), sharing(FakeShares::nothing)});
    SvmTable& table = platform->context().svm();
    const HostShare others(physicalMemoryBytes() - bytes * 3 / 2);
    std::byte* const first = table.allocate(bytes);
    EXPECT_NE(first, nullptr);
    EXPECT_THROW(table.allocate(bytes), Error);
    EXPECT_THROW(platform->buffer(bytes)->storage().in(port::host_space), Error);
    table.free(first);
    EXPECT_NO_THROW(platform->buffer(bytes)->storage().in(port::host_space));
  }
}

// What the host had comes to the device once, in steps, and again when the host has had it.
TEST_F(ManagedSvmTest, LaunchesBringWhatTheHostHad) {
  constexpr size_t step = size_t(2) << 20;
  start({sharing(FakeShares::everything), sharing(FakeShares::managed)});
  const auto cpu = platform->queue(0), gpu = platform->queue(1);
  EXPECT_EQ(launch(1, memory), size);
  EXPECT_EQ(launch(1, memory), 0u);
  map(*cpu, memory + page, step / 2)->wait();
  EXPECT_EQ(launch(1, memory), step);
  map(*gpu, memory, size)->wait();
  unmap(*gpu, memory)->wait();
  EXPECT_EQ(launch(1, memory), 0u);
  // Half of a step went back, and the rest of it is where it was.
  map(*gpu, memory + page, step / 2)->wait();
  unmap(*gpu, memory + page)->wait();
  EXPECT_EQ(launch(1, memory), step);
  EXPECT_EQ(launch(0, memory + step), 0u);  // kernels of the CPU make it the host's
  EXPECT_EQ(launch(1, memory), size - step);
}

TEST_F(ManagedSvmTest, RecordedLaunchesBringItEachTimeThatTheHostHadIt) {
  start({sharing(FakeShares::everything), sharing(FakeShares::managed)});
  for (const cl_command_queue_properties order : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}) {
    const auto queue = platform->queue(1, order);
    const auto commands =
        make<CommandBuffer>(queue, 0, 0, std::vector<cl_command_buffer_properties_khr>{});
    commands->record(recorded(LaunchWork::check(*queue, *touching(memory), range())), {});
    commands->finalize();
    for (const uint64_t brought : {size, size_t(0), size}) {
      if (brought > 0) map(*queue, memory, size)->wait();
      platform->fake(1).clearLog();
      EXPECT_EQ(commands->enqueue(*queue, {})->wait(), CL_COMPLETE);
      EXPECT_EQ(broughtBy(1), brought);
    }
  }
}

// Where nobody knows what a kernel touches, it may be little of a pool; and after some such
// launches nobody looks any more, until the host was given some of it.
TEST_F(ManagedSvmTest, LaunchesLeavePoolsAlone) {
  start({sharing(FakeShares::managed)});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(launch(0, memory + page), 0u);
  EXPECT_EQ(launch(0, memory), 0u);
  map(*platform->queue(0), memory, size)->wait();
  EXPECT_EQ(launch(0, memory), size);
}

// What goes on where the range before it ends is found, too.
TEST_F(ManagedSvmTest, NeighbouringRangesAreNotInVain) {
  constexpr size_t step = size_t(2) << 20, steps = 12;
  start({sharing(FakeShares::managed)});
  std::byte* const large = platform->context().svm().allocate(steps * step);
  {
    const auto own = platform->context().svm().find(large);
    SvmAllocation::Ranges taken;
    for (size_t i = 0; i < steps; ++i) own->takeFromHost(i * step, (i + 1) * step, taken);
    EXPECT_EQ(taken, (SvmAllocation::Ranges{{0, steps * step}}));
    EXPECT_TRUE(own->isSought());
  }
  platform->context().svm().free(large);
}

// From one device's memory to another's, which do not reach each other.
class CopyThroughHostTest : public testing::Test {
 protected:
  static constexpr size_t size = 4096;

  static FakeOptions device(const std::shared_ptr<FakeClock>& clock) {
    FakeOptions options = sharing(FakeShares::managed);
    options.manual = true;
    options.clock = clock;
    return options;
  }
  const void* allocateOn(size_t index) {
    UsmTraits traits;
    traits.type = CL_MEM_TYPE_DEVICE_INTEL;
    traits.device = Ref<Device>(&platform.device(index));
    return platform.context().svm().allocate(size, traits);
  }
  void TearDown() override {
    for (const void* const memory : {from, to})
      platform.context().svm().free(memory, SvmTable::Sort::usm);
  }
  Ref<Event> copy(WaitList waits = {}) {
    return enqueueSvmCopy(*platform.queue(0, CL_QUEUE_PROFILING_ENABLE), const_cast<void*>(to),
                          from, size, waits);
  }

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  FakePlatform platform{{device(clock), device(clock)}};
  const void* const from = allocateOn(0);
  const void* const to = allocateOn(1);
};

TEST_F(CopyThroughHostTest, BeginsWithTheFirstStep) {
  const auto event = copy();
  const cl_ulong queued = event->times().queued;
  ASSERT_TRUE(platform.fake(0).start());
  const port::Nanoseconds began = clock->now;
  clock->advance(1'000'000);
  ASSERT_TRUE(platform.fake(0).finish());
  ASSERT_TRUE(platform.fake(1).start());
  clock->advance(1'000'000);
  ASSERT_TRUE(platform.fake(1).finish());
  EXPECT_EQ(event->status(), CL_COMPLETE);
  EXPECT_LE(event->times().queued, queued);
  EXPECT_EQ(event->times().started, began);
  EXPECT_EQ(event->times().ended, began + 2'000'000);
}

TEST_F(CopyThroughHostTest, HasTheFailureOfEitherStep) {
  const auto first = copy();
  ASSERT_TRUE(platform.fake(0).fail(CL_OUT_OF_RESOURCES));
  EXPECT_EQ(first->status(), CL_OUT_OF_RESOURCES);
  const auto second = copy();
  ASSERT_TRUE(platform.fake(0).finish());
  ASSERT_TRUE(platform.fake(1).fail(CL_OUT_OF_RESOURCES));
  EXPECT_EQ(second->status(), CL_OUT_OF_RESOURCES);
  const Ref<Event> failed[] = {first};
  EXPECT_EQ(copy(failed)->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

// A unified device of two members, and these.
class UnifiedSvmTest : public testing::Test {
 protected:
  void start(std::vector<FakeOptions> members) {
    std::vector<std::unique_ptr<port::Backend>> backends;
    backends.push_back(std::make_unique<FakeBackend>(std::move(members)));
    platform = make<Platform>(std::move(backends), std::make_unique<NoCompiler>());
    setenv("WEFT_UNIFIED", "1", 1);
    addUnifiedDevice(*platform);
    unsetenv("WEFT_UNIFIED");
    ASSERT_EQ(platform->devices().size(), 3u);
    context = make<Context>(*platform, platform->devices(), std::vector<cl_context_properties>{},
                            nullptr, nullptr);
    context->setState(makeContextState(*context));
  }
  Device& device(size_t index) { return *platform->devices().at(index); }

  Ref<Platform> platform;
  Ref<Context> context;
};

TEST_F(UnifiedSvmTest, IsWhatItsMembersUse) {
  start({sharing(FakeShares::everything), sharing(FakeShares::managed)});
  const std::byte* const memory = context->svm().allocate(4096);
  EXPECT_EQ(context->svm().find(memory)->storage().managedBy(), &device(1));
}

TEST_F(UnifiedSvmTest, ADevicesOwnIsForKernelsThatEachMemberCanRun) {
  for (const bool peers : {false, true}) {
    FakeOptions member = sharing(FakeShares::managed);
    member.reaches_peers = peers;
    start({member, member});
    UsmTraits traits;
    traits.type = CL_MEM_TYPE_DEVICE_INTEL;
    traits.device = Ref<Device>(&device(0));
    const auto own = context->svm().find(context->svm().allocate(4096, traits));
    EXPECT_EQ(own->home(), &device(0));
    EXPECT_TRUE(own->usableBy(device(0)));
    EXPECT_EQ(own->usableBy(device(1)), peers);
    EXPECT_EQ(own->usableBy(device(2)), peers);
  }
}

}  // namespace
}  // namespace weft::test
