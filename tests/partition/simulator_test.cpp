#include "partition/simulator.h"

#include <gtest/gtest.h>

namespace weft::partition::simulator {
namespace {

Member cpuMember(std::string name, double speed = 1) {
  Member member;
  member.name = std::move(name);
  member.speed = speed;
  return member;
}

Member gpuMember(std::string name, double speed, double link = 25) {
  Member member{std::move(name), speed, 5000, 0, 128, link, 8000, 0};
  return member;
}

const Machine two_equal{"two equal", {cpuMember("a"), cpuMember("b")}};
const Machine four_to_one{"4:1", {cpuMember("fast", 4), cpuMember("slow", 1)}};
const Machine workstation{"CPU and GPU", {cpuMember("cpu", 1), gpuMember("gpu", 20)}};

Kernel compute(uint64_t units = 4096, double work = 10'000) {
  Kernel kernel;
  kernel.name = "compute";
  kernel.units = units;
  kernel.work = work;
  kernel.launches = 8;
  return kernel;
}

Settings unknown(double misjudged) {
  Settings settings;
  settings.known = false;
  settings.misjudged = misjudged;
  return settings;
}

TEST(Simulator, OneMemberTakesItsTime) {
  const Machine machine{"one", {cpuMember("a")}};
  const Outcome outcome = simulate(machine, compute(), Choice::best_single);
  EXPECT_DOUBLE_EQ(outcome.last_ns, 4096 * 10'000.0 + 1000);
  EXPECT_EQ(outcome.moved_bytes, 0);
  EXPECT_NEAR(outcome.efficiency, 1, 1e-3);
}

TEST(Simulator, TransfersTakeTheirTime) {
  Kernel kernel = compute(1000, 1000);
  kernel.read_bytes = 500;
  kernel.written_bytes = 250;
  kernel.launches = 1;
  Member gpu = gpuMember("gpu", 1, 0.5);
  const Outcome outcome = simulate({"far", {gpu}}, kernel, Choice::best_single);
  EXPECT_DOUBLE_EQ(outcome.moved_bytes, 750'000);
  EXPECT_DOUBLE_EQ(outcome.last_ns, (8000 + 1e6) + (5000 + 1e6) + (8000 + 5e5));
}

TEST(Simulator, ComputeBoundIsEfficient) {
  for (const Machine& machine : {two_equal, four_to_one})
    for (const Profile profile : {Profile::flat, Profile::ramp, Profile::hump, Profile::random}) {
      Kernel kernel = compute();
      kernel.profile = profile;
      const Outcome known = simulate(machine, kernel, Choice::guided);
      EXPECT_GE(known.efficiency, 0.95) << machine.name << static_cast<int>(profile);
      EXPECT_GE(known.balance, 0.95) << machine.name << static_cast<int>(profile);
      const Outcome fresh = simulate(machine, kernel, Choice::guided, unknown(0.5));
      EXPECT_GE(fresh.efficiency, 0.95) << machine.name << static_cast<int>(profile);
      EXPECT_GE(fresh.balance, 0.95) << machine.name << static_cast<int>(profile);
    }
}

TEST(Simulator, NeverMuchSlowerThanTheBestMember) {
  for (const double bytes : {0.0, 1e2, 1e3, 1e4, 1e5, 1e6})
    for (const double work : {10.0, 1e3, 1e5})
      for (const uint64_t units : {uint64_t{1}, uint64_t{16}, uint64_t{1000}}) {
        Kernel kernel = compute(units, work);
        kernel.read_bytes = kernel.written_bytes = bytes;
        for (const Machine& machine : {two_equal, four_to_one, workstation}) {
          const double best = simulate(machine, kernel, Choice::best_single).last_ns;
          EXPECT_LE(simulate(machine, kernel, Choice::guided).last_ns, 1.03 * best + 2000)
              << machine.name << ' ' << bytes << " bytes, " << work << " ns, " << units;
        }
      }
}

TEST(Simulator, GuidedBeatsFixedSharesWhenSpeedsAreMisjudged) {
  // The slow one is believed to be faster, and the fast one slower.
  const Machine machine{"1:4", {cpuMember("slow", 1), cpuMember("fast", 4)}};
  const Settings settings = unknown(0.6);
  const double guided = simulate(machine, compute(), Choice::guided, settings).first_ns;
  EXPECT_LT(guided, 0.6 * simulate(machine, compute(), Choice::ratio, settings).first_ns);
  EXPECT_LT(guided, 0.6 * simulate(machine, compute(), Choice::even, settings).first_ns);
}

TEST(Simulator, IteratedKernelsMoveTheirHalosOnly) {
  Kernel kernel = compute(1000, 100'000);
  kernel.read_bytes = kernel.written_bytes = 4096;
  kernel.halo_units = 1;
  kernel.iterated = true;
  kernel.launches = 100;
  const Machine machine{"two GPUs", {gpuMember("a", 10), gpuMember("b", 10)}};
  const Outcome guided = simulate(machine, kernel, Choice::guided);
  EXPECT_GE(guided.members, 2u);
  // All of it once in and once out; two rows twice over the host each launch, and some for slices
  // that were taken over.
  EXPECT_LT(guided.moved_bytes, 2 * 1000 * 4096 * 2.0 + 100 * 4096 * 2 * 2 * 4);
  EXPECT_LT(guided.moved_bytes, 0.5 * simulate(machine, kernel, Choice::dynamic).moved_bytes);
}

// Of a short kernel the host has handed out the fourth part when two would be done.
TEST(Simulator, NoMoreMembersThanTheHostKeepsBusy) {
  Member gpu = cpuMember("gpu");
  gpu.host_ns = 30'000;
  const Machine machine{"four GPUs", {gpu, gpu, gpu, gpu}};
  Kernel kernel = compute(64, 2000);
  kernel.launches = 50;
  EXPECT_EQ(simulate(machine, kernel, Choice::guided).members, 2u);
  kernel.work = 20'000;
  EXPECT_EQ(simulate(machine, kernel, Choice::guided).members, 4u);
  kernel.work = 200;
  EXPECT_EQ(simulate(machine, kernel, Choice::guided).members, 1u);
}

}  // namespace
}  // namespace weft::partition::simulator
