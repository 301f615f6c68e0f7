// Random programs against a sequential reference, bit for bit.
//
// WEFT_MODEL_SEED=n runs the one program of that seed; WEFT_MODEL_SECONDS=n runs new ones for so
// long. A failure prints its seed and program.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "tests/scheduler/model_machine.h"
#include "tests/scheduler/model_run.h"

namespace weft::test::model {
namespace {

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 0) : otherwise;
}

// False when the program of that seed does not do what it has to.
bool tryProgram(uint64_t seed, const Options& options) {
  const Plan plan = generate(seed, options);
  const RunResult result = run(plan);
  const std::string wrong = result.wrong + compare(plan, result.outcome);
  if (wrong.empty()) return true;
  ADD_FAILURE() << wrong << "\nWEFT_MODEL_SEED=" << seed << "\n" << describe(plan);
  return false;
}

void tryPrograms(const Options& options, std::chrono::milliseconds share) {
  using Clock = std::chrono::steady_clock;
  if (const uint64_t seed = setting("WEFT_MODEL_SEED", 0)) {
    tryProgram(seed, options);
    return;
  }
  // Without a time of its own the test runs the same programs every time, as many as fit.
  const uint64_t seconds = setting("WEFT_MODEL_SECONDS", 0);
  const uint64_t first = seconds ? uint64_t(Clock::now().time_since_epoch().count()) : 1;
  const auto end = Clock::now() + (seconds ? std::chrono::seconds(seconds) : share);
  uint64_t count = 0;
  while (Clock::now() < end && (seconds || count < 20000))
    if (!tryProgram(first + count++, options)) return;
  testing::Test::RecordProperty("programs", std::to_string(count));
  std::printf("%llu programs\n", static_cast<unsigned long long>(count));
}

TEST(ModelTest, OneThread) { tryPrograms({}, std::chrono::milliseconds(2000)); }

TEST(ModelTest, SeveralThreads) {
  Options options;
  options.threads = 3;
  tryPrograms(options, std::chrono::milliseconds(2000));
}

// Operations, transfers included, and allocations fail at random, and so do user events.
class FailingModelTest : public testing::TestWithParam<int> {};

TEST_P(FailingModelTest, FailsWhatDependsAndNothingElse) {
  Options options;
  options.failures = true;
  options.shared_spaces = false;
  options.threads = GetParam();
  tryPrograms(options, std::chrono::milliseconds(2000));
}

INSTANTIATE_TEST_SUITE_P(Threads, FailingModelTest, testing::Values(1, 3));

// The same on devices that do things by themselves: the CPU and its sub-devices, with memory in
// common and each with its own, and the CPU with GPUs.
struct RealMachineCase {
  const char* name;
  MachineKind machine;
  size_t alignment;
};
class RealMachineModelTest : public testing::TestWithParam<RealMachineCase> {};

TEST_P(RealMachineModelTest, SeveralThreads) {
  Options options;
  options.machine = GetParam().machine;
  options.max_devices = deviceCount(options.machine);
  if (options.machine == MachineKind::gpus && options.max_devices == 1) GTEST_SKIP() << "no GPU";
  options.shared_spaces = false;
  options.threads = 2;
  options.alignment = GetParam().alignment;
  tryPrograms(options, std::chrono::milliseconds(1000));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, RealMachineModelTest,
    testing::Values(RealMachineCase{"Cpu", MachineKind::cpu, 128},
                    RealMachineCase{"CpuPrivate", MachineKind::cpu_private, 128},
                    RealMachineCase{"SoftwareGpus", MachineKind::software_gpus, 256},
                    RealMachineCase{"UnlikeGpus", MachineKind::unlike_gpus, 256},
                    RealMachineCase{"Gpus", MachineKind::gpus, 256}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::test::model
