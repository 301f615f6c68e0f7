// What the environment says of the CPU backend's devices.
#include <gtest/gtest.h>
#include <sched.h>

#include "backends/cpu/backend.h"
#include "tests/support/test_operation.h"
#include "tests/support/unit_sets.h"

namespace weft::test {
namespace {

std::shared_ptr<port::Device> discover() {
  std::vector<port::Diagnostic> diagnostics;
  return cpu::makeBackend()->discover(diagnostics).at(0);
}

TEST(CpuBackend, EnvironmentLimitsUnits) {
  setenv("WEFT_CPU_MAX_COMPUTE_UNITS", "1", 1);
  EXPECT_EQ(discover()->capabilities().compute_units, 1u);
  setenv("WEFT_CPU_MAX_COMPUTE_UNITS", "nonsense", 1);
  std::vector<port::Diagnostic> diagnostics;
  EXPECT_EQ(cpu::makeBackend()->discover(diagnostics).size(), 1u);
  EXPECT_EQ(diagnostics.size(), 1u);
  unsetenv("WEFT_CPU_MAX_COMPUTE_UNITS");
}

port::Target target(const char* bits) {
  setenv("WEFT_CPU_VECTORS", bits, 1);
  const port::Target result = discover()->target();
  unsetenv("WEFT_CPU_VECTORS");
  return result;
}

bool uses(const port::Target& target, const std::string& feature) {
  return target.features.find("+" + feature) != std::string::npos;
}

TEST(CpuBackend, EnvironmentLimitsVectors) {
  EXPECT_EQ(target("512"), discover()->target());
  EXPECT_FALSE(uses(target("256"), "avx512"));
  EXPECT_EQ(uses(target("256"), "avx2"), uses(target("512"), "avx2"));
  EXPECT_FALSE(uses(target("128"), "avx"));
  EXPECT_EQ(uses(target("128"), "sse4.2"), uses(target("512"), "sse4.2"));
  EXPECT_EQ(target("128").cpu != target("256").cpu, uses(target("512"), "avx2"));
}

TEST(CpuBackend, BindingIsASetting) {
  const auto processors = [](const char* binding) {
    setenv("WEFT_CPU_BINDING", binding, 1);
    auto part = discover()->partition(singles(1)).at(0);
    unsetenv("WEFT_CPU_BINDING");
    int count = 0;
    const port::HostCall call{[](void* user) {
                                cpu_set_t set;
                                if (sched_getaffinity(0, sizeof set, &set) == 0)
                                  *static_cast<int*>(user) = CPU_COUNT(&set);
                              },
                              &count};
    auto stream = part->createStream(port::Order::in_order);
    TestOperation operation(call);
    stream->submit(operation);
    EXPECT_TRUE(operation.wait());
    return count;
  };
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  EXPECT_EQ(processors("none"), CPU_COUNT(&own));
  EXPECT_EQ(processors("pu"), 1);
}

TEST(CpuBackend, PrivateMemoryGivesEachDeviceASpace) {
  setenv("WEFT_CPU_PRIVATE_MEMORY", "1", 1);
  auto device = discover();
  unsetenv("WEFT_CPU_PRIVATE_MEMORY");
  auto part = device->partition(singles(1)).at(0), other = device->partition(singles(1)).at(0);
  const port::MemorySpace spaces[] = {device->capabilities().memory_space,
                                      part->capabilities().memory_space,
                                      other->capabilities().memory_space};
  for (const auto space : spaces) {
    EXPECT_NE(space, port::host_space);
    EXPECT_TRUE(device->reaches(space));
  }
  EXPECT_NE(spaces[0], spaces[1]);
  EXPECT_NE(spaces[1], spaces[2]);
  EXPECT_EQ(discover()->capabilities().memory_space, port::host_space);
}

TEST(CpuBackend, IdentityIsStable) {
  EXPECT_EQ(discover()->capabilities().uuid, discover()->capabilities().uuid);
  EXPECT_EQ(discover()->target(), discover()->target());
}

}  // namespace
}  // namespace weft::test
