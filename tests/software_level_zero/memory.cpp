// Allocations, copies and fills.
#include <cstring>

#include "tests/software_level_zero/entry_points.h"

namespace weft::software {

std::byte* resolve(const void* address, size_t bytes) {
  if (Device* const device = machine().owner(address))
    return device->heap().holds(address, bytes) ? device->memory().access(address) : nullptr;
  if (machine().host_block.holds(address) && !machine().host_heap.holds(address, bytes))
    return nullptr;
  return const_cast<std::byte*>(static_cast<const std::byte*>(address));
}

namespace {

// The allocation that holds the byte.
std::optional<Heap::Range> rangeOf(const void* address) {
  if (Device* const device = machine().owner(address)) return device->heap().rangeOf(address);
  if (!machine().host_block.holds(address)) return std::nullopt;
  return machine().host_heap.rangeOf(address);
}

struct Rows {
  std::byte* address;
  size_t pitch;
};

ze_result_t copyRows(ze_command_list_handle_t list, Rows to, Rows from, size_t width, size_t rows,
                     ze_event_handle_t signal, uint32_t count, ze_event_handle_t* waits) {
  if (machine().faults.copies.strikes()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  to.address = resolve(to.address, (rows - 1) * to.pitch + width);
  from.address = resolve(from.address, (rows - 1) * from.pitch + width);
  if (!to.address || !from.address) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return append(list, signal, count, waits, [=](Stream&) {
    for (size_t y = 0; y < rows; ++y)
      std::memmove(to.address + y * to.pitch, from.address + y * from.pitch, width);
  });
}

std::byte* bytesOf(const void* address) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(address));
}

ze_result_t allocate(Heap& heap, size_t bytes, void** address) {
  if (machine().faults.allocations.strikes()) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  if (bytes == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  *address = heap.allocate(bytes);
  if (!*address) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  ++machine().faults.alive;
  return ok;
}

}  // namespace

namespace entry {

ze_result_t memAllocDevice(ze_context_handle_t, const ze_device_mem_alloc_desc_t*, size_t bytes,
                           size_t, ze_device_handle_t device, void** address) {
  if (const ze_result_t result = state(deviceOf(device)); result != ok) return result;
  return allocate(deviceOf(device).heap(), bytes, address);
}
ze_result_t memAllocHost(ze_context_handle_t, const ze_host_mem_alloc_desc_t*, size_t bytes, size_t,
                         void** address) {
  return allocate(machine().host_heap, bytes, address);
}
ze_result_t memFree(ze_context_handle_t, void* address) {
  Device* const device = machine().owner(address);
  if (!device && !machine().host_block.holds(address)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (device) machine().faults.waitForMemory();
  Heap& heap = device ? device->heap() : machine().host_heap;
  if (!heap.release(address)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  --machine().faults.alive;
  return ok;
}
ze_result_t memGetAllocProperties(ze_context_handle_t, const void* address,
                                  ze_memory_allocation_properties_t* properties,
                                  ze_device_handle_t* device) {
  Device* const owner = machine().owner(address);
  const auto type = owner ? ZE_MEMORY_TYPE_DEVICE : ZE_MEMORY_TYPE_HOST;
  properties->type = rangeOf(address) ? type : ZE_MEMORY_TYPE_UNKNOWN;
  if (device) *device = owner ? handleOf(owner->ordinal()) : nullptr;
  return ok;
}
ze_result_t memGetAddressRange(ze_context_handle_t, const void* address, void** base,
                               size_t* bytes) {
  const auto range = rangeOf(address);
  if (!range) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (base) *base = range->begin;
  if (bytes) *bytes = range->bytes;
  return ok;
}

ze_result_t appendMemoryCopy(ze_command_list_handle_t list, void* to, const void* from,
                             size_t bytes, ze_event_handle_t signal, uint32_t count,
                             ze_event_handle_t* waits) {
  return copyRows(list, {bytesOf(to), 0}, {bytesOf(from), 0}, bytes, 1, signal, count, waits);
}
ze_result_t appendMemoryCopyRegion(ze_command_list_handle_t list, void* to,
                                   const ze_copy_region_t* to_region, uint32_t to_pitch, uint32_t,
                                   const void* from, const ze_copy_region_t* from_region,
                                   uint32_t from_pitch, uint32_t, ze_event_handle_t signal,
                                   uint32_t count, ze_event_handle_t* waits) {
  if (to_region->depth > 1 || from_region->width != to_region->width ||
      from_region->height != to_region->height)
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  std::byte* const begin = bytesOf(to) + size_t{to_region->originY} * to_pitch + to_region->originX;
  std::byte* const source =
      bytesOf(from) + size_t{from_region->originY} * from_pitch + from_region->originX;
  return copyRows(list, {begin, to_pitch}, {source, from_pitch}, to_region->width,
                  to_region->height, signal, count, waits);
}
ze_result_t appendMemoryFill(ze_command_list_handle_t list, void* to, const void* pattern,
                             size_t pattern_bytes, size_t bytes, ze_event_handle_t signal,
                             uint32_t count, ze_event_handle_t* waits) {
  if (pattern_bytes == 0 || pattern_bytes > most_pattern_bytes || bytes % pattern_bytes != 0)
    return ZE_RESULT_ERROR_INVALID_SIZE;
  std::byte* const begin = resolve(to, bytes);
  if (!begin) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const std::byte* const first = bytesOf(pattern);
  return append(list, signal, count, waits,
                [=, kept = std::vector<std::byte>(first, first + pattern_bytes)](Stream&) {
                  for (size_t i = 0; i < bytes; i += kept.size())
                    std::memcpy(begin + i, kept.data(), kept.size());
                });
}

}  // namespace entry
}  // namespace weft::software
