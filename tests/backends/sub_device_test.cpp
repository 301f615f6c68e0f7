// Sub-devices of the CPU: where their threads and their memory are, on this machine and on others.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "backends/cpu/device.h"
#include "backends/cpu/memory.h"
#include "tests/support/machines.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"
#include "tests/support/unit_sets.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;
using Machine = std::shared_ptr<const cpu::Topology>;

std::shared_ptr<port::Device> deviceOf(const Machine& machine, cpu::Settings settings = {}) {
  return std::make_shared<cpu::Device>(machine, machine->units(), settings);
}

std::vector<port::UnitSet> nodesOf(const port::Device& device) {
  std::vector<port::UnitSet> sets(4);
  for (uint32_t i = 0; i < device.capabilities().units.size(); ++i)
    sets.at(device.capabilities().units[i].in(port::Domain::numa)).push_back(i);
  return sets;
}

// What a native kernel's thread is bound to, read from within.
std::vector<unsigned> bindingInside(const Machine& machine, port::Device& device) {
  struct Reader {
    const Machine& machine;
    std::vector<unsigned> bound;
  } reader{machine, {}};
  const port::HostCall call{[](void* user) {
                              auto* self = static_cast<Reader*>(user);
                              self->bound = self->machine->boundProcessors();
                            },
                            &reader};
  auto stream = device.createStream(port::Order::in_order);
  TestOperation operation(call);
  stream->submit(operation);
  EXPECT_TRUE(operation.wait());
  return reader.bound;
}

size_t threads() {
  size_t count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

double processorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST(SubDevice, WorkersAreWhereTheUnitsAre) {
  for (const Machine& machine :
       {cpu::Topology::ofThisProcess(), cpu::Topology::synthetic(two_packages)}) {
    auto device = deviceOf(machine);
    const auto& units = device->capabilities().units;
    auto parts = device->partition(singles(device->capabilities().compute_units));
    for (size_t i = 0; i < parts.size(); ++i)
      EXPECT_EQ(bindingInside(machine, *parts[i]), std::vector<unsigned>{units[i].processor});
  }
}

TEST(SubDevice, OfASubDeviceHasItsUnits) {
  const Machine machine = cpu::Topology::synthetic(two_packages);
  auto node = deviceOf(machine)->partition(nodesOf(*deviceOf(machine))).at(2);
  EXPECT_EQ(node->capabilities().units.front().processor, 16u);
  const port::UnitSet set[] = {{3, 5}};
  auto inner = node->partition(set).at(0);
  ASSERT_EQ(inner->capabilities().compute_units, 2u);
  EXPECT_EQ(inner->capabilities().units[0].processor, 19u);
  EXPECT_EQ(inner->capabilities().units[1].processor, 21u);
}

// Less of everything: units, caches, memory; and an identity of its own.
TEST(SubDevice, PropertiesShrink) {
  const Machine machine = cpu::Topology::synthetic(
      "package:2 node:2(memory=256MB) l3:1(size=16MB) l2:4(size=1MB) core:1 pu:2");
  auto device = deviceOf(machine);
  const port::Capabilities& whole = device->capabilities();
  const auto parts = device->partition(nodesOf(*device));
  const port::Capabilities& part = parts.at(1)->capabilities();
  EXPECT_EQ(part.compute_units * 4, whole.compute_units);
  EXPECT_EQ(part.max_sub_devices, part.compute_units);
  EXPECT_EQ(part.global_cache.bytes * 4, whole.global_cache.bytes);
  EXPECT_EQ(part.global_memory_bytes * 4, whole.global_memory_bytes);
  EXPECT_LE(part.max_allocation_bytes, part.global_memory_bytes);
  EXPECT_NE(part.uuid, whole.uuid);
}

// A kernel on more workers than there are processors.
TEST(SubDevice, DescribedMachinesRunKernels) {
  const Machine machine = cpu::Topology::synthetic(pus_256);
  auto device = deviceOf(machine);
  ASSERT_EQ(device->capabilities().compute_units, 256u);
  auto module = device->load(testImage(device->target()));
  auto memory = device->allocate(20'000 * 4, 128);
  std::fill_n(reinterpret_cast<uint32_t*>(memory->host()), 20'000, 1);
  auto stream = device->createStream(port::Order::in_order);
  TestLaunch launch(*module, kernelIndex("busy"), 20'000);
  launch.value(5'000).memory(memory.get());
  TestOperation operation(launch.whole());
  stream->submit(operation);
  ASSERT_TRUE(operation.wait());
  for (int i = 0; i < 20'000; ++i)
    ASSERT_EQ(reinterpret_cast<uint32_t*>(memory->host())[i], 2u) << i;
}

TEST(SubDevice, IdleOnesUseNoProcessor) {
  const Machine machine = cpu::Topology::synthetic(two_packages);
  auto device = deviceOf(machine);
  auto parts = device->partition(singles(32));
  std::vector<std::unique_ptr<port::Stream>> streams;
  for (auto& part : parts) {
    bindingInside(machine, *part);
    streams.push_back(part->createStream(port::Order::in_order));
  }
  // Their threads look about for a while before they sleep, and that takes what time it takes; from
  // then on nothing is used.
  double used = 1;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (used > 0.03 && std::chrono::steady_clock::now() < end) {
    const double before = processorSeconds();
    std::this_thread::sleep_for(300ms);
    used = processorSeconds() - before;
  }
  EXPECT_LE(used, 0.03);
}

TEST(SubDevice, HundredsOfThemLeaveNoThreads) {
  const Machine machine = cpu::Topology::ofThisProcess();
  auto device = deviceOf(machine);
  const auto use = [&] {
    auto part = device->partition(singles(1)).at(0);
    auto stream = part->createStream(port::Order::in_order);
    TestOperation operation(port::HostCall{[](void*) {}, nullptr});
    stream->submit(operation);
    ASSERT_TRUE(operation.wait());
  };
  use();  // the first thread of a process brings a sanitizer's own
  const size_t before = threads();
  for (int i = 0; i < 500; ++i) use();
  // A joined thread may stay in /proc a little longer.
  for (int i = 0; i < 6000 && threads() > before; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_LE(threads(), before);
}

// The parent's worker and its child's share a processor: neither waits for the other to end.
TEST(SubDevice, ParentAndChildShareAProcessor) {
  const Machine machine = cpu::Topology::ofThisProcess();
  auto device = deviceOf(machine)->partition(singles(1)).at(0);
  auto child = device->partition(singles(1)).at(0);
  auto module = device->load(testImage(device->target()));
  // Each group waits for the next one of the other.
  constexpr uint64_t groups = 4, meetings = 2 * groups;
  auto memory = device->allocate(groups << 16, 128), other = device->allocate(groups << 16, 128),
       log = device->allocate((1 + meetings) * 8, 128);
  std::fill_n(log->host(), log->size(), std::byte{0});
  auto first = device->createStream(port::Order::in_order),
       second = child->createStream(port::Order::in_order);
  TestLaunch a(*module, kernelIndex("take_turns"), groups),
      b(*module, kernelIndex("take_turns"), groups);
  a.value(0).value(meetings).memory(log.get()).memory(memory.get());
  b.value(0).value(meetings).memory(log.get()).memory(other.get());
  TestOperation of_parent(a.whole()), of_child(b.whole());
  first->submit(of_parent);
  second->submit(of_child);
  ASSERT_TRUE(of_parent.wait() && of_child.wait());
  EXPECT_EQ(*reinterpret_cast<const uint64_t*>(log->host()), meetings);
}

// What the system says of pages that were placed, on this machine, whatever nodes it has.
TEST(SubDevice, PagesAreBoundToANode) {
  const Machine machine = cpu::Topology::ofThisProcess();
  const cpu::NodeSet node{machine->nodes(machine->units()).back()};
  auto memory = deviceOf(machine)->allocate(4 << 20, 128);
  if (!machine->placeMemory(memory->host(), 4 << 20, node))
    GTEST_SKIP() << "the system does not bind memory";
  constexpr unsigned long of_address = 2;  // MPOL_F_ADDR
  constexpr size_t most_nodes = 1024;
  int policy = 0;
  std::vector<unsigned long> nodes(most_nodes / 64);
  ASSERT_EQ(syscall(SYS_get_mempolicy, &policy, nodes.data(), most_nodes,
                    memory->host() + (4 << 20) - 1, of_address),
            0);
  EXPECT_NE(policy, 0);  // MPOL_DEFAULT
  for (size_t i = 0; i < most_nodes; ++i)
    EXPECT_EQ(nodes[i / 64] >> (i % 64) & 1, i == node[0] ? 1u : 0u) << i;
}

class Nodes : public ::testing::Test {
 protected:
  void use(port::Device& on, port::Memory& memory) {
    auto module = on.load(testImage(on.target()));
    auto stream = on.createStream(port::Order::in_order);
    TestLaunch launch(*module, kernelIndex("add_one"), 16);
    launch.memory(&memory);
    TestOperation operation(launch.whole());
    stream->submit(operation);
    ASSERT_TRUE(operation.wait());
  }

  void bringNear(port::Device& to, port::Memory& memory) {
    const port::Prefetch::Part whole{&memory, 0, memory.size()};
    auto stream = to.createStream(port::Order::in_order);
    TestOperation operation(port::Prefetch{{&whole, 1}});
    stream->submit(operation);
    ASSERT_TRUE(operation.wait());
  }

  const Machine machine = cpu::Topology::synthetic(two_packages);
  std::shared_ptr<port::Device> device = deviceOf(machine);
  std::vector<std::shared_ptr<port::Device>> nodes = device->partition(nodesOf(*device));
};

TEST_F(Nodes, MemoryIsWhereItIsUsedFirst) {
  auto memory = device->allocate(4 << 20, 128);
  EXPECT_EQ(cpu::homeOf(*memory), cpu::NodeSet());
  use(*nodes[2], *memory);
  EXPECT_EQ(cpu::homeOf(*memory), cpu::NodeSet{2});
  use(*nodes[1], *memory);
  EXPECT_EQ(cpu::homeOf(*memory), cpu::NodeSet{2});
}

TEST_F(Nodes, MigrationMovesIt) {
  auto memory = device->allocate(4 << 20, 128);
  use(*nodes[2], *memory);
  bringNear(*nodes[1], *memory);
  EXPECT_EQ(cpu::homeOf(*memory), cpu::NodeSet{1});
}

TEST_F(Nodes, DevicesOfSeveralNodesInterleave) {
  auto memory = device->allocate(4 << 20, 128);
  use(*device, *memory);
  EXPECT_EQ(cpu::homeOf(*memory), (cpu::NodeSet{0, 1, 2, 3}));
  cpu::Settings settings;
  settings.spread = cpu::Spread::first_touch;
  auto other = device->allocate(4 << 20, 128);
  use(*deviceOf(machine, settings), *other);
  EXPECT_EQ(cpu::homeOf(*other), cpu::NodeSet());
}

// Small allocations share their pages with others.
TEST_F(Nodes, SmallMemoryStaysWhereItIs) {
  auto memory = device->allocate(4096, 128);
  use(*nodes[2], *memory);
  bringNear(*nodes[1], *memory);
  EXPECT_EQ(cpu::homeOf(*memory), cpu::NodeSet());
}

}  // namespace
}  // namespace weft::test
