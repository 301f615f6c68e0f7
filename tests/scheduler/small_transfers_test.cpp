// Which stream little bytes move in that a command waits for.
#include <gtest/gtest.h>

#include "tests/scheduler/fake_platform.h"

namespace weft::test {
namespace {

class SmallTransfers : public testing::TestWithParam<cl_command_queue_properties> {
 protected:
  Ref<Buffer> filled(size_t bytes) {
    std::vector<char> contents(bytes, 7);
    return platform.buffer(bytes, CL_MEM_COPY_HOST_PTR, contents.data());
  }
  // The streams of the move to the device and of the copy there, which waits for it.
  std::pair<uint32_t, uint32_t> streams(size_t bytes) {
    fake.clearLog();
    const auto source = filled(bytes), target = platform.buffer(bytes);
    const auto copied = enqueueCopy(*queue, *source, *target, 0, 0, bytes, {});
    fake.finishAll();
    EXPECT_EQ(copied->status(), CL_COMPLETE);
    std::vector<FakeRecord> copies;
    for (const FakeRecord& record : fake.log())
      if (record.kind == FakeRecord::Kind::copy) copies.push_back(record);
    EXPECT_EQ(copies.size(), 2u);
    if (copies.size() != 2) return {};
    EXPECT_EQ(copies[0].from, port::host_space);
    EXPECT_EQ(copies[1].from, copies[1].to);
    return {copies[0].stream, copies[1].stream};
  }

  FakePlatform platform{{fenced(), fenced()}};
  FakeDevice& fake = platform.fake(1);
  Ref<Queue> queue = platform.queue(1, GetParam());
};

TEST_P(SmallTransfers, RunInTheStreamOfWhoWaits) {
  const auto [move, copy] = streams(4096);
  EXPECT_EQ(move, copy);
}

TEST_P(SmallTransfers, LargeOnesRunBesideIt) {
  const auto [move, copy] = streams(size_t{1} << 20);
  EXPECT_NE(move, copy);
}

TEST_P(SmallTransfers, GoAheadOfWhatTheQueueIsAt) {
  const auto before = platform.buffer(64);
  const char pattern = 1;
  const auto fill = enqueueFill(*queue, *before, &pattern, 1, 0, 64, {});
  const auto [move, copy] = streams(4096);
  // The commands of an out-of-order queue wait for nothing.
  EXPECT_EQ(move == copy, GetParam() == CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  EXPECT_TRUE(fill->done());
}

// The queue may be given up while they move.
TEST_P(SmallTransfers, KeepTheStreamTheyRunIn) {
  const auto source = filled(64), target = platform.buffer(64);
  const auto copied = enqueueCopy(*queue, *source, *target, 0, 0, 64, {});
  Ref<Queue>(queue).detach()->releaseHandle();
  queue = nullptr;
  EXPECT_TRUE(fake.finish());
  fake.finishAll();
  EXPECT_EQ(copied->status(), CL_COMPLETE);
}

INSTANTIATE_TEST_SUITE_P(Queues, SmallTransfers,
                         testing::Values(cl_command_queue_properties{0},
                                         cl_command_queue_properties{
                                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}));

}  // namespace
}  // namespace weft::test
