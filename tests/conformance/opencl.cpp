#include "tests/conformance/opencl.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace weft::conformance {
namespace {

void* library() {
  static void* const handle = [] {
    const char* other = std::getenv("WEFT_TEST_LIBRARY");
    void* opened = dlopen(other ? other : WEFT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!opened) throw std::runtime_error(dlerror());
    return opened;
  }();
  return handle;
}

}  // namespace

void* exported(const char* name) { return dlsym(library(), name); }

cl_platform_id testPlatform() {
  static const cl_platform_id platform = [] {
    using Extension = void*(CL_API_CALL*)(const char*);
    const auto extension = reinterpret_cast<Extension>(exported("clGetExtensionFunctionAddress"));
    const auto platforms =
        reinterpret_cast<clIcdGetPlatformIDsKHR_fn>(extension("clIcdGetPlatformIDsKHR"));
    cl_platform_id found = nullptr;
    if (platforms(1, &found, nullptr) != CL_SUCCESS) throw std::runtime_error("no platform");
    return found;
  }();
  return platform;
}

const cl_icd_dispatch& dispatch() {
  // "The first member of every object is a pointer to the dispatch table" (cl_khr_icd).
  return **reinterpret_cast<const cl_icd_dispatch* const*>(testPlatform());
}

cl_device_id testDevice() {
  static const cl_device_id device = [] {
    // WEFT_TEST_DEVICE=gpu runs the tests on a GPU.
    const char* const kind = std::getenv("WEFT_TEST_DEVICE");
    const bool gpu = kind && std::string_view(kind) == "gpu";
    cl_device_id found = nullptr;
    if (dispatch().clGetDeviceIDs(testPlatform(), gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_ALL, 1,
                                  &found, nullptr))
      throw std::runtime_error("no device");
    return found;
  }();
  return device;
}

OwnedContext makeContext() {
  const cl_device_id device = testDevice();
  cl_int code = CL_SUCCESS;
  OwnedContext context(cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  if (code) throw std::runtime_error("no context");
  return context;
}

std::vector<cl_device_partition_property> smallestParts() {
  const auto schemes =
      listOf<cl_device_partition_property>(testDevice(), CL_DEVICE_PARTITION_PROPERTIES);
  if (std::ranges::find(schemes, CL_DEVICE_PARTITION_EQUALLY) != schemes.end())
    return {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  return {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, 0};
}

}  // namespace weft::conformance
