// Devices: discovery, properties, peers.
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/software_gpu/hip.h"

using namespace weft::software;
using weft::hip::Attribute;

namespace {

constexpr size_t arch_name_offset = 1160, properties_bytes = 1472;  // of hipDeviceProp_tR0600

struct Row {
  Attribute attribute;
  int value;
};
// Grids are small, so that ordinary launches are cut into several.
constexpr Row rows[] = {
    {Attribute::clock_rate, 1000000},
    {Attribute::l2_cache_size, 4 << 20},
    {Attribute::max_block_dim_x, max_work_group},
    {Attribute::max_block_dim_y, max_work_group},
    {Attribute::max_block_dim_z, 64},
    {Attribute::max_grid_dim_x, 4000},
    {Attribute::max_grid_dim_y, 100},
    {Attribute::max_grid_dim_z, 5},
    {Attribute::max_threads_per_block, max_work_group},
    {Attribute::multiprocessor_count, 2},
    {Attribute::max_shared_memory_per_block, max_local_bytes},
    {Attribute::texture_pitch_alignment, texture_pitch_alignment},
    {Attribute::total_constant_memory, 65536},
    {Attribute::warp_size, 32},
};

struct Words {
  Status status;
  const char* text;
};
constexpr Words words[] = {
    {ok, "no error"},
    {weft::hip::invalid_value, "invalid argument"},
    {weft::hip::out_of_memory, "out of memory"},
    {invalid_configuration, "invalid configuration"},
    {invalid_device, "invalid device"},
    {invalid_image, "invalid image"},
    {invalid_handle, "invalid handle"},
    {not_found, "named symbol not found"},
    {weft::hip::not_ready, "not ready"},
    {illegal_address, "a kernel touched memory that is not the device's, or the device is lost"},
    {already_registered, "part of the range is registered already"},
    {not_registered, "the range is not registered"},
    {weft::hip::not_supported, "not supported"},
};

}  // namespace

extern "C" [[gnu::visibility("default")]] Faults* weftSoftwareGpuFaults() {
  return &machine().faults;
}

extern "C" [[gnu::visibility("default")]] const char* hipGetErrorString(Status status) {
  for (const Words& row : words)
    if (row.status == status) return row.text;
  return "unknown error";
}

WEFT_HIP hipInit(unsigned) {
  machine();
  return ok;
}
WEFT_HIP hipDriverGetVersion(int* version) {
  *version = 6'00'00000;
  return ok;
}
WEFT_HIP hipGetDeviceCount(int* count) {
  *count = static_cast<int>(machine().devices.size());
  return ok;
}
WEFT_HIP hipGetDevice(int* device) {
  *device = currentOrdinal();
  return ok;
}
WEFT_HIP hipSetDevice(int device) {
  if (!isDevice(device)) return invalid_device;
  setCurrent(device);
  return ok;
}
WEFT_HIP hipDeviceGetName(char* name, int length, int device) {
  if (!isDevice(device)) return invalid_device;
  std::snprintf(name, static_cast<size_t>(length), "Software GPU %d", device);
  return ok;
}
WEFT_HIP hipDeviceGetUuid(void* uuid, int device) {
  if (!isDevice(device)) return invalid_device;
  std::string text = "software gpu " + std::to_string(device);
  text.resize(16);
  std::memcpy(uuid, text.data(), text.size());
  return ok;
}
WEFT_HIP hipDeviceGetAttribute(int* value, Attribute attribute, int device) {
  if (!isDevice(device)) return invalid_device;
  *value = device;  // the bus that it is on
  if (attribute == Attribute::pci_bus_id) return ok;
  const Shares shares = machine().settings.shares;
  *value = shares == Shares::managed && machine().faults.exclusive_device != device;
  if (attribute == Attribute::concurrent_managed_access) return ok;
  *value = shares != Shares::nothing;
  if (attribute == Attribute::can_use_host_pointer_for_registered_memory) return ok;
  for (const Row& row : rows)
    if (row.attribute == attribute) {
      *value = row.value;
      return ok;
    }
  return weft::hip::invalid_value;
}
WEFT_HIP hipDeviceTotalMem(size_t* bytes, int device) {
  if (!isDevice(device)) return invalid_device;
  *bytes = machine().settings.memory_bytes;
  return ok;
}
WEFT_HIP hipGetDevicePropertiesR0600(void* properties, int device) {
  if (!isDevice(device)) return invalid_device;
  std::memset(properties, 0, properties_bytes);
  std::strcpy(static_cast<char*>(properties) + arch_name_offset, "host");
  return ok;
}
WEFT_HIP hipDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!isDevice(device) || !isDevice(peer)) return invalid_device;
  *can = device != peer;
  return ok;
}
WEFT_HIP hipDeviceEnablePeerAccess(int peer, unsigned) try {
  if (!isDevice(peer) || peer == currentOrdinal()) return invalid_device;
  if (const Status status = state(current()); status != ok) return status;
  return current().enablePeer(*machine().devices[static_cast<size_t>(peer)])
             ? ok
             : weft::hip::out_of_memory;
} catch (const std::exception& error) {
  std::fprintf(stderr, "software GPU: %s\n", error.what());
  return weft::hip::out_of_memory;
}
WEFT_HIP hipMemGetInfo(size_t* free, size_t* total) {
  *free = current().heap().available();
  *total = machine().settings.memory_bytes;
  return state(current());
}
