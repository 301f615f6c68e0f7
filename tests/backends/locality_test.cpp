// Work-groups and the memory that they touch on the same NUMA node, on machines that are not this
// one.
#include "backends/cpu/locality.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "backends/cpu/device.h"
#include "tests/support/machines.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {
namespace {

using Groups = std::vector<cpu::NodeGroups>;
constexpr size_t group_bytes = 64 << 10;  // of take_turns

class Locality : public testing::Test {
 protected:
  void useMachine(const char* description) {
    machine = cpu::Topology::synthetic(description);
    device = std::make_shared<cpu::Device>(machine, machine->units(), settings);
    module = device->load(testImage(device->target()));
    stream = device->createStream(port::Order::in_order);
    log = device->allocate(4096, 64);
    std::fill_n(log->host(), 4096, std::byte{0});
  }
  // One that gives each group a slice of the memory.
  TestLaunch turns(port::Memory& memory, uint64_t ns = 0, uint64_t meetings = 0) {
    TestLaunch launch(*module, kernelIndex("take_turns"), memory.size() / group_bytes);
    launch.value(ns).value(meetings).memory(log.get()).memory(&memory);
    return launch;
  }
  void run(const port::Operation::Work& work) {
    TestOperation operation(work);
    stream->submit(operation);
    ASSERT_TRUE(operation.wait());
    ASSERT_EQ(operation.status, 0);
  }
  cpu::Home home() const {
    cpu::Home home;
    home.topology = machine;
    home.nodes = machine->nodes(machine->units());
    home.units.assign(home.nodes.size(), 1);
    return home;
  }
  const KernelInfo& info() { return image.kernels[kernelIndex("take_turns")]; }

  cpu::Settings settings;
  std::shared_ptr<const cpu::Topology> machine;
  std::shared_ptr<port::Device> device;
  Image image = testImage({});
  std::unique_ptr<port::Module> module;
  std::unique_ptr<port::Stream> stream;
  std::unique_ptr<port::Memory> log;
};

constexpr const char* two_nodes = "node:2(memory=8GB) core:1 pu:1";
constexpr size_t mib = 1 << 20;

TEST_F(Locality, MemoryGoesWhereItsGroupsRun) {
  useMachine(two_packages);
  auto memory = device->allocate(8 * mib, 128);
  run(turns(*memory).whole());
  EXPECT_EQ(
      cpu::layoutOf(*memory),
      (cpu::Layout{
          {0, 2 * mib, 0}, {2 * mib, 4 * mib, 1}, {4 * mib, 6 * mib, 2}, {6 * mib, 8 * mib, 3}}));
  EXPECT_EQ(cpu::homeOf(*memory), (cpu::NodeSet{0, 1, 2, 3}));
}

// Shared virtual memory comes as an address.
TEST_F(Locality, AddressesAreMemory) {
  useMachine(two_nodes);
  auto memory = device->allocate(4 * mib, 128);
  const TestLaunch turns_of_it = turns(*memory);
  port::Launch launch = turns_of_it.whole();
  std::vector<port::LaunchArgument> arguments(launch.arguments.begin(), launch.arguments.end());
  arguments[3].memory = nullptr;
  arguments[3].raw_address = memory->deviceAddress() + 2 * mib;
  launch.slice.end[0] = 32;
  launch.arguments = arguments;
  run(launch);
  EXPECT_EQ(cpu::layoutOf(*memory), (cpu::Layout{{2 * mib, 3 * mib, 0}, {3 * mib, 4 * mib, 1}}));
  EXPECT_EQ(memory->host()[4 * mib - group_bytes], std::byte{1});
  EXPECT_EQ(cpu::memoryAt(memory->deviceAddress() + 4 * mib), nullptr);
}

// A transfer does not know who will use what it brings; a hundred launches prove it.
TEST_F(Locality, WhatTransfersSpreadMovesOnce) {
  useMachine(two_nodes);
  auto memory = device->allocate(4 * mib, 128);
  const std::vector<std::byte> source(4 * mib);
  run(copyToDevice(source.data(), *memory, source.size()));
  EXPECT_EQ(cpu::homeOf(*memory), (cpu::NodeSet{0, 1}));
  const TestLaunch launch = turns(*memory);
  for (int i = 0; i < 99; ++i) run(launch.whole());
  EXPECT_TRUE(cpu::layoutOf(*memory).empty());
  run(launch.whole());
  EXPECT_EQ(cpu::layoutOf(*memory), (cpu::Layout{{0, 2 * mib, 0}, {2 * mib, 4 * mib, 1}}));
  EXPECT_EQ(memory->host()[0], std::byte{100});
}

bool isTouched(const std::byte* address) {
  const uint64_t page = reinterpret_cast<uint64_t>(address) / 4096 * 4096;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(page), 1, &resident) == 0 && (resident & 1);
}

// Pages that were used before are on the nodes where that was, and cleared by who allocates.
TEST_F(Locality, NobodyHasTouchedNewMemory) {
  settings.spread = cpu::Spread::first_touch;
  useMachine("node:1(memory=8GB) core:2 pu:1");
  device->allocate(8 * mib, 128).reset();
  useMachine(two_nodes);
  for (int i = 0; i < 2; ++i) {
    const auto memory = device->allocate(8 * mib, 128);
    for (size_t at = 0; at < memory->size(); at += mib)
      EXPECT_FALSE(isTouched(memory->host() + at)) << i << " " << at;
    std::fill_n(memory->host(), memory->size(), std::byte{1});
  }
}

TEST_F(Locality, BlocksAreASetting) {
  settings.spread = cpu::Spread::blocks;
  useMachine(two_nodes);
  auto memory = device->allocate(4 * mib, 128);
  const std::vector<std::byte> source(4 * mib);
  run(copyToDevice(source.data(), *memory, source.size()));
  EXPECT_EQ(cpu::layoutOf(*memory), (cpu::Layout{{0, 2 * mib, 0}, {2 * mib, 4 * mib, 1}}));
}

// What a kernel touches in ways that nobody knows is spread.
TEST_F(Locality, UnknownAccessesSpread) {
  useMachine(two_nodes);
  auto memory = device->allocate(4 * mib, 128);
  TestLaunch launch(*module, kernelIndex("add_one"), 16);
  launch.memory(memory.get());
  run(launch.whole());
  EXPECT_EQ(cpu::homeOf(*memory), (cpu::NodeSet{0, 1}));
  EXPECT_TRUE(cpu::layoutOf(*memory).empty());
}

TEST_F(Locality, GroupsFollowTheMemory) {
  useMachine(two_nodes);
  auto memory = device->allocate(4 * mib, 128);
  const TestLaunch launch = turns(*memory);
  EXPECT_EQ(cpu::groupsByNode(launch.whole(), info(), home()), Groups());
  cpu::settleAs(*memory, home(), {{0, mib, 1}, {mib, 2 * mib, 0}, {3 * mib, 4 * mib, 0}});
  EXPECT_EQ(cpu::groupsByNode(launch.whole(), info(), home()),
            (Groups{{0, 16, 1}, {16, 32, 0}, {48, 64, 0}}));
}

// Each of two workers gets groups of its own node while there are some: three quarters of the
// memory are on one node, and the quarters that a plain cut in halves begins with are both there.
TEST_F(Locality, WorkersTakeGroupsOfTheirNode) {
  useMachine(two_nodes);
  auto memory = device->allocate(4 * mib, 128);
  run(turns(*memory, 1'000'000).whole());  // how long a group takes is known now
  cpu::settleAs(*memory, home(), {{0, mib, 0}, {mib, 2 * mib, 1}, {2 * mib, 4 * mib, 0}});
  constexpr uint64_t meetings = 8;
  run(turns(*memory, 1'000'000, meetings).whole());
  const auto* groups = reinterpret_cast<const uint64_t*>(log->host()) + 1;
  const auto node = [&](uint64_t arrival) { return groups[arrival] / 16 == 1; };
  EXPECT_NE(node(0), node(1));
  for (uint64_t i = 2; i < meetings; ++i) EXPECT_EQ(node(i), node(i % 2)) << i;
  for (size_t g = 0; g < 64; ++g) EXPECT_EQ(memory->host()[g * group_bytes], std::byte{2});
}

}  // namespace
}  // namespace weft::test
