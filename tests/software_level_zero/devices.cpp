// Drivers, devices and contexts.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tests/software_level_zero/entry_points.h"

namespace weft::software {
namespace {

constexpr uint32_t vendor = 0x8086;
constexpr uint32_t first_bus = 3;
// One driver and one context are enough; their handles only have to be some.
char the_driver, the_context;

template <class Handle, class At>
ze_result_t list(uint32_t available, uint32_t* count, Handle* handles, At&& at) {
  if (!handles || *count == 0) {
    *count = available;
    return ok;
  }
  *count = std::min(*count, available);
  for (uint32_t i = 0; i < *count; ++i) handles[i] = at(i);
  return ok;
}

// `fill` sees each of the structures that there are.
template <class Properties, class Fill>
ze_result_t listOf(uint32_t available, uint32_t* count, Properties* properties, Fill&& fill) {
  if (!properties || *count == 0) {
    *count = available;
    return ok;
  }
  *count = std::min(*count, available);
  for (uint32_t i = 0; i < *count; ++i) fill(properties[i]);
  return ok;
}

}  // namespace

ze_device_handle_t handleOf(int ordinal, int tile) {
  static const auto handles = [] {
    std::vector<ZeDevice> all;
    for (const auto& device : machine().devices)
      for (int i = ZeDevice::whole; i < static_cast<int>(tiles_each); ++i)
        all.push_back({*device, i});
    return all;
  }();
  const auto index =
      static_cast<size_t>(ordinal) * (tiles_each + 1) + static_cast<size_t>(tile + 1);
  return reinterpret_cast<ze_device_handle_t>(const_cast<ZeDevice*>(&handles[index]));
}

namespace entry {

ze_result_t init(ze_init_flags_t) { return ok; }

ze_result_t driverGet(uint32_t* count, ze_driver_handle_t* drivers) {
  return list(1, count, drivers,
              [](uint32_t) { return reinterpret_cast<ze_driver_handle_t>(&the_driver); });
}
ze_result_t driverGetApiVersion(ze_driver_handle_t, ze_api_version_t* version) {
  constexpr auto has_ordered_lists = static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1, 7));
  *version = machine().faults.old ? ZE_API_VERSION_1_3 : has_ordered_lists;
  return ok;
}
ze_result_t driverGetProperties(ze_driver_handle_t, ze_driver_properties_t* properties) {
  properties->driverVersion = 1u << 24;
  return ok;
}
ze_result_t driverGetExtensionProperties(ze_driver_handle_t, uint32_t* count,
                                         ze_driver_extension_properties_t* extensions) {
  constexpr std::array names = {ZE_FLOAT_ATOMICS_EXT_NAME, ZE_PCI_PROPERTIES_EXT_NAME};
  auto name = names.begin();
  return listOf(names.size(), count, extensions, [&](auto& one) {
    std::snprintf(one.name, sizeof one.name, "%s", *name++);
    one.version = ZE_MAKE_VERSION(1, 0);
  });
}

ze_result_t deviceGet(ze_driver_handle_t, uint32_t* count, ze_device_handle_t* devices) {
  const auto& all = machine().devices;
  return list(static_cast<uint32_t>(all.size()), count, devices,
              [](uint32_t i) { return handleOf(static_cast<int>(i)); });
}
ze_result_t deviceGetSubDevices(ze_device_handle_t handle, uint32_t* count,
                                ze_device_handle_t* tiles) {
  const auto& device = of<ZeDevice>(handle);
  if (device.tile != ZeDevice::whole) {
    *count = 0;
    return ok;
  }
  return list(tiles_each, count, tiles,
              [&](uint32_t i) { return handleOf(device.device.ordinal(), static_cast<int>(i)); });
}
ze_result_t deviceGetProperties(ze_device_handle_t handle, ze_device_properties_t* properties) {
  const Device& device = deviceOf(handle);
  const int tile = of<ZeDevice>(handle).tile;
  properties->type = ZE_DEVICE_TYPE_GPU;
  properties->flags = tile == ZeDevice::whole ? 0 : ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
  properties->vendorId = vendor;
  properties->deviceId = static_cast<uint32_t>(device.ordinal());
  properties->coreClockRate = 1000;
  properties->maxMemAllocSize = machine().settings.memory_bytes / 4 * 3;
  properties->numThreadsPerEU = 1;
  properties->physicalEUSimdWidth = 1;
  properties->numEUsPerSubslice = properties->numSubslicesPerSlice = 1;
  properties->numSlices = tile == ZeDevice::whole ? tiles_each : 1;
  properties->timerResolution = properties->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                                    ? ticks_per_second
                                    : nanoseconds_per_tick;
  properties->timestampValidBits = properties->kernelTimestampValidBits = timestamp_bits;
  std::memset(properties->uuid.id, device.ordinal() + 1, sizeof properties->uuid.id);
  properties->uuid.id[0] = static_cast<uint8_t>(tile + 1);
  std::snprintf(properties->name, sizeof properties->name, "Software Level Zero GPU %d",
                device.ordinal());
  return ok;
}
// A bus for each device.
ze_result_t devicePciGetPropertiesExt(ze_device_handle_t handle, ze_pci_ext_properties_t* bus) {
  bus->address = {0, first_bus + static_cast<uint32_t>(deviceOf(handle).ordinal()), 0, 0};
  return ok;
}
ze_result_t deviceGetComputeProperties(ze_device_handle_t,
                                       ze_device_compute_properties_t* properties) {
  properties->maxTotalGroupSize = max_work_group;
  properties->maxGroupSizeX = properties->maxGroupSizeY = properties->maxGroupSizeZ =
      max_work_group;
  // Few, so that launches are cut.
  properties->maxGroupCountX = 4000;
  properties->maxGroupCountY = 100;
  properties->maxGroupCountZ = 5;
  properties->maxSharedLocalMemory = max_local_bytes;
  properties->numSubGroupSizes = 3;
  properties->subGroupSizes[0] = 8;
  properties->subGroupSizes[1] = 16;
  properties->subGroupSizes[2] = 32;
  return ok;
}
ze_result_t deviceGetModuleProperties(ze_device_handle_t,
                                      ze_device_module_properties_t* properties) {
  properties->spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
  properties->flags =
      ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
  properties->fp16flags = properties->fp32flags = properties->fp64flags =
      ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST;
  properties->maxArgumentsSize = 4096;
  // Of global memory only, so that there are both kinds.
  if (auto* const more = static_cast<ze_float_atomic_ext_properties_t*>(properties->pNext);
      more && more->stype == ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES) {
    more->fp16Flags = more->fp64Flags = 0;
    more->fp32Flags =
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD;
  }
  return ok;
}
ze_result_t deviceGetMemoryProperties(ze_device_handle_t, uint32_t* count,
                                      ze_device_memory_properties_t* properties) {
  return listOf(1, count, properties,
                [](auto& one) { one.totalSize = machine().settings.memory_bytes; });
}
ze_result_t deviceGetMemoryAccessProperties(ze_device_handle_t,
                                            ze_device_memory_access_properties_t* properties) {
  properties->deviceAllocCapabilities =
      ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC;
  properties->hostAllocCapabilities =
      properties->deviceAllocCapabilities | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT;
  properties->sharedSingleDeviceAllocCapabilities = properties->sharedCrossDeviceAllocCapabilities =
      properties->sharedSystemAllocCapabilities = 0;
  return ok;
}
ze_result_t deviceGetCacheProperties(ze_device_handle_t, uint32_t* count,
                                     ze_device_cache_properties_t* properties) {
  return listOf(1, count, properties, [](auto& one) { one.cacheSize = 1 << 20; });
}
ze_result_t deviceGetQueueGroups(ze_device_handle_t, uint32_t* count,
                                 ze_command_queue_group_properties_t* properties) {
  // The second only copies.
  ze_command_queue_group_property_flags_t flags =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  return listOf(queue_groups, count, properties, [&](auto& one) {
    one.flags = std::exchange(flags, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    one.maxMemoryFillPatternSize = most_pattern_bytes;
    one.numQueues = 1;
  });
}
// Copies reach all memory; kernels see that of their own device.
ze_result_t deviceGetP2PProperties(ze_device_handle_t, ze_device_handle_t,
                                   ze_device_p2p_properties_t* properties) {
  properties->flags = machine().faults.old ? 0 : ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS;
  return ok;
}
ze_result_t deviceCanAccessPeer(ze_device_handle_t device, ze_device_handle_t peer,
                                ze_bool_t* can) {
  *can = device == peer || !machine().faults.old;
  return ok;
}
ze_result_t deviceGetStatus(ze_device_handle_t device) { return state(deviceOf(device)); }
ze_result_t deviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t* host, uint64_t* device) {
  if (const ze_result_t result = state(deviceOf(handle)); result != ok) return result;
  *host = now();
  *device = ticks(machine().faults.clock_ahead);
  return ok;
}

ze_result_t contextCreate(ze_driver_handle_t, const ze_context_desc_t*,
                          ze_context_handle_t* context) {
  *context = reinterpret_cast<ze_context_handle_t>(&the_context);
  return ok;
}
ze_result_t contextDestroy(ze_context_handle_t) { return ok; }

}  // namespace entry
}  // namespace weft::software
