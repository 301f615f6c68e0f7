// Affinity domains, on machines that are not this one.
#include "partition/affinity.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "partition/sub_devices.h"
#include "tests/support/machines.h"

namespace weft::partition {
namespace {

using port::Domain;
using test::MachineXml;
using Sets = std::vector<port::UnitSet>;
using Sizes = std::vector<size_t>;
using Machine = std::shared_ptr<const cpu::Topology>;

Machine synthetic(const char* description) { return cpu::Topology::synthetic(description); }
Machine fromXml(const std::string& xml) { return cpu::Topology::fromXml(xml); }

Sizes sizes(const Machine& machine, Domain domain) {
  Sizes result;
  for (const port::UnitSet& set : byDomain(machine->units(), domain)) result.push_back(set.size());
  return result;
}

std::vector<Domain> dividing(Units units) {
  std::vector<Domain> result;
  for (size_t i = 0; i < port::domain_kinds; ++i)
    if (divides(units, Domain(i))) result.push_back(Domain(i));
  return result;
}

std::vector<port::ComputeUnit> pick(Units units, const port::UnitSet& set) {
  std::vector<port::ComputeUnit> result;
  for (const uint32_t i : set) result.push_back(units[i]);
  return result;
}

TEST(Affinity, OneCoreIsNotDivided) {
  const Machine machine = synthetic(test::one_core);
  ASSERT_EQ(machine->units().size(), 1u);
  EXPECT_TRUE(dividing(machine->units()).empty());
  EXPECT_EQ(nextPartitionable(machine->units()), std::nullopt);
}

TEST(Affinity, RegularMachine) {
  const Machine machine = synthetic(test::two_packages);
  ASSERT_EQ(machine->units().size(), 32u);
  EXPECT_EQ(sizes(machine, Domain::numa), Sizes(4, 8));
  EXPECT_EQ(sizes(machine, Domain::l4_cache), Sizes());
  EXPECT_EQ(sizes(machine, Domain::l3_cache), Sizes(4, 8));
  EXPECT_EQ(sizes(machine, Domain::l2_cache), Sizes(16, 2));
  EXPECT_EQ(sizes(machine, Domain::l1_cache), Sizes(16, 2));
  EXPECT_EQ(byDomain(machine->units(), Domain::numa)[1],
            (port::UnitSet{8, 9, 10, 11, 12, 13, 14, 15}));
}

// NUMA nodes, then the next thing that divides what is left, down to the two threads of a core,
// which share everything.
TEST(Affinity, NextPartitionableGoesInward) {
  std::vector<port::ComputeUnit> units = synthetic(test::two_packages)->units();
  std::vector<Domain> steps;
  while (const auto domain = nextPartitionable(units)) {
    steps.push_back(*domain);
    units = pick(units, byDomain(units, *domain).back());
  }
  EXPECT_EQ(steps, (std::vector{Domain::numa, Domain::l2_cache}));
  EXPECT_EQ(units.size(), 2u);
}

TEST(Affinity, ManyProcessors) {
  const Machine machine = synthetic(test::pus_256);
  ASSERT_EQ(machine->units().size(), 256u);
  EXPECT_EQ(sizes(machine, Domain::numa), Sizes(8, 32));
  EXPECT_EQ(sizes(machine, Domain::l3_cache), Sizes(16, 16));
  EXPECT_EQ(sizes(machine, Domain::l1_cache), Sizes(128, 2));
}

TEST(Affinity, ProcessorsOfWhichNothingIsKnown) {
  const Machine machine = synthetic(test::plain_pus);
  EXPECT_EQ(machine->units().size(), 4u);
  EXPECT_TRUE(dividing(machine->units()).empty());
}

// A unit without a cache of the level is in none of the sub-devices.
TEST(Affinity, AsymmetricMachine) {
  const Machine machine = fromXml(test::asymmetricMachine());
  EXPECT_EQ(sizes(machine, Domain::numa), (Sizes{1, 2, 4}));
  EXPECT_EQ(sizes(machine, Domain::l3_cache), (Sizes{2, 4}));
  EXPECT_EQ(machine->memoryBytes(machine->nodes(machine->units())), uint64_t{7} << 30);
}

TEST(Affinity, HybridMachine) {
  const Machine machine = fromXml(test::hybridMachine());
  EXPECT_EQ(sizes(machine, Domain::l2_cache), (Sizes{2, 2, 4}));
  EXPECT_EQ(dividing(machine->units()), std::vector{Domain::l2_cache});
  EXPECT_GT(machine->units()[0].performance, machine->units()[7].performance);
}

// Units of a node without memory are a domain of their own; their memory is elsewhere.
TEST(Affinity, MemorylessNode) {
  const Machine machine = fromXml(test::memorylessMachine());
  EXPECT_EQ(sizes(machine, Domain::numa), (Sizes{2, 2}));
  const auto parts = byDomain(machine->units(), Domain::numa);
  for (const port::UnitSet& part : parts) {
    const auto units = pick(machine->units(), part);
    EXPECT_EQ(machine->nodes(units), cpu::NodeSet{0});
    EXPECT_EQ(machine->memoryBytes(machine->nodes(units)), uint64_t{4} << 30);
  }
  EXPECT_EQ(machine->memoryNodes(), 1u);
}

// What a control group forbids is not there.
TEST(Affinity, ThreeProcessorsOfAControlGroup) {
  const Machine machine = fromXml(test::threeAllowed());
  std::vector<uint32_t> processors;
  for (const port::ComputeUnit& unit : machine->units()) processors.push_back(unit.processor);
  EXPECT_EQ(processors, (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_EQ(sizes(machine, Domain::numa), (Sizes{2, 1}));
}

TEST(Affinity, Errors) {
  const auto code = [](const Divisible& device, Domain domain) {
    try {
      byAffinity(device, domain);
    } catch (const Error& error) {
      return error.code();
    }
    return CL_SUCCESS;
  };
  const auto next = [](const Divisible& device) {
    try {
      nextDomain(device);
    } catch (const Error& error) {
      return error.code();
    }
    return CL_SUCCESS;
  };
  const Divisible hybrid{fromXml(test::hybridMachine())->units(), 8};
  EXPECT_EQ(code(hybrid, Domain::l2_cache), CL_SUCCESS);
  EXPECT_EQ(code(hybrid, Domain::numa), CL_INVALID_VALUE);
  EXPECT_EQ(code(hybrid, Domain::l4_cache), CL_INVALID_VALUE);
  EXPECT_EQ(next(hybrid), CL_SUCCESS);
  EXPECT_EQ(next({synthetic(test::plain_pus)->units(), 4}), CL_DEVICE_PARTITION_FAILED);
  const Divisible one{synthetic(test::one_core)->units(), 0};
  EXPECT_EQ(code(one, Domain::numa), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(next(one), CL_DEVICE_PARTITION_FAILED);
}

TEST(Machines, UnreadableOnesAreErrors) {
  EXPECT_THROW(synthetic("no such machine"), Error);
  EXPECT_THROW(fromXml("<topology"), Error);
}

}  // namespace
}  // namespace weft::partition
