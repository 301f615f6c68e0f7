// The functions of cl_intel_unified_shared_memory.
#pragma once

#include <CL/cl_ext.h>

#include "tests/conformance/opencl.h"

namespace weft::conformance {

struct UsmFunctions {
  decltype(&clHostMemAllocINTEL) hostAlloc = find<decltype(hostAlloc)>("clHostMemAllocINTEL");
  decltype(&clDeviceMemAllocINTEL) deviceAlloc =
      find<decltype(deviceAlloc)>("clDeviceMemAllocINTEL");
  decltype(&clSharedMemAllocINTEL) sharedAlloc =
      find<decltype(sharedAlloc)>("clSharedMemAllocINTEL");
  decltype(&clMemFreeINTEL) free = find<decltype(free)>("clMemFreeINTEL");
  decltype(&clMemBlockingFreeINTEL) blockingFree =
      find<decltype(blockingFree)>("clMemBlockingFreeINTEL");
  decltype(&clGetMemAllocInfoINTEL) allocInfo = find<decltype(allocInfo)>("clGetMemAllocInfoINTEL");
  decltype(&clSetKernelArgMemPointerINTEL) setArgument =
      find<decltype(setArgument)>("clSetKernelArgMemPointerINTEL");
  decltype(&clEnqueueMemFillINTEL) fill = find<decltype(fill)>("clEnqueueMemFillINTEL");
  decltype(&clEnqueueMemsetINTEL) set = find<decltype(set)>("clEnqueueMemsetINTEL");
  decltype(&clEnqueueMemcpyINTEL) copy = find<decltype(copy)>("clEnqueueMemcpyINTEL");
  decltype(&clEnqueueMigrateMemINTEL) migrate = find<decltype(migrate)>("clEnqueueMigrateMemINTEL");
  decltype(&clEnqueueMemAdviseINTEL) advise = find<decltype(advise)>("clEnqueueMemAdviseINTEL");

 private:
  template <class F>
  static F find(const char* name) {
    return reinterpret_cast<F>(cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), name));
  }
};

// What each query of a device's capabilities says: host, device, single device, cross device,
// system.
constexpr cl_device_info usm_queries[] = {CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
                                          CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
                                          CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
                                          CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
                                          CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL};

}  // namespace weft::conformance
