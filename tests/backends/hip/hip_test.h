// The HIP backend's devices for tests: software GPUs, or the machine's GPUs.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/hip/device.h"
#include "tests/software_gpu/faults.h"
#include "tests/support/test_operation.h"

namespace weft::test {

enum class Subject : uint8_t { software, gpu };
std::string subjectName(const ::testing::TestParamInfo<Subject>& info);

// What the software GPUs do wrong.
software::Faults& softwareGpuFaults();

// An image of kernels.cl for the device.
Image gpuImage(const port::Target& target);
// The index of a kernel of gpuImage().
uint32_t gpuKernel(std::string_view name);

// Every device of the kind that this machine has; diagnostics go to standard output.
std::vector<std::shared_ptr<hip::Device>> devicesOf(Subject subject);

// A launch in up to three dimensions, with arguments of any size.
class GpuLaunchCase {
 public:
  GpuLaunchCase(port::Module& module, std::string_view kernel, std::array<uint64_t, 3> global,
                std::array<uint64_t, 3> local, std::array<uint64_t, 3> offset = {0, 0, 0});

  template <class T>
  GpuLaunchCase& value(T value) {
    bytes_.push_back(std::make_unique<std::vector<std::byte>>(sizeof value));
    std::memcpy(bytes_.back()->data(), &value, sizeof value);
    return add({ArgumentKind::value, bytes_.back()->data(), nullptr, 0, 0, sizeof value});
  }
  GpuLaunchCase& memory(port::Memory* memory, size_t offset = 0) {
    return add({ArgumentKind::global_pointer, nullptr, memory, 0, offset, 0});
  }
  GpuLaunchCase& local(size_t bytes) {
    return add({ArgumentKind::local_pointer, nullptr, nullptr, 0, 0, bytes});
  }
  port::Launch whole() const;
  port::Launch slice(const port::GroupBox& box) const;

 private:
  GpuLaunchCase& add(const port::LaunchArgument& argument) {
    arguments_.push_back(argument);
    return *this;
  }
  port::Module* module_;
  uint32_t kernel_;
  port::LaunchRecord record_;
  std::vector<port::LaunchArgument> arguments_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> bytes_;
};

// Skips where the machine has no such device.
class HipTest : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Submits, waits and expects success.
  void run(port::Stream& stream, const port::Operation::Work& work);
  void write(port::Memory& memory, const void* from, size_t bytes, size_t offset = 0);
  void read(port::Memory& memory, void* to, size_t bytes, size_t offset = 0);
  template <class T>
  std::vector<T> contents(port::Memory& memory, size_t count) {
    std::vector<T> values(count);
    read(memory, values.data(), count * sizeof(T));
    return values;
  }

  std::vector<std::shared_ptr<hip::Device>> devices;
  std::shared_ptr<hip::Device> device;
  std::unique_ptr<port::Module> module;
  std::unique_ptr<hip::InOrderStream> stream;
};

}  // namespace weft::test
