#include "partition/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace weft::partition {
namespace {

MemberModel model(double unit_ns, bool measured = true) {
  MemberModel result;
  result.unit_ns = unit_ns;
  result.measured = measured;
  return result;
}

struct Given {
  size_t member;
  Slice slice;
};

// Runs the policy on members whose units take `unit_ns`; who is free first asks first.
struct Driver {
  std::vector<double> unit_ns;
  std::vector<Given> given;
  std::vector<double> end;

  void run(Policy& policy) {
    end.assign(unit_ns.size(), 0);
    std::vector<std::optional<Slice>> running(unit_ns.size());
    double now = 0;
    for (;;) {
      for (size_t i = 0; i < unit_ns.size(); ++i) {
        if (running[i]) continue;
        running[i] = policy.next(i, now, 0);
        if (!running[i]) continue;
        given.push_back({i, *running[i]});
        end[i] = now + unit_ns[i] * static_cast<double>(running[i]->count());
      }
      size_t first = unit_ns.size();
      for (size_t i = 0; i < unit_ns.size(); ++i)
        if (running[i] && (first == unit_ns.size() || end[i] < end[first])) first = i;
      if (first == unit_ns.size()) return;
      now = end[first];
      policy.finished(first, *running[first], now,
                      unit_ns[first] * static_cast<double>(running[first]->count()));
      running[first].reset();
    }
  }
  void expectEachOnce(uint64_t units) {
    std::sort(given.begin(), given.end(),
              [](auto& a, auto& b) { return a.slice.begin < b.slice.begin; });
    uint64_t next = 0;
    for (const Given& one : given) {
      EXPECT_EQ(one.slice.begin, next);
      EXPECT_GT(one.slice.count(), 0u);
      next = one.slice.end;
    }
    EXPECT_EQ(next, units);
  }
  double imbalance() const {
    const auto [shortest, longest] = std::minmax_element(end.begin(), end.end());
    return 1 - *shortest / *longest;
  }
};

TEST(StaticPolicy, OneSliceEach) {
  Driver driver{{1, 1, 1}, {}, {}};
  driver.run(*staticPolicy({3, 0, 7}));
  ASSERT_EQ(driver.given.size(), 2u);
  EXPECT_EQ(driver.given[0].slice, (Slice{0, 3}));
  EXPECT_EQ(driver.given[1].member, 2u);
  driver.expectEachOnce(10);
}

TEST(DynamicPolicy, FastMembersGetMore) {
  Driver driver{{1, 4}, {}, {}};
  driver.run(*dynamicPolicy(1000, 10));
  driver.expectEachOnce(1000);
  EXPECT_LT(driver.imbalance(), 0.05);
}

TEST(DynamicPolicy, LastChunkMayBeSmaller) {
  Driver driver{{1}, {}, {}};
  driver.run(*dynamicPolicy(25, 10));
  driver.expectEachOnce(25);
  EXPECT_EQ(driver.given.size(), 3u);
}

TEST(GuidedPolicy, KnownSpeedsTakeFewSlices) {
  Driver driver{{1, 4}, {}, {}};
  std::vector<MemberModel> models{model(1), model(4)};
  for (MemberModel& one : models) one.least_units = 10;
  driver.run(*guidedPolicy(models, {8000, 2000}));
  driver.expectEachOnce(10000);
  EXPECT_LT(driver.imbalance(), 0.01);
  EXPECT_LE(driver.given.size(), 16u);
  // Large ones first.
  EXPECT_GE(driver.given[0].slice.count(), 6000u);
}

// Estimates may be wrong by any factor: taking all of its home for being too short to be cut, the
// slow member would be the last one by far.
TEST(GuidedPolicy, WhatIsOnlyEstimatedBeginsWithLittle) {
  Driver driver{{500'000, 2'000'000}, {}, {}};
  std::vector<MemberModel> models{model(10, false), model(10, false)};
  for (MemberModel& one : models) one.slice_ns = 10'000;
  driver.run(*guidedPolicy(models, {32, 32}));
  EXPECT_LE(driver.given[0].slice.count(), 4u);
  EXPECT_LE(driver.given[1].slice.count(), 4u);
  // Not worse than the best one alone.
  EXPECT_LE(std::max(driver.end[0], driver.end[1]), 64 * 500'000.0);
  driver.expectEachOnce(64);
}

TEST(GuidedPolicy, TakesOverWhatWasMisjudged) {
  // Both are believed equal; one is five times slower.
  for (const bool measured : {false, true}) {
    Driver driver{{1, 5}, {}, {}};
    std::vector<MemberModel> models{model(1, measured), model(1, measured)};
    for (MemberModel& one : models) one.spread = 0.5;
    driver.run(*guidedPolicy(models, {5000, 5000}));
    driver.expectEachOnce(10000);
    if (!measured) {
      EXPECT_LT(driver.imbalance(), 0.02);
    }
    // The larger half of its home was given away when it was found out.
    EXPECT_LT(*std::max_element(driver.end.begin(), driver.end.end()), measured ? 13000 : 8600);
  }
}

TEST(GuidedPolicy, MembersWithoutShareGetNothing) {
  Driver driver{{1, 1}, {}, {}};
  driver.run(*guidedPolicy({model(1), model(1)}, {100, 0}));
  for (const Given& one : driver.given) EXPECT_EQ(one.member, 0u);
  driver.expectEachOnce(100);
}

TEST(GuidedPolicy, RespectsTheLeastSlice) {
  Driver driver{{1, 2}, {}, {}};
  std::vector<MemberModel> models{model(1), model(2)};
  for (MemberModel& one : models) one.least_units = 64;
  driver.run(*guidedPolicy(models, {667, 333}));
  driver.expectEachOnce(1000);
  for (const Given& one : driver.given) EXPECT_GE(one.slice.count(), 32u);
}

TEST(GuidedPolicy, FixedCostsLimitTheNumberOfSlices) {
  Driver driver{{1, 1}, {}, {}};
  std::vector<MemberModel> models{model(1), model(1)};
  for (MemberModel& one : models) one.slice_ns = 100;
  driver.run(*guidedPolicy(models, {10000, 10000}));
  driver.expectEachOnce(20000);
  EXPECT_LE(driver.given.size(), 8u);
}

TEST(GuidedPolicy, EveryUnitOnceWhateverIsTrue) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](uint64_t n) { return random() % n + 1; };
    Driver driver;
    std::vector<MemberModel> models;
    std::vector<double> weights;
    for (uint64_t i = upto(6); i > 0; --i) {
      driver.unit_ns.push_back(static_cast<double>(upto(1000)));
      models.push_back(model(static_cast<double>(upto(1000)), random() % 2 == 0));
      models.back().slice_ns = static_cast<double>(upto(5000) - 1);
      models.back().start_ns = static_cast<double>(upto(5000) - 1);
      models.back().transfer_ns = static_cast<double>(upto(2000) - 1);
      models.back().least_units = upto(300);
      models.back().spread = static_cast<double>(upto(100)) / 50;
      weights.push_back(static_cast<double>(upto(10) - 1));
    }
    weights[0] += 1;
    const uint64_t units = upto(random() % 2 == 0 ? 10 : 100000);
    driver.run(*guidedPolicy(models, apportion(weights, units)));
    driver.expectEachOnce(units);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft::partition
