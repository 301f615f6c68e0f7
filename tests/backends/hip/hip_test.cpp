#include "tests/backends/hip/hip_test.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "backends/common/memory_space.h"
#include "backends/hip/backend.h"
#include "hip_test_kernels.h"

namespace weft::test {
namespace {

using enum ArgumentKind;

struct Row {
  const char* name;
  std::vector<ArgumentKind> arguments;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"empty", {}},
      {"add_one", {global_pointer}},
      {"axpy", {global_pointer, global_pointer, value, value}},
      {"cover", {global_pointer, global_pointer}},
      {"reverse", {global_pointer, global_pointer, local_pointer, local_pointer}},
      {"spin", {value, global_pointer}},
      {"await", {global_pointer}},
      {"fault", {value}},
  };
  return table;
}

const std::string runtime_names[] = {WEFT_SOFTWARE_GPU_RUNTIME};

std::string contentsOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

software::Faults& softwareGpuFaults() {
  void* const library = dlopen(runtime_names[0].c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto get = reinterpret_cast<software::GetFaults>(dlsym(library, "weftSoftwareGpuFaults"));
  return *get();
}

std::string subjectName(const ::testing::TestParamInfo<Subject>& info) {
  return info.param == Subject::software ? "software" : "gpu";
}

uint32_t gpuKernel(std::string_view name) {
  for (size_t i = 0; i < rows().size(); ++i)
    if (rows()[i].name == name) return static_cast<uint32_t>(i);
  ADD_FAILURE() << name;
  return 0;
}

Image gpuImage(const port::Target& target) {
  Image image;
  image.target = target;
  const std::string_view ptx(hip_test_kernels, sizeof hip_test_kernels - 1);
  const std::string code =
      target.kind == port::TargetKind::nvptx ? std::string(ptx) : contentsOf(WEFT_SOFTWARE_KERNELS);
  const auto* bytes = reinterpret_cast<const std::byte*>(code.data());
  image.payload.assign(bytes, bytes + code.size());
  for (const Row& row : rows()) {
    KernelInfo info;
    info.name = info.symbol = row.name;
    for (const ArgumentKind kind : row.arguments) {
      ArgumentInfo argument;
      argument.kind = kind;
      argument.alignment = 8;
      info.arguments.push_back(argument);
    }
    image.kernels.push_back(info);
  }
  return image;
}

std::vector<std::shared_ptr<hip::Device>> devicesOf(Subject subject) {
  std::vector<port::Diagnostic> diagnostics;
  std::vector<hip::Backend::Open> software{
      [](auto& found) { return hip::openHipRuntime(found, runtime_names); }};
  hip::Backend backend =
      subject == Subject::software ? hip::Backend(std::move(software)) : hip::Backend();
  std::vector<std::shared_ptr<hip::Device>> devices;
  for (auto& device : backend.discover(diagnostics))
    devices.push_back(std::static_pointer_cast<hip::Device>(device));
  for (const auto& diagnostic : diagnostics) std::printf("%s\n", diagnostic.message.c_str());
  return devices;
}

GpuLaunchCase::GpuLaunchCase(port::Module& module, std::string_view kernel,
                             std::array<uint64_t, 3> global, std::array<uint64_t, 3> local,
                             std::array<uint64_t, 3> offset)
    : module_(&module), kernel_(gpuKernel(kernel)) {
  record_.work_dim = 3;
  for (size_t d = 0; d < 3; ++d) {
    record_.global_offset[d] = offset[d];
    record_.global_size[d] = global[d];
    record_.local_size[d] = local[d];
    record_.group_count[d] = (global[d] + local[d] - 1) / local[d];
  }
}

port::Launch GpuLaunchCase::slice(const port::GroupBox& box) const {
  return {module_, kernel_, &record_, box, arguments_};
}

port::Launch GpuLaunchCase::whole() const {
  port::GroupBox box;
  for (size_t d = 0; d < 3; ++d) box.end[d] = record_.group_count[d];
  return slice(box);
}

void HipTest::SetUp() {
  devices = devicesOf(GetParam());
  if (devices.empty()) GTEST_SKIP() << "no such device here";
  device = devices.front();
  module = device->load(gpuImage(device->target()));
  stream = device->createInOrderStream({});
}

void HipTest::TearDown() {
  stream = nullptr;
  module = nullptr;
  device = nullptr;
  devices.clear();
  if (GetParam() != Subject::software) return;
  // The thread of a stream that was destroyed from within finished() lets go a moment later.
  for (int i = 0; i < 60'000 && softwareGpuFaults().alive != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(softwareGpuFaults().alive, 0) << "handles or memory leaked";
}

void HipTest::run(port::Stream& on, const port::Operation::Work& work) {
  TestOperation operation(work);
  on.submit(operation);
  on.flush();
  ASSERT_TRUE(operation.wait());
  ASSERT_EQ(operation.status, 0);
}

void HipTest::write(port::Memory& memory, const void* from, size_t bytes, size_t offset) {
  run(*stream, copyToDevice(from, memory, bytes, offset));
}

void HipTest::read(port::Memory& memory, void* to, size_t bytes, size_t offset) {
  run(*stream, copyToHost(memory, to, bytes, offset));
}

}  // namespace weft::test
