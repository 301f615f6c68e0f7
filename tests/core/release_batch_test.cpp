#include "core/release_batch.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace weft::test {
namespace {

struct Counted final : Object {
  explicit Counted(std::atomic<int>& ended) : ended(ended) {}
  ~Counted() override { ++ended; }
  std::atomic<int>& ended;
};

class ReleaseBatchTest : public ::testing::Test {
 protected:
  Ref<Counted> object() { return make<Counted>(ended); }
  std::atomic<int> ended = 0;
};

TEST_F(ReleaseBatchTest, GivesAtOnceWhereNoneIsOpen) {
  ReleaseBatch::give(object());
  EXPECT_EQ(ended, 1);
}

TEST_F(ReleaseBatchTest, KeepsUntilItIsFlushedOrGoes) {
  const auto shared = object();
  {
    const ReleaseBatch batch;
    ReleaseBatch::give(object());
    for (int i = 0; i < 5; ++i) ReleaseBatch::give(Ref<Counted>(shared));
    EXPECT_EQ(ended, 0);
    EXPECT_FALSE(shared->isUnique());
    ReleaseBatch::flush();
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(shared->isUnique());
    ReleaseBatch::give(object());
    EXPECT_EQ(ended, 1);
  }
  EXPECT_EQ(ended, 2);
}

TEST_F(ReleaseBatchTest, KeepsFew) {
  const ReleaseBatch batch;
  for (int i = 0; i < 50; ++i) ReleaseBatch::give(object());
  EXPECT_GE(ended, 40);
  const auto shared = object();
  for (int i = 0; i < 1000; ++i) ReleaseBatch::give(Ref<Counted>(shared));
  ReleaseBatch::flush();
  EXPECT_EQ(ended, 50);
  EXPECT_TRUE(shared->isUnique());
}

// However many there were.
TEST_F(ReleaseBatchTest, FlushesAll) {
  const auto shared = object();
  for (int count = 1; count < 300; ++count) {
    {
      const ReleaseBatch batch;
      for (int i = 0; i < count; ++i) ReleaseBatch::give(Ref<Counted>(shared));
      EXPECT_TRUE(ReleaseBatch::holdsAny());
      ReleaseBatch::flush();
      EXPECT_FALSE(ReleaseBatch::holdsAny());
      ASSERT_TRUE(shared->isUnique()) << count;
      for (int i = 0; i < count; ++i) ReleaseBatch::give(Ref<Counted>(shared));
    }
    ASSERT_TRUE(shared->isUnique()) << count;
  }
}

// What ends gives up references, too.
TEST_F(ReleaseBatchTest, KeepsWhatIsGivenWhileItReleases) {
  struct Chain final : Object {
    ~Chain() override { ReleaseBatch::give(std::move(next)); }
    Ref<Object> next;
  };
  {
    const ReleaseBatch batch;
    for (int n = 0; n < 20; ++n) {
      Ref<Object> chain = object();
      for (int i = 0; i < 10; ++i) {
        auto link = make<Chain>();
        link->next = std::move(chain);
        chain = std::move(link);
      }
      ReleaseBatch::give(std::move(chain));
    }
  }
  EXPECT_EQ(ended, 20);
}

TEST_F(ReleaseBatchTest, OthersReclaim) {
  const ReleaseBatch batch;
  auto shared = object();
  for (int i = 0; i < 3; ++i) ReleaseBatch::give(Ref<Counted>(shared));
  std::thread([&] {
    ReleaseBatch::reclaim(*shared);
    EXPECT_TRUE(shared->isUnique());
    shared = nullptr;
  }).join();
  EXPECT_EQ(ended, 1);
}

TEST_F(ReleaseBatchTest, OthersFlushAll) {
  const ReleaseBatch batch;
  const auto shared = object();
  for (int i = 0; i < 3; ++i) ReleaseBatch::give(Ref<Counted>(shared));
  ReleaseBatch::give(object());
  std::thread([] { ReleaseBatch::flushAll(); }).join();
  EXPECT_TRUE(shared->isUnique());
  EXPECT_EQ(ended, 1);
}

// Threads give and flush while others take, reclaim and end the objects.
TEST_F(ReleaseBatchTest, NoneIsLostAndNoneGivenTwice) {
  constexpr int rounds = 2000;
  std::array<std::atomic<Counted*>, 8> offered{};
  std::atomic<bool> over = false;
  std::vector<std::thread> givers;
  for (int i = 0; i < 3; ++i)
    givers.emplace_back([&] {
      const ReleaseBatch batch;
      for (unsigned n = 0; !over; ++n) {
        if (Counted* const taken = offered[n % offered.size()].exchange(nullptr))
          ReleaseBatch::give(Ref<Counted>::adopt(taken));
        if (n % 1024 == 0) ReleaseBatch::flush();
      }
    });
  for (int round = 0; round < rounds; ++round) {
    const auto mine = object();
    for (int n = 0; n < 20; ++n)
      if (Counted* const left =
              offered[static_cast<size_t>(n) % offered.size()].exchange(Ref(mine).detach()))
        left->release();
    if (round % 3 == 0) ReleaseBatch::flushAll();
    ReleaseBatch::reclaim(*mine);
  }
  over = true;
  for (std::thread& giver : givers) giver.join();
  for (auto& place : offered)
    if (Counted* const left = place.exchange(nullptr)) left->release();
  EXPECT_EQ(ended, rounds);
}

}  // namespace
}  // namespace weft::test
