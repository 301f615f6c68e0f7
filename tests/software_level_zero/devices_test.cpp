// A platform of the CPU and two software GPUs behind Level Zero's loader: that they are found, run
// what they are given, share a context with the CPU, and that nothing leaks.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "tests/software_level_zero/fixture.h"

namespace weft::software {
namespace {

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
