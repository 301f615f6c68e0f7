#include "partition/verdict.h"

#include <gtest/gtest.h>

namespace weft::partition {
namespace {

using Mode = Verdict::Mode;

// Launches of a kernel that takes so long in each way, and a while more after a change of it.
struct World {
  double together, alone, moving = 0;
  double expected_alone = 0;  // what the parts' times say; 0: nothing
  uint64_t launches[2] = {0, 0};
  double time = 0;
  Mode last = Mode::together;

  void run(Verdict& verdict, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const bool left = verdict.leaveWhole();
      const Mode mode = left ? Mode::alone : verdict.next();
      const double own = mode == Mode::together ? together : alone;
      const double took = own + (mode == last && launches[0] + launches[1] > 0 ? 0 : moving);
      last = mode;
      ++launches[static_cast<size_t>(mode)];
      time += took;
      if (left) continue;
      if (mode == Mode::together && expected_alone > 0) verdict.expectAlone(expected_alone);
      verdict.took(mode, took);
    }
  }
};

TEST(Verdict, FindsTheBetterWay) {
  for (const double moving : {0.0, 5e6}) {
    for (const double expected : {0.0, 1e6}) {
      Verdict verdict;
      World world{0.6e6, 1e6, moving, expected};
      world.run(verdict, 8);
      EXPECT_TRUE(verdict.settled());
      EXPECT_EQ(verdict.mode(), Mode::together);

      Verdict other;
      World slow{1.4e6, 1e6, moving, expected};
      slow.run(other, 8);
      EXPECT_TRUE(other.settled());
      EXPECT_EQ(other.mode(), Mode::alone);
    }
  }
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
  EXPECT_EQ(verdict.mode(), Mode::alone);
}

TEST(Verdict, LaunchesThatAreLeftWholeTellWhatTheyTake) {
  Verdict verdict;
  World world{1.2e6, 1e6};
  world.run(verdict, 10);
  ASSERT_EQ(verdict.mode(), Mode::alone);
  world.together = 0.9e6;  // which is no better than alone has become
  world.alone = 0.8e6;
  for (int i = 0; i < 10; ++i) verdict.leftWhole(world.alone);
  world.launches[0] = 0;
  world.run(verdict, 5000);
  EXPECT_LT(world.launches[0], 200u);
}

TEST(Verdict, ASmallGainIsNone) {
  Verdict verdict;
  World world{0.99e6, 1e6};
  world.run(verdict, 10);
  EXPECT_EQ(verdict.mode(), Mode::alone);
  // Nor is one of a microsecond.
  Verdict brief;
  World short_world{5000, 6000};
  short_world.run(brief, 10);
  EXPECT_EQ(brief.mode(), Mode::alone);
}

TEST(Verdict, PartsThatMoveAreNotJudged) {
  Verdict verdict;
  for (int launch = 0; launch < 3; ++launch) {
    ASSERT_EQ(verdict.next(), Mode::together);
    verdict.expectAlone(1e6);
    verdict.took(Mode::together, 5e6, true);
  }
  ASSERT_EQ(verdict.next(), Mode::together);
  verdict.took(Mode::together, 0.55e6);
  EXPECT_TRUE(verdict.settled());
  EXPECT_EQ(verdict.mode(), Mode::together);
}

TEST(Verdict, WhatShouldHaveBeenBetterGetsAnotherChanceSoon) {
  Verdict verdict;
  const auto launches = [&](int count, double together) {
    for (int i = 0; i < count; ++i) {
      if (verdict.leaveWhole()) continue;
      const Mode mode = verdict.next();
      verdict.expectTogether(0.5e6);
      verdict.took(mode, mode == Mode::together ? together : 1e6);
    }
  };
  launches(10, 3e6);  // data moved, and nobody knows why
  ASSERT_EQ(verdict.mode(), Mode::alone);
  launches(30, 0.6e6);
  EXPECT_EQ(verdict.mode(), Mode::together);
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
    ASSERT_EQ(verdict.mode(), Mode::alone);
    world.launches[0] = 0;
    world.run(verdict, 500);
    EXPECT_EQ(world.launches[0] > 0, scale > 1) << scale;
  }
}

TEST(Verdict, NoticesWhenTheWorldChanges) {
  Verdict verdict;
  World world{0.6e6, 1e6};
  world.run(verdict, 500);
  world.together = 2e6;  // another program has come
  world.launches[0] = world.launches[1] = 0;
  world.run(verdict, 20);
  EXPECT_EQ(verdict.mode(), Mode::alone);
  world.together = 0.6e6;  // and gone
  world.run(verdict, 2000);
  EXPECT_EQ(verdict.mode(), Mode::together);
}

TEST(Verdict, LaunchesThatAreEnqueuedAheadGetAFewTrials) {
  Verdict verdict;
  World world{1.5e6, 1e6};
  world.run(verdict, 20);
  ASSERT_EQ(verdict.mode(), Mode::alone);
  // None of them has begun when the last one is enqueued.
  uint64_t others = 0;
  for (int i = 0; i < 1000; ++i) others += !verdict.leaveWhole();
  EXPECT_GE(others, 1u);
  EXPECT_LE(others, 40u);
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
