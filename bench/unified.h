// The platform's unified device, and what it is made of.
#pragma once

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include "api/cl_weft_ext.h"

namespace weft::bench {

struct UnifiedDevice {
  cl::Device device;
  std::vector<cl::Device> members;
  std::string name;
};

// With WEFT_UNIFIED=1. Throws std::runtime_error when there is none.
inline UnifiedDevice findUnifiedDevice() {
  std::vector<cl::Device> devices;
  cl::Platform::getDefault().getDevices(CL_DEVICE_TYPE_ALL, &devices);
  for (const cl::Device& device : devices) {
    size_t bytes = 0;
    if (clGetDeviceInfo(device(), CL_DEVICE_MEMBERS_WEFT, 0, nullptr, &bytes) != CL_SUCCESS ||
        bytes == 0)
      continue;
    std::vector<cl_device_id> ids(bytes / sizeof(cl_device_id));
    clGetDeviceInfo(device(), CL_DEVICE_MEMBERS_WEFT, bytes, ids.data(), nullptr);
    UnifiedDevice found{device, {}, device.getInfo<CL_DEVICE_NAME>()};
    for (const cl_device_id id : ids) found.members.emplace_back(id, true);
    return found;
  }
  throw std::runtime_error("there is no unified device: set WEFT_UNIFIED=1");
}

// A program of one optional argument, how large it is to be: 1 or more. Gives its exit status.
inline int runScaled(int argc, char** argv, int (*run)(size_t scale)) {
  try {
    return run(argc > 1 ? std::max(std::stoul(argv[1]), 1ul) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

}  // namespace weft::bench
