// A platform of the CPU and two software GPUs: what makes them GPUs, and what happens when one
// goes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "tests/conformance/opencl.h"
#include "tests/software_gpu/faults.h"

namespace weft::software {
namespace {

using namespace weft::conformance;

template <class F>
F runtime(const char* name) {
  static void* const library = dlopen(std::getenv("WEFT_HIP_RUNTIME"), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F>(dlsym(library, name));
}
Faults& faults() { return *runtime<GetFaults>("weftSoftwareGpuFaults")(); }

class SoftwareGpus : public testing::Test {
 protected:
  void SetUp() override {
    cl_uint count = 0;
    ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count),
              CL_SUCCESS);
    devices.resize(count);
    cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    ASSERT_EQ(count, 3u) << "the CPU and two software GPUs";
    cl_int code = 1;
    context =
        OwnedContext(cl.clCreateContext(nullptr, count, devices.data(), nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    for (const cl_device_id device : devices) {
      queues.emplace_back(cl.clCreateCommandQueue(context, device, 0, &code));
      ASSERT_EQ(code, CL_SUCCESS);
    }
  }
  void TearDown() override { faults().launches.failing = faults().copies.failing = 0; }

  OwnedKernel kernel(const char* text, const char* name) {
    cl_int code = 1;
    program = OwnedProgram(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
    EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
    return OwnedKernel(cl.clCreateKernel(program, name, &code));
  }
  OwnedMem buffer(std::vector<cl_uint>& values) const {
    cl_int code = 1;
    return OwnedMem(
        cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, values.size() * 4, values.data(), &code));
  }
  template <class T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    ASSERT_EQ(cl.clSetKernelArg(kernel, index, sizeof value, &value), CL_SUCCESS);
  }
  OwnedEvent run(size_t device, cl_kernel kernel, size_t count) const {
    cl_event event = nullptr;
    EXPECT_EQ(cl.clEnqueueNDRangeKernel(queues[device], kernel, 1, nullptr, &count, nullptr, 0,
                                        nullptr, &event),
              CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    return OwnedEvent(event);
  }
  static cl_int status(cl_event event) {
    return info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }

  std::vector<cl_device_id> devices;
  OwnedContext context;
  std::vector<OwnedQueue> queues;
  OwnedProgram program;
};

constexpr char add_source[] =
    "kernel void add(global uint* data, uint by) { data[get_global_id(0)] += by; }\n";
constexpr char poke_source[] = "kernel void poke(ulong address) { *(global uint*)address = 1; }\n";

TEST_F(SoftwareGpus, TakeTurnsOnOneBufferWithTheCpu) {
  const OwnedKernel add = kernel(add_source, "add");
  std::vector<cl_uint> values(10'000);
  std::iota(values.begin(), values.end(), 0u);
  const OwnedMem memory = buffer(values);
  for (cl_uint i = 0; i < 9; ++i) {
    const cl_mem handle = memory;
    set(add, 0, handle);
    set(add, 1, i);
    EXPECT_EQ(status(run(i % 3, add, values.size())), CL_COMPLETE);
  }
  std::vector<cl_uint> back(values.size());
  ASSERT_EQ(cl.clEnqueueReadBuffer(queues[1], memory, CL_TRUE, 0, back.size() * 4, back.data(), 0,
                                   nullptr, nullptr),
            CL_SUCCESS);
  for (cl_uint& value : values) value += 36;
  EXPECT_EQ(back, values);
}

TEST_F(SoftwareGpus, RunKernelsOfAnyName) {
  for (const size_t length : {200, 600, 5000}) {
    const std::string name(length, 'k');
    const std::string text = "kernel void " + name + "(global uint* data) { data[0] = 5; }\n";
    const OwnedKernel named = kernel(text.c_str(), name.c_str());
    std::vector<cl_uint> values(1);
    const OwnedMem memory = buffer(values);
    const cl_mem handle = memory;
    for (const size_t device : {1, 2}) {
      set(named, 0, handle);
      EXPECT_EQ(status(run(device, named, 1)), CL_COMPLETE) << length;
    }
  }
}

using SoftwareGpusDeathTest = SoftwareGpus;
TEST_F(SoftwareGpusDeathTest, TheHostCannotTouchTheirMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  void* address = nullptr;
  ASSERT_EQ(runtime<int (*)(void**, size_t)>("hipMalloc")(&address, 4096), 0);
  EXPECT_DEATH(*static_cast<volatile int*>(address) = 1, "");
  EXPECT_EQ(runtime<int (*)(void*)>("hipFree")(address), 0);
}

TEST_F(SoftwareGpus, AKernelCannotTouchTheHostsMemory) {
  const OwnedKernel add = kernel(add_source, "add");
  const OwnedKernel poke = kernel(poke_source, "poke");
  static cl_uint target = 0;
  set(poke, 0, reinterpret_cast<cl_ulong>(&target));
  EXPECT_EQ(status(run(0, poke, 1)), CL_COMPLETE);  // the CPU may
  EXPECT_EQ(target, 1u);
  target = 0;
  EXPECT_LT(status(run(1, poke, 1)), 0);
  EXPECT_EQ(target, 0u);
  // The device is lost; the others are not.
  std::vector<cl_uint> values(100, 7);
  const OwnedMem memory = buffer(values);
  const cl_mem handle = memory;
  set(add, 0, handle);
  set(add, 1, cl_uint{1});
  EXPECT_EQ(status(run(2, add, 100)), CL_COMPLETE);
  EXPECT_LT(status(run(1, add, 100)), 0);
}

TEST_F(SoftwareGpus, ProgramsAreBuiltForThoseThatAreLeft) {
  const auto available = [&](size_t device) {
    return info<cl_bool>(cl.clGetDeviceInfo, devices[device], CL_DEVICE_AVAILABLE);
  };
  const auto built = [&](size_t device) {
    cl_build_status status = CL_BUILD_NONE;
    cl.clGetProgramBuildInfo(program, devices[device], CL_PROGRAM_BUILD_STATUS, sizeof status,
                             &status, nullptr);
    return status;
  };
  {
    const OwnedKernel poke = kernel(poke_source, "poke");
    set(poke, 0, cl_ulong{64});
    EXPECT_EQ(available(1), cl_bool{CL_TRUE});
    EXPECT_LT(status(run(1, poke, 1)), 0);
    EXPECT_EQ(available(1), cl_bool{CL_FALSE});
    EXPECT_EQ(available(2), cl_bool{CL_TRUE});
  }
  const OwnedKernel add = kernel(add_source, "add");  // expects that the program is built
  EXPECT_EQ(built(0), CL_BUILD_SUCCESS);
  EXPECT_EQ(built(1), CL_BUILD_ERROR);
  EXPECT_EQ(built(2), CL_BUILD_SUCCESS);
  std::vector<cl_uint> values(100, 7);
  const OwnedMem memory = buffer(values);
  const cl_mem handle = memory;
  set(add, 0, handle);
  set(add, 1, cl_uint{1});
  EXPECT_EQ(status(run(0, add, 100)), CL_COMPLETE);
  EXPECT_EQ(status(run(2, add, 100)), CL_COMPLETE);
  // Nothing is left of those that are asked for.
  const char* text = add_source;
  cl_int code = 1;
  const OwnedProgram other(cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code));
  EXPECT_EQ(cl.clBuildProgram(other, 1, &devices[1], "", nullptr, nullptr),
            CL_BUILD_PROGRAM_FAILURE);
}

TEST_F(SoftwareGpus, FailWhereTheyAreTold) {
  const OwnedKernel add = kernel(add_source, "add");
  std::vector<cl_uint> values(100, 7);
  const OwnedMem memory = buffer(values);
  const cl_mem handle = memory;
  set(add, 0, handle);
  set(add, 1, cl_uint{1});
  faults().launches.spared = 1;
  faults().launches.failing = 1;
  EXPECT_EQ(status(run(2, add, 100)), CL_COMPLETE);
  EXPECT_LT(status(run(2, add, 100)), 0);
}

}  // namespace
}  // namespace weft::software
