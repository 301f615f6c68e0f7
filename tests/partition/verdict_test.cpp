#include "partition/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weft::partition {
namespace {

using Way = Verdict::Way;
constexpr Way together = Verdict::together, alone = 1;  // of two members

// Launches on all members, half of them and so on, and what they are expected to take without what
// the host adds.
struct Crowd {
  std::vector<double> times, expected;
  double moving = 0, execution_alone = 0;
  std::vector<uint64_t> launches = std::vector<uint64_t>(times.size());
  double time = 0;
  Way last = Verdict::together;

  void run(Verdict& verdict, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const bool left = verdict.leaveWhole();
      const Way way = left ? verdict.alone() : verdict.next();
      const double took = times[way] + (way == last ? 0 : moving);
      last = way;
      ++launches[way];
      time += took;
      if (execution_alone > 0 && way == verdict.alone()) verdict.executedAlone(execution_alone);
      if (left) continue;
      for (Way each = 0; each < expected.size(); ++each) verdict.expect(each, expected[each]);
      verdict.took(way, took);
    }
  }
};

// Of two members.
struct World : Crowd {
  World(double together_ns, double alone_ns, double moving_ns = 0, double expected_alone_ns = 0)
      : Crowd{{together_ns, alone_ns}, {0, expected_alone_ns}, moving_ns} {}
};

TEST(Verdict, FindsTheBetterWay) {
  for (const double moving : {0.0, 5e6}) {
    for (const double expected : {0.0, 1e6}) {
      Verdict verdict;
      World world{0.6e6, 1e6, moving, expected};
      world.run(verdict, 8);
      EXPECT_TRUE(verdict.settled());
      EXPECT_EQ(verdict.way(), together);

      Verdict other;
      World slow{1.4e6, 1e6, moving, expected};
      slow.run(other, 8);
      EXPECT_TRUE(other.settled());
      EXPECT_EQ(other.way(), alone);
    }
  }
}

// The first launches together make what later ones find made, where data is merged for example.
TEST(Verdict, OneSlowLaunchLosesNothing) {
  constexpr double alone_ns = 2e6, together_ns = 1.2e6;
  Verdict verdict;
  const auto took = [&](double nanoseconds) {
    ASSERT_FALSE(verdict.leaveWhole());
    verdict.took(verdict.next(), nanoseconds);
  };
  verdict.took(alone, alone_ns);
  verdict.leftWhole(alone_ns);
  for (const double nanoseconds : {9e6, 5e6, together_ns}) {
    EXPECT_FALSE(verdict.settled());
    ASSERT_EQ(verdict.way(), together);
    took(nanoseconds);
  }
  EXPECT_TRUE(verdict.settled());
  EXPECT_EQ(verdict.way(), together);
}

TEST(Verdict, NobodyTriesWhatIsWorseForSure) {
  Verdict verdict;
  World world{0.55e6, 1e6, 0, 1.05e6};
  world.run(verdict, 1000);
  EXPECT_EQ(world.launches[1], 0u);
}

// Of short kernels what parts take is mostly what it takes to run any.
TEST(Verdict, WhatIsBriefIsTriedAlone) {
  Verdict verdict;
  World world{20e3, 14e3, 0, 40e3};
  world.run(verdict, 20);
  EXPECT_EQ(verdict.way(), alone);
}

TEST(Verdict, LaunchesThatAreLeftWholeTellWhatTheyTake) {
  Verdict verdict;
  World world{1.2e6, 1e6};
  world.run(verdict, 10);
  ASSERT_EQ(verdict.way(), alone);
  world.times[together] = 0.9e6;  // which is no better than alone has become
  world.times[alone] = 0.8e6;
  for (int i = 0; i < 10; ++i) verdict.leftWhole(world.times[alone]);
  world.launches[0] = 0;
  world.run(verdict, 5000);
  EXPECT_LT(world.launches[0], 300u);
}

TEST(Verdict, ASmallGainIsNone) {
  Verdict verdict;
  World world{0.99e6, 1e6};
  world.run(verdict, 10);
  EXPECT_EQ(verdict.way(), alone);
  // Nor is one of a microsecond.
  Verdict brief;
  World short_world{5000, 6000};
  short_world.run(brief, 10);
  EXPECT_EQ(brief.way(), alone);
}

TEST(Verdict, PartsThatMoveAreNotJudged) {
  Verdict verdict;
  for (int launch = 0; launch < 3; ++launch) {
    ASSERT_EQ(verdict.next(), together);
    verdict.expect(alone, 1e6);
    verdict.took(together, 5e6, true);
  }
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_EQ(verdict.next(), together);
    verdict.took(together, 0.55e6);
  }
  EXPECT_TRUE(verdict.settled());
  EXPECT_EQ(verdict.way(), together);
}

// All launches of four members' ways, until there is a verdict on them.
Way judge(std::initializer_list<std::vector<double>> times) {
  Verdict verdict(4);
  size_t launches[3] = {};
  for (int launch = 0; launch < 60; ++launch) {
    if (verdict.leaveWhole()) continue;
    const Way way = verdict.next();
    verdict.expect(0, 55e3);
    verdict.expect(1, 94e3);
    verdict.expect(2, 183e3);
    const std::vector<double>& each = times.begin()[way];
    verdict.took(way, 1e3 * each[std::min(launches[way]++, each.size() - 1)]);
  }
  EXPECT_TRUE(verdict.settled());
  return verdict.way();
}

// As seen on four GPUs.
TEST(Verdict, ATrialLastsUntilLaunchesKeepPace) {
  EXPECT_EQ(judge({{3582, 265, 228, 200, 123, 112, 117, 94, 91}, {311, 112, 107}, {467, 201, 183}}),
            together);
  // The first of them run in no time after what they waited for.
  EXPECT_EQ(judge({{620, 64, 56, 211, 270, 260, 260, 293, 237}, {161, 139}, {538, 138}}), 2u);
}

// A queue that had run empty, or whatever else.
TEST(Verdict, OneSlowLaunchChangesNothing) {
  Verdict verdict(4);
  Crowd crowd{{90e3, 107e3, 183e3}, {55e3, 104e3, 183e3}};
  crowd.run(verdict, 30);
  ASSERT_EQ(verdict.way(), together);
  verdict.took(together, 900e3);
  EXPECT_EQ(verdict.way(), together);
  crowd.launches.assign(3, 0);
  crowd.run(verdict, 30);
  EXPECT_EQ(crowd.launches[together], 30u);
}

TEST(Verdict, TrialsCostLittle) {
  for (const double together : {0.3e6, 0.9e6, 1.5e6, 10e6}) {
    Verdict verdict;
    World world{together, 1e6};
    world.run(verdict, 10);
    world.time = 0;
    world.run(verdict, 20000);
    const double best = std::min(together, 1e6) * 20000;
    EXPECT_LT(world.time, 1.02 * best) << together;
  }
}

// Whoever enqueues ahead waits for a trial, which counts beside launches of a few microseconds.
TEST(Verdict, ShortLaunchesAreTriedMoreRarely) {
  for (const double scale : {1.0, 1000.0}) {
    Verdict verdict;
    World world{20e3 * scale, 13e3 * scale};
    world.run(verdict, 20);
    ASSERT_EQ(verdict.way(), alone);
    world.launches[0] = 0;
    world.run(verdict, 500);
    EXPECT_EQ(world.launches[0] > 0, scale > 1) << scale;
  }
}

TEST(Verdict, NoticesWhenTheWorldChanges) {
  Verdict verdict;
  World world{0.6e6, 1e6};
  world.run(verdict, 500);
  world.times[together] = 2e6;  // another program has come
  world.launches[0] = world.launches[1] = 0;
  world.run(verdict, 20);
  EXPECT_EQ(verdict.way(), alone);
  world.times[together] = 0.6e6;  // and gone
  world.run(verdict, 2000);
  EXPECT_EQ(verdict.way(), together);
}

TEST(Verdict, LaunchesThatAreEnqueuedAheadGetAFewTrials) {
  Verdict verdict;
  World world{1.5e6, 1e6};
  world.run(verdict, 20);
  ASSERT_EQ(verdict.way(), alone);
  // None of them has begun when the last one is enqueued.
  uint64_t others = 0;
  for (int i = 0; i < 1000; ++i) others += !verdict.leaveWhole();
  EXPECT_GE(others, 1u);
  EXPECT_LE(others, 40u);
}

TEST(Verdict, WaysAreHalvesOfHalves) {
  const Verdict two(2), five(5), eight(8);
  EXPECT_EQ(two.ways(), 2u);
  ASSERT_EQ(five.ways(), 4u);
  EXPECT_EQ(five.members(1), 3u);
  EXPECT_EQ(five.members(2), 2u);
  ASSERT_EQ(eight.ways(), 4u);
  EXPECT_EQ(eight.members(1), 4u);
  for (const Verdict& verdict : {two, five, eight}) EXPECT_EQ(verdict.members(verdict.alone()), 1u);
}

TEST(Verdict, FindsHowManyMembersAreWorthIt) {
  for (const double moving : {0.0, 500e3}) {
    Verdict verdict(4);
    Crowd crowd{{95e3, 76e3, 127e3}, {32e3, 63e3, 127e3}, moving};
    crowd.run(verdict, 40);
    EXPECT_TRUE(verdict.settled());
    EXPECT_EQ(verdict.way(), 1u);
  }
}

// Which was not worth a trial while all were thought to be as good.
TEST(Verdict, FewerAreTriedWhenAllGetWorse) {
  Verdict verdict(4);
  Crowd crowd{{70e3, 76e3, 127e3}, {40e3, 67e3, 127e3}};
  crowd.run(verdict, 40);
  ASSERT_EQ(verdict.way(), together);
  ASSERT_EQ(crowd.launches[1], 0u);
  crowd.times[0] = 150e3;
  crowd.run(verdict, 60);
  EXPECT_EQ(verdict.way(), 1u);
}

TEST(Verdict, FewerAreNotTriedWhereAllAreBetterForSure) {
  Verdict verdict(4);
  Crowd crowd{{18e6, 35e6, 69e6}, {17e6, 34e6, 68e6}};
  crowd.run(verdict, 1000);
  EXPECT_EQ(crowd.launches[1] + crowd.launches[2], 0u);
}

TEST(Verdict, TrialsOfFewerMembersCostLittle) {
  for (const double moving : {0.0, 2e6})
    for (const double host : {0.0, 50e3, 100e3, 1e6}) {  // a part
      Verdict verdict(8);
      Crowd crowd{{}, {125e3, 250e3, 500e3, 1e6}, moving};
      for (Way way = 0; way < 4; ++way)
        crowd.times.push_back(crowd.expected[way] + host * static_cast<double>(8 >> way));
      crowd.launches.resize(4);
      crowd.run(verdict, 30);
      crowd.time = 0;
      crowd.run(verdict, 20'000);
      EXPECT_LT(crowd.time, 1.06 * *std::ranges::min_element(crowd.times) * 20'000) << host;
    }
}

TEST(Verdict, NoticesThatMoreMembersBecameWorthIt) {
  Verdict verdict(4);
  Crowd crowd{{95e3, 76e3, 127e3}, {32e3, 63e3, 127e3}};
  crowd.run(verdict, 100);
  ASSERT_EQ(verdict.way(), 1u);
  crowd.times[0] = 40e3;
  crowd.run(verdict, 2000);
  EXPECT_EQ(verdict.way(), Verdict::together);
}

// What launches that were left whole took is known by then, so none has to be tried alone.
TEST(Verdict, WhatIsPostponedIsTriedAfterSoManyLaunches) {
  Verdict verdict;
  verdict.postpone(20);
  World world{20e3, 40e3, 500e3, 38e3};
  world.last = alone;
  for (int i = 0; i < 19; ++i) {
    ASSERT_TRUE(verdict.leaveWhole());
    verdict.leftWhole(40e3);
  }
  world.run(verdict, 100);
  EXPECT_EQ(world.launches[alone], 0u);
}

// So it is for those that were enqueued before anybody knew.
TEST(Verdict, LaunchesThatWereEnqueuedBeforeCountToo) {
  Verdict verdict;
  ASSERT_FALSE(verdict.leaveWhole());
  verdict.postpone(5);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(verdict.next(), alone);
  EXPECT_EQ(verdict.next(), together);
}

TEST(Verdict, WhatIsRefusedIsAskedAgainEverMoreRarely) {
  Verdict verdict;
  uint64_t asked = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (verdict.leaveWhole()) continue;
    ++asked;
    verdict.refuse();
  }
  EXPECT_GE(asked, 4u);
  EXPECT_LE(asked, 20u);
}

}  // namespace
}  // namespace weft::partition
