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

namespace {

std::vector<cl_device_id> devicesOf(cl_device_type type) {
  cl_uint count = 0;
  dispatch().clGetDeviceIDs(testPlatform(), type, 0, nullptr, &count);
  std::vector<cl_device_id> devices(count);
  if (count > 0) dispatch().clGetDeviceIDs(testPlatform(), type, count, devices.data(), nullptr);
  return devices;
}

bool isNamed(cl_device_id device, std::string_view part) {
  char name[256] = {};
  dispatch().clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
  return std::string_view(name).find(part) != std::string_view::npos;
}

std::string_view setting(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

cl_device_id testDevice() {
  static const cl_device_id device = [] {
    const std::string_view wanted = setting("WEFT_TEST_DEVICE");
    const bool gpu = wanted == "gpu";
    for (const cl_device_id each : devicesOf(gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_ALL))
      if (gpu || isNamed(each, wanted)) return each;
    throw std::runtime_error("no device");
  }();
  return device;
}

const std::vector<cl_device_id>& testDevices() {
  static const std::vector<cl_device_id> devices = [] {
    std::vector<cl_device_id> found = {testDevice()};
    if (setting("WEFT_TEST_DEVICES") != "all") return found;
    for (const cl_device_id each : devicesOf(CL_DEVICE_TYPE_ALL))
      if (each != testDevice()) found.push_back(each);
    return found;
  }();
  return devices;
}

OwnedContext makeContext() {
  const auto& devices = testDevices();
  cl_int code = CL_SUCCESS;
  OwnedContext context(cl.clCreateContext(nullptr, static_cast<cl_uint>(devices.size()),
                                          devices.data(), nullptr, nullptr, &code));
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
