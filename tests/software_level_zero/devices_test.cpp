// A platform of the CPU and two software GPUs behind Level Zero's loader: that they are found, run
// what they are given, share a context with the CPU, and that nothing leaks.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "tests/conformance/opencl.h"

namespace weft::software {
namespace {

using namespace weft::conformance;

class SoftwareLevelZero : public testing::Test {
 protected:
  void SetUp() override {
    void* const loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) GTEST_SKIP() << "there is no loader of Level Zero";
    cl_uint count = 0;
    ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count),
              CL_SUCCESS);
    std::vector<cl_device_id> all(count);
    cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, count, all.data(), nullptr);
    for (const cl_device_id device : all) {
      const bool is_gpu =
          info<cl_device_type>(cl.clGetDeviceInfo, device, CL_DEVICE_TYPE) == CL_DEVICE_TYPE_GPU;
      if (!is_gpu || nameOf(device).starts_with("Software Level Zero GPU"))
        devices.push_back(device);
    }
    ASSERT_EQ(devices.size(), 3u) << "the CPU and two software GPUs";
    cl_int code = 1;
    context = OwnedContext(cl.clCreateContext(nullptr, 3, devices.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (const cl_device_id device : devices) {
      queues.emplace_back(cl.clCreateCommandQueue(context, device, 0, &code));
      ASSERT_EQ(code, CL_SUCCESS);
    }
  }

  static std::string nameOf(cl_device_id device) {
    char text[256] = {};
    cl.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, nullptr);
    return text;
  }
  OwnedKernel kernel(const char* text, const char* name) {
    cl_int code = 1;
    program = OwnedProgram(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-std=CL3.0", nullptr, nullptr),
              CL_SUCCESS);
    return OwnedKernel(cl.clCreateKernel(program, name, &code));
  }
  template <class T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    ASSERT_EQ(cl.clSetKernelArg(kernel, index, sizeof value, &value), CL_SUCCESS);
  }
  void run(size_t device, cl_kernel kernel, size_t count, const size_t* local = nullptr) const {
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queues[device], kernel, 1, nullptr, &count, local, 0,
                                        nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
  }
  std::vector<cl_uint> contents(size_t device, cl_mem memory, size_t count) const {
    std::vector<cl_uint> values(count);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queues[device], memory, CL_TRUE, 0, count * 4, values.data(),
                                     0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  OwnedMem buffer(std::vector<cl_uint>& values) const {
    cl_int code = 1;
    return OwnedMem(
        cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, values.size() * 4, values.data(), &code));
  }

  std::vector<cl_device_id> devices;
  OwnedContext context;
  std::vector<OwnedQueue> queues;
  OwnedProgram program;
};

TEST_F(SoftwareLevelZero, DevicesSayWhereTheyAre) {
  std::vector<cl_uint> buses;
  for (const cl_device_id device : devices) {
    if (!nameOf(device).starts_with("Software Level Zero GPU")) continue;
    const auto bus =
        info<cl_device_pci_bus_info_khr>(cl.clGetDeviceInfo, device, CL_DEVICE_PCI_BUS_INFO_KHR);
    buses.push_back(bus.pci_bus);
  }
  EXPECT_EQ(buses, (std::vector<cl_uint>{3, 4}));
}

TEST_F(SoftwareLevelZero, TakesTurnsOnOneBufferWithTheCpu) {
  const OwnedKernel add = kernel(
      "kernel void add(global uint* data, uint by) { data[get_global_id(0)] += by; }\n", "add");
  std::vector<cl_uint> values(10'007);  // not a multiple of anything
  std::iota(values.begin(), values.end(), 0u);
  const OwnedMem memory = buffer(values);
  for (cl_uint i = 0; i < 9; ++i) {
    const cl_mem handle = memory;
    set(add, 0, handle);
    set(add, 1, i);
    run(i % 3, add, values.size());
  }
  for (cl_uint& value : values) value += 36;
  EXPECT_EQ(contents(1, memory, values.size()), values);
}

TEST_F(SoftwareLevelZero, WorkItemsMeetInLocalMemory) {
  const OwnedKernel reverse = kernel(
      "kernel void reverse(global uint* data, local uint* mine) {\n"
      "  local uint other[64];\n"
      "  size_t i = get_local_id(0), n = get_local_size(0);\n"
      "  mine[i] = data[get_global_id(0)];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  other[i] = mine[n - 1 - i];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  data[get_global_id(0)] = other[i] + 1000 * (uint)get_group_id(0);\n"
      "}\n",
      "reverse");
  constexpr size_t count = 256, local = 64;
  std::vector<cl_uint> values(count), expected(count);
  std::iota(values.begin(), values.end(), 0u);
  for (size_t i = 0; i < count; ++i)
    expected[i] =
        values[i / local * local + local - 1 - i % local] + 1000 * static_cast<cl_uint>(i / local);
  const OwnedMem memory = buffer(values);
  const cl_mem handle = memory;
  set(reverse, 0, handle);
  ASSERT_EQ(cl.clSetKernelArg(reverse, 1, local * 4, nullptr), CL_SUCCESS);
  run(2, reverse, count, &local);
  EXPECT_EQ(contents(2, memory, count), expected);
}

TEST_F(SoftwareLevelZero, FillsAndCopiesRows) {
  constexpr size_t width = 40, rows = 30;
  std::vector<cl_uint> values(width * rows, 7);
  const OwnedMem memory = buffer(values);
  const cl_uint pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ASSERT_EQ(cl.clEnqueueFillBuffer(queues[1], memory, pattern, sizeof pattern, 0, width * rows * 4,
                                   0, nullptr, nullptr),
            CL_SUCCESS);
  for (size_t i = 0; i < values.size(); ++i) values[i] = pattern[i % 8];
  std::vector<cl_uint> box(10 * 5, 99);
  const size_t at[3] = {4 * 4, 3, 0}, from[3] = {0, 0, 0}, region[3] = {10 * 4, 5, 1};
  ASSERT_EQ(cl.clEnqueueWriteBufferRect(queues[1], memory, CL_TRUE, at, from, region, width * 4, 0,
                                        0, 0, box.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  for (size_t y = 0; y < 5; ++y)
    for (size_t x = 0; x < 10; ++x) values[(y + 3) * width + x + 4] = 99;
  EXPECT_EQ(contents(2, memory, values.size()), values);
}

// The driver is given SPIR-V, which it writes down here, and the second time what it made of it.
TEST_F(SoftwareLevelZero, ModulesAreCompiledOnce) {
  std::string folder = testing::TempDir() + "modules-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto given = [&] {
    const std::filesystem::directory_iterator files(folder);
    return std::distance(begin(files), end(files));
  };
  // Nobody has compiled it before.
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const auto unique = static_cast<cl_uint>(now / 1000);
  const std::string source =
      "kernel void number(global uint* data) { data[0] = " + std::to_string(unique) + "u; }\n";
  for (const int modules : {1, 0}) {
    setenv("WEFT_SOFTWARE_GPU_MODULES", folder.c_str(), 1);
    const OwnedKernel number = kernel(source.c_str(), "number");
    unsetenv("WEFT_SOFTWARE_GPU_MODULES");
    EXPECT_EQ(given(), modules);
    for (const auto& file : std::filesystem::directory_iterator(folder)) remove(file.path());
    std::vector<cl_uint> values{0};
    const OwnedMem memory = buffer(values);
    const cl_mem handle = memory;
    set(number, 0, handle);
    run(2, number, 1);
    EXPECT_EQ(contents(2, memory, 1), std::vector<cl_uint>{unique});
  }
  std::filesystem::remove_all(folder);
}

TEST_F(SoftwareLevelZero, FailedBuildsSayWhy) {
  const char* text = "kernel void f(global int* a) { a[0] = missing(); }\n";
  cl_int code = 1;
  const OwnedProgram broken(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
  EXPECT_EQ(cl.clBuildProgram(broken, 1, &devices[1], "", nullptr, nullptr),
            CL_BUILD_PROGRAM_FAILURE);
}

}  // namespace
}  // namespace weft::software
