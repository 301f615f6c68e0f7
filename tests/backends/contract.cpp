#include "tests/backends/contract.h"

#include <cstdlib>

#include "backends/cpu/backend.h"
#include "backends/hip/backend.h"
#include "core/error.h"
#include "tests/support/fake_device.h"
#include "tests/support/software_gpus.h"
#include "tests/support/unit_sets.h"

namespace weft::test {
namespace {

struct Difference {
  const char* subject;
  const char* what;
  const char* reason;
};

constexpr Difference differences[] = {
    {"cpu", "fences", "its threads take what can run"},
    {"cpu_one_unit", "fences", "its threads take what can run"},
    {"cpu_private", "fences", "its threads take what can run"},
    {"fake", "import", "its memory is not the host's"},
    {"fake", "host address", "its memory is not the host's"},
    {"gpu", "host address", "its memory is not the host's"},
    {"gpu", "alignment to pages", "the runtime promises 256 bytes"},
    {"gpu", "partition", "a GPU is not partitioned"},
    {"gpu", "services", "only a launch that prints brings a buffer for it"},
    {"gpu", "lane context", "work-items have registers instead"},
    {"gpu", "control bits", "each instruction says how it rounds"},
    {"software_gpu", "host address", "its memory is not the host's"},
    {"software_gpu", "alignment to pages", "the runtime promises 256 bytes"},
    {"software_gpu", "import of a part of a page", "it takes whole pages in"},
    {"software_gpu", "partition", "a GPU is not partitioned"},
    {"software_gpu", "services", "only a launch that prints brings a buffer for it"},
    {"software_gpu", "lane context", "work-items have registers instead"},
    {"software_level_zero", "host address", "its memory is not the host's"},
    {"software_level_zero", "alignment to pages", "no more than 256 bytes are asked for"},
    {"software_level_zero", "import of any memory", "its driver knows its own allocations only"},
    {"software_level_zero", "services", "only a launch that prints brings a buffer for it"},
    {"software_level_zero", "lane context", "work-items have registers instead"},
};

std::shared_ptr<port::Device> root(port::Backend& backend) {
  std::vector<port::Diagnostic> diagnostics;
  return backend.discover(diagnostics).at(0);
}

std::shared_ptr<port::Device> cpuDevice() { return root(*cpu::makeBackend()); }

std::shared_ptr<port::Device> privateCpuDevice() {
  setenv("WEFT_CPU_PRIVATE_MEMORY", "1", 1);
  auto device = cpuDevice();
  unsetenv("WEFT_CPU_PRIVATE_MEMORY");
  return device;
}

// The last unit; the root stays alive with it.
std::shared_ptr<port::Device> oneUnit() {
  auto whole = cpuDevice();
  auto* keep =
      new std::pair(whole, whole->partition(singles(whole->capabilities().compute_units)).back());
  return {keep->second.get(), [keep](port::Device*) { delete keep; }};
}

std::shared_ptr<port::Device> fakeDevice() {
  FakeOptions options;
  options.manual = false;
  options.seed = 7;
  options.max_delay = std::chrono::microseconds(50);
  options.fences = true;
  return std::make_shared<FakeDevice>(options);
}

std::shared_ptr<port::Device> softwareGpu() { return root(*softwareGpus()); }
std::shared_ptr<port::Device> softwareLevelZeroGpu() { return root(*softwareLevelZero()); }

// The machine's first GPU behind HIP that there are kernels for; nullptr where there is none.
std::shared_ptr<port::Device> gpu() {
  std::vector<port::Diagnostic> diagnostics;
  for (auto& device : hip::Backend().discover(diagnostics))
    if (hasTestImage(device->target())) return device;
  return nullptr;
}

// Of a driver whose lists keep no order.
std::shared_ptr<port::Device> oldLevelZeroGpu() {
  softwareLevelZeroFaults()->old = true;
  auto device = softwareLevelZeroGpu();
  softwareLevelZeroFaults()->old = false;
  return device;
}

std::vector<Subject> makeSubjects() {
  std::vector<Subject> all = {
      {"cpu", cpuDevice},   {"cpu_one_unit", oneUnit},     {"cpu_private", privateCpuDevice},
      {"fake", fakeDevice}, {"software_gpu", softwareGpu},
  };
  if (softwareLevelZero()) {
    all.push_back({"software_level_zero", softwareLevelZeroGpu});
    all.push_back({"software_level_zero_1_3", oldLevelZeroGpu});
  }
  if (gpu()) all.push_back({"gpu", gpu});
  return all;
}

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = makeSubjects();
  return all;
}

std::string subjectName(const ::testing::TestParamInfo<Subject>& info) { return info.param.name; }

ContractTest::ContractTest()
    : device(GetParam().make()),
      module(device->load(testImage(device->target()))),
      transfers(device->createStream(port::Order::in_order)) {}

void ContractTest::expectHolds(const std::string& what, bool holds) const {
  // Old drivers differ in what they do, not in what can be asked of them.
  std::string name = GetParam().name;
  if (name == "software_level_zero_1_3") name = "software_level_zero";
  for (const Difference& difference : differences) {
    if (difference.subject != name || difference.what != what) continue;
    EXPECT_FALSE(holds) << what << ": unexpectedly holds, though " << difference.reason;
    return;
  }
  EXPECT_TRUE(holds) << what;
}

bool ContractTest::partitions() const {
  bool can = true;
  try {
    device->partition(singles(1));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CL_DEVICE_PARTITION_FAILED);
    can = false;
  }
  expectHolds("partition", can);
  return can;
}

void ContractTest::run(port::Stream& stream, const port::Operation::Work& work) {
  TestOperation operation(work);
  stream.submit(operation);
  stream.flush();
  ASSERT_TRUE(operation.wait());
  ASSERT_EQ(operation.status, 0);
}

void ContractTest::write(port::Memory& memory, const void* from, size_t bytes, size_t offset) {
  run(*transfers, copyToDevice(from, memory, bytes, offset));
}

void ContractTest::read(port::Memory& memory, void* to, size_t bytes, size_t offset) {
  run(*transfers, copyToHost(memory, to, bytes, offset));
}

}  // namespace weft::test
