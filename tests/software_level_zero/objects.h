// What a handle of the software Level Zero driver points at.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include "core/image.h"
#include "tests/software_gpu/device.h"
#include "tests/software_gpu/stream.h"

namespace weft::software {

inline constexpr ze_result_t ok = ZE_RESULT_SUCCESS;

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
  Device* device;
  uint32_t count;
};
struct ZeEventOfPool {
  Device* device;
  std::shared_ptr<ZeEvent> event;
};

// An immediate one: a stream that begins at once with what is appended.
struct ZeList {
  explicit ZeList(Device& device) : stream(device) {}
  Stream stream;
};

struct ZeModule {
  Device& device;
  uint64_t handle;  // the processor's
  Image image;
};

struct ZeKernel {
  ZeModule& module;
  const KernelInfo& info;
  uint64_t function;
  KernelLayout layout;
  std::array<uint32_t, 3> block{0, 0, 0};
  std::vector<std::vector<std::byte>> values;  // by argument; of a local pointer, empty
  std::vector<size_t> local_bytes;
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

inline Device& deviceOf(ze_device_handle_t handle) { return of<Device>(handle); }
inline ze_result_t state(const Device& device) {
  return device.lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ok;
}

// Appends `work` behind the events it waits for, and signals behind it.
ze_result_t append(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                   ze_event_handle_t* waits, std::function<void()> work);

}  // namespace weft::software
