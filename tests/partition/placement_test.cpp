// Which units sub-devices of given sizes get.
#include "partition/placement.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/support/machines.h"

namespace weft::partition {
namespace {

using port::Placement;
using Sets = std::vector<port::UnitSet>;
using Counts = std::vector<uint32_t>;

std::vector<port::ComputeUnit> machine(const char* description) {
  return cpu::Topology::synthetic(description)->units();
}
const auto& twoPackages() {
  static const auto units = machine(test::two_packages);
  return units;
}

TEST(Placement, CoresBeforeThreads) {
  EXPECT_EQ(place(twoPackages(), Counts{2, 2}, Placement::cores), (Sets{{0, 2}, {4, 6}}));
  // More than there are cores: both threads of each, and no core in two sub-devices.
  EXPECT_EQ(place(twoPackages(), Counts{16, 4}, Placement::cores)[1],
            (port::UnitSet{16, 17, 18, 19}));
}

// Three of a cache's four cores leave one, and the next three go to another cache.
TEST(Placement, OneCacheBeforeTwo) {
  EXPECT_EQ(place(twoPackages(), Counts{3, 3, 1}, Placement::cores),
            (Sets{{0, 2, 4}, {8, 10, 12}, {6}}));
  // Big ones first, whatever their place in the list.
  EXPECT_EQ(place(twoPackages(), Counts{1, 4}, Placement::cores), (Sets{{8}, {0, 2, 4, 6}}));
}

TEST(Placement, Compact) {
  EXPECT_EQ(place(twoPackages(), Counts{3, 2}, Placement::compact), (Sets{{0, 1, 2}, {3, 4}}));
}

// One unit from each package, then from each NUMA node of it, then from each core.
TEST(Placement, Scatter) {
  EXPECT_EQ(place(twoPackages(), Counts{2, 2, 4}, Placement::scatter),
            (Sets{{0, 16}, {8, 24}, {2, 10, 18, 26}}));
}

TEST(Placement, FasterCoresFirst) {
  const auto units = cpu::Topology::fromXml(test::hybridMachine())->units();
  EXPECT_EQ(place(units, Counts{2}, Placement::cores), (Sets{{0, 2}}));
  // With one more there has to be a slow one; four slow ones would share a cache.
  EXPECT_EQ(place(units, Counts{2, 4}, Placement::cores), (Sets{{0, 2}, {4, 5, 6, 7}}));
}

TEST(Placement, ProcessorsOfWhichNothingIsKnown) {
  EXPECT_EQ(place(machine(test::plain_pus), Counts{1, 3}, Placement::cores),
            (Sets{{3}, {0, 1, 2}}));
}

// Whatever is asked for: the sizes are right, and no unit is in two sets.
TEST(Placement, AnyCountsFit) {
  std::mt19937 random(5);
  const std::vector<std::vector<port::ComputeUnit>> machines = {
      twoPackages(), machine(test::pus_256), machine(test::plain_pus),
      cpu::Topology::fromXml(test::hybridMachine())->units(),
      cpu::Topology::fromXml(test::asymmetricMachine())->units()};
  for (int round = 0; round < 200; ++round) {
    const auto& units = machines[size_t(round) % machines.size()];
    Counts counts;
    for (size_t left = units.size(); left != 0 && counts.size() < 20;) {
      counts.push_back(1 + uint32_t(random() % left));
      left -= counts.back();
      if (random() % 4 == 0) break;
    }
    for (const Placement placement : {Placement::cores, Placement::compact, Placement::scatter}) {
      const Sets sets = place(units, counts, placement);
      ASSERT_EQ(sets.size(), counts.size());
      std::set<uint32_t> seen;
      for (size_t i = 0; i < sets.size(); ++i) {
        EXPECT_EQ(sets[i].size(), counts[i]);
        EXPECT_TRUE(std::is_sorted(sets[i].begin(), sets[i].end()));
        for (const uint32_t unit : sets[i]) {
          EXPECT_LT(unit, units.size());
          EXPECT_TRUE(seen.insert(unit).second) << "unit " << unit << " twice";
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::partition
