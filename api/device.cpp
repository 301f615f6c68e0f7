// Specification 4.2 and 4.3: devices, their timers, sub-devices.
#include <CL/cl_ext.h>

#include <algorithm>

#include "api/checks.h"
#include "api/device_list.h"
#include "api/entry.h"
#include "api/tables.h"
#include "partition/sub_devices.h"

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

// The compute units of each sub-device that `properties` asks for.
std::vector<uint32_t> partitionCounts(const Device& device,
                                      const cl_device_partition_property* properties) {
  require(properties && properties[0] != 0, CL_INVALID_VALUE, "no partition scheme");
  const partition::Divisible whole{device.capabilities().compute_units,
                                   device.capabilities().max_sub_devices};
  switch (properties[0]) {
    case CL_DEVICE_PARTITION_EQUALLY:
      require(properties[1] > 0 && properties[2] == 0, CL_INVALID_VALUE);
      return partition::equally(whole, static_cast<uint64_t>(properties[1]));
    case CL_DEVICE_PARTITION_BY_COUNTS: {
      // CL_DEVICE_PARTITION_BY_COUNTS_LIST_END is 0, and so is the end of the properties. A
      // negative count is a huge one here, and refused as too many.
      std::vector<uint64_t> counts;
      for (const auto* count = properties + 1; *count != 0; ++count)
        counts.push_back(static_cast<uint64_t>(*count));
      return partition::byCounts(whole, counts);
    }
    default:
      // "CL_INVALID_VALUE [...] if values specified in properties are valid but not supported by
      // the device": affinity domains.
      throw Error(CL_INVALID_VALUE, "partition scheme not supported");
  }
}

std::vector<cl_device_partition_property> copyProperties(
    const cl_device_partition_property* properties) {
  std::vector<cl_device_partition_property> copy;
  do copy.push_back(*properties);
  while (*properties++ != 0);
  // A list of counts has two ends: its own and the properties'.
  if (copy[0] == CL_DEVICE_PARTITION_BY_COUNTS) copy.push_back(0);
  return copy;
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

cl_int CL_API_CALL clCreateSubDevices(cl_device_id in_device,
                                      const cl_device_partition_property* properties,
                                      cl_uint num_devices, cl_device_id* out_devices,
                                      cl_uint* num_devices_ret) {
  return call([&] {
    Device& parent = toDevice(in_device);
    const auto counts = partitionCounts(parent, properties);
    require(!out_devices || num_devices >= counts.size(), CL_INVALID_VALUE, "list too short");
    if (num_devices_ret) *num_devices_ret = static_cast<cl_uint>(counts.size());
    if (!out_devices) return;
    std::vector<Ref<Device>> made;
    for (auto& port : parent.port().partition(counts))
      made.push_back(
          make<Device>(Ref<Device>(&parent), std::move(port), copyProperties(properties)));
    std::transform(made.begin(), made.end(), out_devices,
                   [](Ref<Device>& device) { return give(std::move(device)); });
  });
}

// "If the device is a root level device, [...] the reference count is not changed."
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  return call([&] {
    Device& target = toDevice(device);
    if (!target.isRoot()) target.retainHandle();
  });
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
  return call([&] {
    Device& target = toDevice(device);
    if (!target.isRoot()) target.releaseHandle();
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

// cl_ext_device_fission, which is not supported; its table entries exist.
cl_int CL_API_CALL clCreateSubDevicesEXT(cl_device_id in_device,
                                         const cl_device_partition_property_ext*, cl_uint,
                                         cl_device_id*, cl_uint*) {
  return call([&] {
    toDevice(in_device);
    throw Error(CL_INVALID_VALUE, "cl_ext_device_fission is not supported");
  });
}

cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device) { return clRetainDevice(device); }

cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device) { return clReleaseDevice(device); }
