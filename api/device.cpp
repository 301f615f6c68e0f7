// Specification 4.2: devices and their timers.
#include <algorithm>

#include "api/checks.h"
#include "api/device_list.h"
#include "api/entry.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr cl_device_type known_types = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
                                       CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                       CL_DEVICE_TYPE_CUSTOM;

cl_device_type typeOf(const Device& device) {
  constexpr cl_device_type types[] = {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
                                      CL_DEVICE_TYPE_ACCELERATOR};
  return types[static_cast<size_t>(device.capabilities().device_class)];
}

}  // namespace

std::vector<Ref<Device>> devicesOfType(const Platform& platform, cl_device_type type) {
  require(type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~known_types) == 0),
          CL_INVALID_DEVICE_TYPE);
  std::vector<Ref<Device>> found;
  for (const Ref<Device>& device : platform.devices()) {
    const bool is_default = device == platform.devices().front();
    if ((type & typeOf(*device)) || (is_default && (type & CL_DEVICE_TYPE_DEFAULT)))
      found.push_back(device);
  }
  require(!found.empty(), CL_DEVICE_NOT_FOUND);
  return found;
}

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type,
                                  cl_uint num_entries, cl_device_id* devices,
                                  cl_uint* num_devices) {
  return call([&] {
    const Platform& owner = toPlatform(platform);
    require(!devices || num_entries > 0, CL_INVALID_VALUE, "num_entries is zero");
    require(devices || num_devices, CL_INVALID_VALUE, "nothing to return");
    const auto found = devicesOfType(owner, device_type);
    for (size_t i = 0; devices && i < std::min<size_t>(num_entries, found.size()); ++i)
      devices[i] = found[i]->handle();
    if (num_devices) *num_devices = static_cast<cl_uint>(found.size());
  });
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param_name,
                                   size_t param_value_size, void* param_value,
                                   size_t* param_value_size_ret) {
  return call([&] {
    query(device_info, toDevice(device), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* device_timestamp,
                                           cl_ulong* host_timestamp) {
  return call([&] {
    const Device& source = toDevice(device);
    require(device_timestamp && host_timestamp, CL_INVALID_VALUE);
    const port::ClockPair clocks = source.port().clocks();
    *device_timestamp = clocks.device;
    *host_timestamp = clocks.host;
  });
}

cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong* host_timestamp) {
  return call([&] {
    const Device& source = toDevice(device);
    require(host_timestamp != nullptr, CL_INVALID_VALUE);
    *host_timestamp = source.port().clocks().host;
  });
}
