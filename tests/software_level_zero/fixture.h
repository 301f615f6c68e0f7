// A platform of the CPU and two software GPUs behind Level Zero's loader.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/conformance/opencl.h"

namespace weft::software {

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

}  // namespace weft::software
