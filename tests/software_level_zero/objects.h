// What a handle of the software Level Zero driver points at.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include "core/image.h"
#include "core/ports/launch.h"
#include "tests/software_gpu/device.h"
#include "tests/software_gpu/stream.h"

namespace weft::software {

inline constexpr ze_result_t ok = ZE_RESULT_SUCCESS;

inline constexpr uint32_t queue_groups = 2;
inline constexpr size_t most_pattern_bytes = 16;
// ZE_COMMAND_QUEUE_FLAG_IN_ORDER, which came with version 1.7.
inline constexpr ze_command_queue_flags_t in_order_list = 1u << 1;

// The devices' clock: slower than the host's, and a short while after the driver was opened its
// counter has no more bits and begins anew.
inline constexpr uint32_t timestamp_bits = 32;
inline constexpr uint64_t nanoseconds_per_tick = 40;
inline constexpr uint64_t ticks_per_second = 1'000'000'000 / nanoseconds_per_tick;
// So many nanoseconds from now, which may be negative.
uint64_t ticks(int64_t ahead = 0);

struct ZeEvent {
  void signal();
  void reset();
  bool isSet();
  // False when it is not set within so many nanoseconds, or when `device` is lost.
  bool await(uint64_t timeout, const Device* device);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

struct ZeEventPool {
  std::vector<Device*> devices;  // that see it; none: all of them
  uint32_t count;
};
struct ZeEventOfPool {
  const std::vector<Device*> devices;
  std::shared_ptr<ZeEvent> event;
  std::atomic<Device*> signaller{nullptr};  // who is to signal it, as far as is known

  bool isVisibleTo(Device& device) const {
    return devices.empty() || std::ranges::find(devices, &device) != devices.end();
  }
};

// An immediate one: it begins at once with what is appended. "Commands may be reordered between
// barriers": one that keeps no order deals them out to two streams, which meet at barriers.
struct ZeList {
  ZeList(Device& its, uint32_t group, bool in_order)
      : device(its), runs_kernels(group == 0), streams(in_order ? 1 : 2) {
    for (auto& stream : streams) stream = std::make_unique<Stream>(its);
  }
  Device& device;
  const bool runs_kernels;
  std::vector<std::unique_ptr<Stream>> streams;
  size_t turn = 0;
};

struct ZeModule {
  Device& device;
  uint64_t handle;             // the processor's
  std::optional<Image> image;  // of SPIR-V: what the compiler made of it
  port::Bytes native;          // written, with its code
};

// Pixels in memory of the driver's own, in an order of its own: rows from the last to the first,
// with gaps between them and between slices.
struct ZeImage {
  Device& device;
  void* address;  // of the allocation
  port::ImageDescriptor descriptor;
};

struct ZeSampler {
  Device& device;
  uint32_t encoding;
};

struct ZeKernel {
  struct Argument {
    bool local = false;
    ArgumentKind kind = ArgumentKind::value;  // an image or a sampler, where it is one
    std::vector<std::byte> value;
    size_t local_bytes = 0;
  };

  Device& device;
  std::string name;
  uint64_t function;
  KernelLayout layout;
  std::vector<Argument> arguments;
  std::array<uint32_t, 3> block{0, 0, 0};
};

template <class T, class Handle>
T& of(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}
template <class Handle, class T>
ze_result_t hand(Handle* handle, T* object) {
  ++machine().faults.alive;
  *handle = reinterpret_cast<Handle>(object);
  return ok;
}
template <class T, class Handle>
ze_result_t destroy(Handle handle) {
  delete reinterpret_cast<T*>(handle);
  --machine().faults.alive;
  return ok;
}

// A device, or one of its tiles: their processor and their memory are the device's.
struct ZeDevice {
  static constexpr int whole = -1;

  Device& device;
  int tile = whole;
};
inline constexpr uint32_t tiles_each = 2;
// Of the machine's device with this number.
ze_device_handle_t handleOf(int ordinal, int tile = ZeDevice::whole);
inline Device& deviceOf(ze_device_handle_t handle) { return of<ZeDevice>(handle).device; }
inline ze_result_t state(const Device& device) {
  return device.lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ok;
}

// Where the driver itself finds what lies at `address`; nullptr when all of it is in no one
// allocation of a device's, and in none of the driver's on the host.
std::byte* resolve(const void* address, size_t bytes);

// Appends `work` behind the events it waits for, and signals behind it. It is called with the
// stream that it is done on, on that one's thread.
ze_result_t append(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                   ze_event_handle_t* waits, std::function<void(Stream&)> work);

}  // namespace weft::software
