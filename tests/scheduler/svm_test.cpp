// Shared virtual memory of devices that find it at the host's address: where it is made, and what
// moves its pages.
#include "core/svm.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

  std::unique_ptr<FakePlatform> platform;
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

// Also for a unified device: it uses what its members do.
TEST(ManagedSvm, IsMadeBesideUnifiedDevices) {
  setenv("WEFT_UNIFIED", "1", 1);
  auto backend = std::make_unique<FakeBackend>(
      std::vector{sharing(FakeShares::everything), sharing(FakeShares::managed)});
  std::vector<std::unique_ptr<port::Backend>> backends;
  backends.push_back(std::move(backend));
  const auto platform = make<Platform>(std::move(backends), std::make_unique<NoCompiler>());
  addUnifiedDevice(*platform);
  unsetenv("WEFT_UNIFIED");
  ASSERT_EQ(platform->devices().size(), 3u);
  const auto context = make<Context>(*platform, platform->devices(),
                                     std::vector<cl_context_properties>{}, nullptr, nullptr);
  context->setState(makeContextState(*context));
  const std::byte* const memory = context->svm().allocate(4096);
  EXPECT_EQ(context->svm().find(memory)->storage().managedBy(), platform->devices().at(1).get());
}

}  // namespace
}  // namespace weft::test
