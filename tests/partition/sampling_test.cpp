#include "partition/sampling.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "partition/homes.h"

namespace weft::partition {
namespace {

using Shares = std::vector<uint64_t>;

// Launches of which so many are under way when the next one is planned.
struct Launches {
  Homes homes;
  Sampling sampling;
  size_t ahead = 0;
  unsigned measured = 0;

  // The second member needs so many times as long as the first one.
  void launch(double slow = 1) {
    const Sampling::Choice choice = sampling.next(false);
    measured += choice.measured;
    under_way_.push_back({homes.shares(), choice.measured && choice.behind_measured, slow});
    if (under_way_.size() > ahead) end();
  }
  // Launches until the shares are those.
  unsigned launchesUntil(const Shares& shares) {
    unsigned count = 0;
    for (; homes.shares() != shares && count < 1000; ++count) launch();
    return count;
  }

 private:
  struct One {
    Shares shares;
    bool counts;
    double slow;
  };

  void end() {
    const One one = under_way_.front();
    under_way_.pop_front();
    if (!one.counts) return;
    std::vector<Homes::Done> done;
    for (size_t i = 0; i < one.shares.size(); ++i) {
      const double time = 1000 * static_cast<double>(one.shares[i]) * (i == 1 ? one.slow : 1);
      done.push_back({one.shares[i], time, time});
    }
    homes.ended(done);
    if (homes.moved()) sampling.startOver();
  }

  std::deque<One> under_way_;
};

TEST(Sampling, FewAreMeasuredLater) {
  Sampling sampling;
  unsigned measured = 0, learned_from = 0;
  for (int i = 0; i < 32; ++i) EXPECT_TRUE(sampling.next(false).measured);
  for (int i = 0; i < 1280; ++i) {
    const Sampling::Choice choice = sampling.next(false);
    measured += choice.measured;
    learned_from += choice.measured && choice.behind_measured;
  }
  EXPECT_EQ(measured, 40u);
  EXPECT_EQ(learned_from, 30u);
  EXPECT_TRUE(sampling.next(true).measured);
  EXPECT_TRUE(sampling.next(true).behind_measured);
}

TEST(Sampling, ChangesAreFollowedAtOnce) {
  Sampling sampling;
  for (int i = 0; i < 60; ++i) sampling.next(false);
  sampling.startOver();
  // What is before the first one ended nobody knows when.
  EXPECT_FALSE(sampling.next(false).behind_measured);
  for (int i = 1; i < 32; ++i) {
    const Sampling::Choice choice = sampling.next(false);
    EXPECT_TRUE(choice.measured && choice.behind_measured);
  }
  EXPECT_FALSE(sampling.next(false).measured);
}

// However far ahead of their ends launches are planned.
TEST(Sampling, WhatAHiccupDidIsUndoneSoon) {
  for (const size_t ahead : {0u, 3u, 20u, 200u}) {
    Launches launches;
    launches.ahead = ahead;
    launches.homes.set({32, 32});
    for (unsigned i = 0; i < 600; ++i) launches.launch();
    ASSERT_EQ(launches.homes.shares(), (Shares{32, 32}));
    // Until one of those that are measured has it.
    while (launches.homes.shares() == Shares{32, 32}) launches.launch(3);
    // One of the second member's slow ones may still be under way, with the shares from before it.
    EXPECT_LE(launches.launchesUntil({32, 32}), 2 * ahead + 4) << ahead;
    const unsigned before = launches.measured;
    for (unsigned i = 0; i < 1280; ++i) launches.launch();
    EXPECT_EQ(launches.homes.shares(), (Shares{32, 32}));
    EXPECT_LT(launches.measured - before, 100 + 2 * ahead);
  }
}

}  // namespace
}  // namespace weft::partition
