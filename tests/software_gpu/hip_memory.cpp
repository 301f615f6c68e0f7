// Allocations, host memory and copies.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/software_gpu/hip.h"

using namespace weft::software;
using weft::hip::Copy3D;
using weft::hip::StreamHandle;

namespace {

constexpr Status invalid = weft::hip::invalid_value;

// Rows of bytes in one slice or several.
struct Place {
  std::byte* address;  // where the runtime itself finds it
  size_t row_pitch = 0, slice_pitch = 0;
  bool pageable = false;
};
struct Extent {
  size_t width = 0, rows = 1, slices = 1;
};

size_t span(const Place& place, const Extent& extent) {
  return (extent.slices - 1) * place.slice_pitch + (extent.rows - 1) * place.row_pitch +
         extent.width;
}

// False when it is neither host memory nor within one allocation of a device.
bool resolve(Place& place, const Extent& extent) {
  const size_t bytes = span(place, extent);
  if (Device* const device = machine().owner(place.address)) {
    if (!device->heap().holds(place.address, bytes)) return false;
    place.address = device->memory().access(place.address);
    return true;
  }
  place.pageable = !machine().pinned(place.address, bytes);
  return place.address != nullptr;
}

void move(const Place& to, const Place& from, const Extent& extent) {
  for (size_t z = 0; z < extent.slices; ++z)
    for (size_t y = 0; y < extent.rows; ++y)
      std::memmove(to.address + z * to.slice_pitch + y * to.row_pitch,
                   from.address + z * from.slice_pitch + y * from.row_pitch, extent.width);
}

void waitForLink(Nanoseconds start, size_t bytes) {
  const double rate = machine().settings.link_bytes_per_ns;
  if (rate <= 0) return;
  const auto end = start + static_cast<Nanoseconds>(static_cast<double>(bytes) / rate);
  const Nanoseconds time = now();
  if (end > time) std::this_thread::sleep_for(std::chrono::nanoseconds(end - time));
}

// As a real runtime does: ordinary host memory is read while the caller waits, and written before
// the call returns.
Status copy(Place to, Place from, const Extent& extent, StreamHandle stream) {
  if (machine().faults.copies.strikes()) return invalid;
  if (extent.width == 0 || extent.rows == 0 || extent.slices == 0) return ok;
  if (!resolve(to, extent) || !resolve(from, extent)) return invalid;
  std::shared_ptr<std::vector<std::byte>> kept;
  if (from.pageable) {
    const auto* const begin = from.address;
    kept = std::make_shared<std::vector<std::byte>>(begin, begin + span(from, extent));
    from.address = kept->data();
  }
  const Status status = enqueue(stream, [=] {
    const Nanoseconds start = now();
    if (of(stream).device().lost()) return;
    move(to, from, extent);
    waitForLink(start, extent.width * extent.rows * extent.slices);
    static_cast<void>(kept);
  });
  if (status == ok && to.pageable) of(stream).drain();
  return status;
}

std::byte* bytesOf(const void* address) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(address));
}

template <class T, class Given>
Status fill(void* address, Given value, size_t count, StreamHandle stream) {
  Place place{bytesOf(address)};
  if (count == 0) return ok;
  if (!resolve(place, {count * sizeof(T)})) return invalid;
  return enqueue(stream, [=] {
    if (of(stream).device().lost()) return;
    for (size_t i = 0; i < count; ++i) {
      const auto element = static_cast<T>(value);
      std::memcpy(place.address + i * sizeof(T), &element, sizeof(T));
    }
  });
}

Status allocate(Heap& heap, void** address, size_t bytes) {
  if (const Status status = state(current()); status != ok) return status;
  if (machine().faults.allocations.strikes()) return weft::hip::out_of_memory;
  *address = heap.allocate(bytes);
  if (!*address) return weft::hip::out_of_memory;
  ++machine().faults.alive;
  return ok;
}

Status release(void* address) {
  if (!address) return ok;
  Device* const device = machine().owner(address);
  const bool managed = machine().managed_block.holds(address);
  if (!device && !managed && !machine().host_block.holds(address)) return invalid;
  Heap& heap = device ? device->heap() : managed ? machine().managed_heap : machine().host_heap;
  if (!heap.release(address)) return invalid;
  --machine().faults.alive;
  return ok;
}

}  // namespace

WEFT_HIP hipMalloc(void** address, size_t bytes) {
  return allocate(current().heap(), address, bytes);
}
WEFT_HIP hipFree(void* address) {
  if (address) machine().faults.waitForMemory();
  return release(address);
}
WEFT_HIP hipMallocAsync(void** address, size_t bytes, StreamHandle stream) {
  return allocate(of(stream).device().heap(), address, bytes);
}
WEFT_HIP hipFreeAsync(void* address, StreamHandle stream) {
  return enqueue(stream, [=] { release(address); });
}
WEFT_HIP hipExtMallocWithFlags(void** address, size_t bytes, unsigned flags) {
  if (flags != weft::hip::malloc_signal_memory) return weft::hip::not_supported;
  return bytes == sizeof(uint64_t) ? allocate(machine().host_heap, address, bytes) : invalid;
}
WEFT_HIP hipHostMalloc(void** address, size_t bytes, unsigned) {
  return allocate(machine().host_heap, address, bytes);
}
WEFT_HIP hipHostFree(void* address) { return release(address); }

WEFT_HIP hipMallocManaged(void** address, size_t bytes, unsigned flags) {
  if (machine().settings.shares != Shares::managed) return weft::hip::not_supported;
  return flags == weft::hip::attach_global ? allocate(machine().managed_heap, address, bytes)
                                           : invalid;
}
// Pages need not move where everybody has the same.
WEFT_HIP hipMemPrefetchAsync(const void* address, size_t bytes, int device, StreamHandle stream) {
  if (!isDevice(device) && device != weft::hip::host_ordinal) return invalid_device;
  if (!machine().managed_block.holds(address) || !machine().managed_heap.holds(address, bytes))
    return invalid;
  ++machine().faults.prefetches;
  return enqueue(stream, [] {});
}

WEFT_HIP hipHostRegister(void* address, size_t bytes, unsigned) {
  if (!address || bytes == 0) return invalid;
  if (!machine().registerHost(address, bytes)) return already_registered;
  ++machine().faults.alive;
  return ok;
}
WEFT_HIP hipHostUnregister(void* address) {
  if (!machine().unregisterHost(address)) return not_registered;
  --machine().faults.alive;
  return ok;
}
WEFT_HIP hipHostGetDevicePointer(void** device, void* host, unsigned) {
  if (!machine().host_block.holds(host) && !machine().isShared(host))
    return machine().pinned(host, 1) ? weft::hip::not_supported : invalid;
  *device = host;
  return ok;
}

WEFT_HIP hipMemcpyAsync(void* to, const void* from, size_t bytes, int, StreamHandle stream) {
  return copy({bytesOf(to)}, {bytesOf(from)}, {bytes}, stream);
}
WEFT_HIP hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                          size_t width, size_t height, int, StreamHandle stream) {
  if (to_pitch < width || from_pitch < width) return invalid;
  return copy({bytesOf(to), to_pitch}, {bytesOf(from), from_pitch}, {width, height}, stream);
}
WEFT_HIP hipMemcpy3DAsync(const Copy3D* given, StreamHandle stream) {
  const auto place = [](const weft::hip::PitchedPointer& p, const size_t* position) {
    const size_t slice = p.pitch * p.height;
    return Place{bytesOf(p.pointer) + position[0] + position[1] * p.pitch + position[2] * slice,
                 p.pitch, slice};
  };
  if (given->source_array || given->destination_array) return weft::hip::not_supported;
  return copy(place(given->destination, given->destination_position),
              place(given->source, given->source_position),
              {given->extent[0], given->extent[1], given->extent[2]}, stream);
}
WEFT_HIP hipMemsetD8Async(void* address, unsigned char value, size_t count, StreamHandle stream) {
  return fill<unsigned char>(address, value, count, stream);
}
WEFT_HIP hipMemsetD16Async(void* address, unsigned short value, size_t count, StreamHandle stream) {
  return fill<unsigned short>(address, value, count, stream);
}
WEFT_HIP hipMemsetD32Async(void* address, int value, size_t count, StreamHandle stream) {
  return fill<int>(address, value, count, stream);
}
