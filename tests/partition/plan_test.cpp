#include "partition/plan.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::partition {
namespace {

using Shares = std::vector<uint64_t>;

constexpr SplitMargin no_margin{0, 0};

MemberModel model(double unit_ns) {
  MemberModel result;
  result.unit_ns = unit_ns;
  result.measured = true;
  return result;
}

TEST(Apportion, LosesNothing) {
  EXPECT_EQ(apportion(std::vector<double>{1, 1}, 10), (Shares{5, 5}));
  EXPECT_EQ(apportion(std::vector<double>{4, 1}, 10), (Shares{8, 2}));
  EXPECT_EQ(apportion(std::vector<double>{0, 1, 0}, 7), (Shares{0, 7, 0}));
  for (const uint64_t units : {uint64_t{1}, uint64_t{2}, uint64_t{1000}, uint64_t{1} << 40}) {
    const Shares shares = apportion(std::vector<double>{0.1, 0.2, 0.3, 1e-9, 0}, units);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), uint64_t{0}), units);
    EXPECT_EQ(shares[4], 0u);
  }
}

TEST(Plan, EqualMembersGetEqualShares) {
  const Plan result = plan(std::vector{model(10), model(10)}, 1000, no_margin);
  EXPECT_EQ(result.shares, (Shares{500, 500}));
  EXPECT_DOUBLE_EQ(result.split_ns, 5000);
  EXPECT_DOUBLE_EQ(result.single_ns, 10000);
}

TEST(Plan, SpeedsDecide) {
  EXPECT_EQ(plan(std::vector{model(10), model(40)}, 1000, no_margin).shares, (Shares{800, 200}));
}

TEST(Plan, AllFinishTogether) {
  std::vector<MemberModel> members{model(10), model(20), model(5)};
  members[0].start_ns = 3000;
  members[1].slice_ns = 1000;
  members[2].transfer_ns = 30;  // slower than it computes
  const Plan result = plan(members, 10000, no_margin);
  for (size_t i = 0; i < members.size(); ++i)
    EXPECT_NEAR(members[i].timeOf(result.shares[i]), result.split_ns, 31);
}

TEST(Plan, SmallSharesAreNoShares) {
  std::vector<MemberModel> members{model(10), model(1000)};
  members[1].least_units = 20;
  EXPECT_EQ(plan(members, 1000, no_margin).shares, (Shares{1000, 0}));
  EXPECT_TRUE(plan(members, 10000, no_margin).split());
}

// Half of the work does not make full use of a member, but two do it sooner than one does all.
TEST(Plan, SharesMayBeSomewhatSmall) {
  std::vector<MemberModel> members{model(1000), model(1000)};
  for (MemberModel& one : members) one.least_units = 40;
  EXPECT_EQ(plan(members, 64).shares, (Shares{32, 32}));
  EXPECT_DOUBLE_EQ(plan(members, 64).split_ns, 40e3);
  EXPECT_FALSE(plan(members, 41).split());
}

TEST(Plan, BusyMembersAreLeftOut) {
  std::vector<MemberModel> members{model(10), model(10)};
  members[0].start_ns = 1e6;
  const Plan result = plan(members, 1000, no_margin);
  EXPECT_EQ(result.best, 1u);
  EXPECT_EQ(result.shares, (Shares{0, 1000}));
}

TEST(Plan, DoesNotSplitWhatGainsTooLittle) {
  // Transfers cost the second nearly all that it gains.
  std::vector<MemberModel> members{model(10), model(1)};
  members[1].transfer_ns = 1000;
  EXPECT_FALSE(plan(members, 10000).split());
  EXPECT_TRUE(plan(members, 10000, no_margin).split());
  // And what takes less than two microseconds.
  EXPECT_FALSE(plan(std::vector{model(10), model(10)}, 100).split());
  EXPECT_TRUE(plan(std::vector{model(10), model(10)}, 1000).split());
}

TEST(GuessUnmeasured, ByWhatIsKnownOfTheOthers) {
  std::vector<MemberModel> members{model(300), {}, {}};
  guessUnmeasured(members, std::vector<double>{1, 1, 40}, false);
  EXPECT_DOUBLE_EQ(members[0].unit_ns, 300);
  EXPECT_DOUBLE_EQ(members[1].unit_ns, 300);
  EXPECT_DOUBLE_EQ(members[2].unit_ns, 12000);
  // Nothing is known.
  std::vector<MemberModel> fresh(2);
  guessUnmeasured(fresh, std::vector<double>{1, 40}, false);
  EXPECT_DOUBLE_EQ(fresh[1].unit_ns, 40);
  // What was measured of devices of one kind is one thing measured twice.
  std::vector<MemberModel> equal{model(90), model(110), {}};
  guessUnmeasured(equal, std::vector<double>{5, 5, 5}, true);
  for (const MemberModel& one : equal) EXPECT_DOUBLE_EQ(one.unit_ns, 100);
}

TEST(Plan, WavesThatAreNearlyEmptyAreNone) {
  // 33 units of 10 at once: four waves where three are enough, with room in the other's third one.
  std::vector<MemberModel> members{model(10), model(10)};
  members[0].wave_units = members[1].wave_units = 10.5;
  EXPECT_DOUBLE_EQ(members[0].timeOf(33), 4 * 10.5 * 10);
  const Plan result = plan(members, 63, no_margin);
  EXPECT_LE(std::max(result.shares[0], result.shares[1]), 32u);
  members[0].unit_ns = 9.6;
  const Plan uneven = plan(members, 62, no_margin);
  EXPECT_EQ(uneven.shares[0] + uneven.shares[1], 62u);
  for (size_t i = 0; i < 2; ++i) EXPECT_LE(members[i].timeOf(uneven.shares[i]), 3 * 10.5 * 10) << i;
  // Of many waves none is missed.
  EXPECT_DOUBLE_EQ(members[1].timeOf(1001), 10010);
}

TEST(Fastest, FinishTogether) {
  const std::vector<double> unit_ns{10, 20, 0, 10, 5};
  const Team two = fastest(unit_ns, 2, 30);
  EXPECT_EQ(two.shares, (std::vector<uint64_t>{10, 0, 0, 0, 20}));
  EXPECT_DOUBLE_EQ(two.nanoseconds, 100);
  EXPECT_EQ(fastest(unit_ns, 1, 30).shares, (std::vector<uint64_t>{0, 0, 0, 0, 30}));
  EXPECT_TRUE(fastest(unit_ns, 4, 30).shares.empty());
}

}  // namespace
}  // namespace weft::partition
