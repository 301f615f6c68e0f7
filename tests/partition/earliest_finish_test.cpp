#include "partition/earliest_finish.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::partition {
namespace {

constexpr double us = 1000, ms = 1000 * us;

Candidate candidate(double free_ns, double transfer_ns, double execution_ns, bool measured = true) {
  return {free_ns, transfer_ns, execution_ns, measured};
}

TEST(EarliestFinish, WhoIsFreeFirst) {
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(1 * ms, 0, 1 * ms), candidate(0, 0, 1 * ms)}, 0, 0), 1u);
  EXPECT_EQ(earliestFinish(std::vector{candidate(0, 0, 1 * ms), candidate(0, 0, 1 * ms)}, 0, 1),
            1u);
}

// Nobody can begin before what the command depends on has ended.
TEST(EarliestFinish, AChainStaysWhereItIs) {
  const std::vector both{candidate(5 * ms, 0, 1 * ms), candidate(0, 0, 1 * ms)};
  EXPECT_EQ(earliestFinish(both, 5 * ms, 0), 0u);
  EXPECT_EQ(earliestFinish(both, 2 * ms, 0), 1u);
}

TEST(EarliestFinish, BytesTakeTimeToMove) {
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(1 * ms, 0, 1 * ms), candidate(0, 2 * ms, 1 * ms)}, 0, 0),
      0u);
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(4 * ms, 0, 1 * ms), candidate(0, 2 * ms, 1 * ms)}, 0, 0),
      1u);
  // They may move while the member is at something else.
  EXPECT_EQ(earliestFinish(
                std::vector{candidate(4 * ms, 0, 1 * ms), candidate(3 * ms, 2 * ms, 1 * ms)}, 0, 0),
            1u);
  // Of those that are as early, the one that has them.
  EXPECT_EQ(earliestFinish(
                std::vector{candidate(3 * us, 3 * us, 1 * ms), candidate(3 * us, 0, 1 * ms)}, 0, 0),
            1u);
}

TEST(EarliestFinish, SpeedsDecide) {
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(0, 0, 8 * ms), candidate(3 * ms, 0, 2 * ms)}, 0, 0), 1u);
  // What is only guessed has to be better by far.
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(0, 0, 3 * ms), candidate(0, 0, 2 * ms, false)}, 0, 0),
      0u);
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(0, 0, 5 * ms), candidate(0, 0, 2 * ms, false)}, 0, 0),
      1u);
}

TEST(EarliestFinish, WhoCannotBeBeatenIsFreeFastestAndHasTheBytes) {
  const auto unbeaten = [](const Candidate& one, const Candidate& other, double ready_ns = 0) {
    return cannotBeBeaten(std::vector{one, other}, ready_ns, 0);
  };
  EXPECT_TRUE(unbeaten(candidate(0, 0, 1 * ms), candidate(0, 0, 1 * ms)));
  EXPECT_TRUE(unbeaten(candidate(5 * ms, 0, 1 * ms), candidate(0, 0, 1 * ms), 5 * ms));
  EXPECT_FALSE(unbeaten(candidate(5 * ms, 0, 1 * ms), candidate(0, 0, 1 * ms)));
  EXPECT_FALSE(unbeaten(candidate(0, 1 * us, 1 * ms), candidate(0, 0, 1 * ms)));
  EXPECT_FALSE(unbeaten(candidate(0, 0, 2 * ms), candidate(0, 0, 1 * ms)));
  // What is only guessed has to be better by far.
  EXPECT_FALSE(unbeaten(candidate(0, 0, 2 * ms, false), candidate(0, 0, 3 * ms)));
  EXPECT_TRUE(unbeaten(candidate(0, 0, 2 * ms, false), candidate(0, 0, 5 * ms)));
}

// Waiting for each other over devices costs more than what these would gain.
TEST(EarliestFinish, LittleIsNotWorthAMove) {
  EXPECT_EQ(
      earliestFinish(std::vector{candidate(8 * us, 0, 1 * us), candidate(0, 0, 1 * us)}, 0, 0), 0u);
}

TEST(EarliestFinish, WhatDoesNotDependSpreadsEvenly) {
  std::vector<double> load(4, 0.0);
  std::vector<int> count(4);
  for (int i = 0; i < 400; ++i) {
    std::vector<Candidate> all;
    for (const double free : load) all.push_back(candidate(free, 0, 1 * ms));
    const size_t chosen = earliestFinish(all, 0, 0);
    load[chosen] += 1 * ms;
    ++count[chosen];
  }
  EXPECT_EQ(count, std::vector<int>(4, 100));
}

TEST(ExpectedLoad, PassesWithTime) {
  ExpectedLoad load;
  EXPECT_EQ(load.remaining(5), 0);
  load.add(100, 1000);
  EXPECT_EQ(load.remaining(1000), 100);
  EXPECT_EQ(load.remaining(1040), 60);
  EXPECT_EQ(load.remaining(9000), 0);  // it is late
  load.add(50, 9000);
  EXPECT_EQ(load.remaining(9000), 75);  // and one of two still at work
  load.remove(100, 9000);
  EXPECT_EQ(load.remaining(9000), 50);
  EXPECT_EQ(load.remaining(9010), 40);
  load.remove(50, 9050);
  EXPECT_EQ(load.remaining(9060), 0);
}

// The clock that ends are told on may be behind.
TEST(ExpectedLoad, TimesOutOfOrder) {
  ExpectedLoad load;
  load.add(100, 1000);
  EXPECT_EQ(load.remaining(900), 100);
}

}  // namespace
}  // namespace weft::partition
