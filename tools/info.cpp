#include "tools/info.h"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "api/cl_weft_ext.h"
#include "tools/opencl.h"

namespace weft::tools {
namespace {

const char* typeName(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_CPU) return "CPU";
  if (type & CL_DEVICE_TYPE_GPU) return "GPU";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  return "other";
}

void showDevice(const cl::Device& device) {
  constexpr double mib = 1024.0 * 1024.0;
  fmt::print("\n  {} [{}]\n", device.getInfo<CL_DEVICE_NAME>(),
             typeName(device.getInfo<CL_DEVICE_TYPE>()));
  fmt::print("    vendor         {}\n", device.getInfo<CL_DEVICE_VENDOR>());
  fmt::print("    version        {}, driver {}\n", device.getInfo<CL_DEVICE_VERSION>(),
             device.getInfo<CL_DRIVER_VERSION>());
  fmt::print("    compute units  {}, up to {} MHz\n", device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>(),
             device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>());
  fmt::print("    memory         {:.0f} MiB global, {:.0f} KiB local\n",
             device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>() / mib,
             device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>() / 1024.0);
  fmt::print("    work-group     up to {} work-items\n",
             device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  fmt::print("    sub-devices    up to {}\n",
             device.getInfo<CL_DEVICE_PARTITION_MAX_SUB_DEVICES>());
}

void showReport(const cl::Platform& platform) {
  const auto report = reinterpret_cast<clGetPlatformReportWEFT_fn>(
      extensionFunction(platform, CL_WEFT_REPORT_EXTENSION_NAME, "clGetPlatformReportWEFT"));
  if (!report) return;
  size_t size = 0;
  if (report(platform(), 0, nullptr, &size) != CL_SUCCESS || size == 0) return;
  std::string text(size, '\0');
  if (report(platform(), size, text.data(), nullptr) != CL_SUCCESS) return;
  fmt::print("\n{}\n", text.c_str());
}

}  // namespace

int showInfo() {
  const cl::Platform platform = choosePlatform();
  fmt::print("{}, {}\n", platform.getInfo<CL_PLATFORM_NAME>(),
             platform.getInfo<CL_PLATFORM_VERSION>());
  std::vector<cl::Device> devices;
  platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  for (const cl::Device& device : devices) showDevice(device);
  showReport(platform);
  return 0;
}

}  // namespace weft::tools
