#include "backends/cpu/contest.h"

#include <gtest/gtest.h>

#include <functional>

namespace weft::cpu {
namespace {

void usualForm(const void* const*, const port::LaunchRecord*, const port::GroupBox*, void*, void*) {
}
void otherForm(const void* const*, const port::LaunchRecord*, const port::GroupBox*, void*, void*) {
}

// Turns until it is over, where one of `side` takes so many nanoseconds for 100 work-items.
int turnsOf(Contest& contest,
            const std::function<port::Nanoseconds(Contest::Side, int)>& nanoseconds) {
  int turns = 0;
  while (contest.isOpen() && turns < 1000) {
    EXPECT_EQ(contest.best(), usualForm);
    const Contest::Side side = contest.next();
    contest.record(side, nanoseconds(side, turns++), 100);
  }
  return turns;
}

TEST(ContestTest, TheFasterFormWins) {
  Contest won(usualForm, otherForm, -1);
  turnsOf(won, [](auto side, int) { return side == Contest::other ? 900 : 1000; });
  EXPECT_EQ(won.best(), otherForm);
  Contest lost(usualForm, otherForm, -1);
  turnsOf(lost, [](auto side, int) { return side == Contest::other ? 1100 : 1000; });
  EXPECT_EQ(lost.best(), usualForm);
}

TEST(ContestTest, FormsTakeTurns) {
  Contest contest(usualForm, otherForm, -1);
  int turns[2] = {};
  turnsOf(contest, [&](auto side, int) { return ++turns[side], 1000; });
  EXPECT_LE(std::abs(turns[0] - turns[1]), 1);
  EXPECT_EQ(contest.best(), usualForm) << "a form that is no faster won";
}

TEST(ContestTest, WhatIsClearIsSeenSoon) {
  Contest contest(usualForm, otherForm, -1);
  const int turns =
      turnsOf(contest, [](auto side, int) { return side == Contest::other ? 16'000 : 1000; });
  EXPECT_LE(turns, 12);
  EXPECT_EQ(contest.best(), usualForm);
}

// The first turn of each brings its code into the caches, and a thread may be interrupted.
TEST(ContestTest, OneLongTurnDoesNotDecide) {
  for (int interrupted = 2; interrupted < 40; interrupted += 2) {
    Contest contest(usualForm, otherForm, -1);
    turnsOf(contest, [&](auto side, int turn) -> port::Nanoseconds {
      const bool is_other = side == Contest::other;
      if (is_other && turn < 2) return 100'000;
      if (is_other && turn >= interrupted && turn < interrupted + 2) return 1'000'000;
      return is_other ? 500 : 1000;
    });
    EXPECT_EQ(contest.best(), otherForm) << "in turn " << interrupted;
  }
}

TEST(ContestTest, LongTurnsOfAFarSlowerFormAreFew) {
  Contest contest(usualForm, otherForm, 10'000);
  const int turns = turnsOf(
      contest, [](auto side, int) { return side == Contest::other ? 16'000'000 : 1'000'000; });
  EXPECT_EQ(turns, 1);
  EXPECT_EQ(contest.best(), usualForm);
}

// Launches of fewer work-items, and work-groups that take longer than others.
TEST(ContestTest, TimesAreOfWorkItems) {
  Contest contest(usualForm, otherForm, -1);
  for (int turn = 0; contest.isOpen(); ++turn) {
    ASSERT_LT(turn, 1000);
    const Contest::Side side = contest.next();
    const auto items = static_cast<uint64_t>(1 + turn / 2 % 5);
    contest.record(side, items * (side == Contest::other ? 300u : 450u), items);
    contest.record(side, 1'000'000, 0);
  }
  EXPECT_EQ(contest.best(), otherForm);
}

}  // namespace
}  // namespace weft::cpu
