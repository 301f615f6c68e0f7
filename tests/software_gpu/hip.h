// What the entry points share: HIP's types and numbers, and handles as objects.
#pragma once

#include <cstring>
#include <memory>

#include "backends/hip/api.h"
#include "tests/software_gpu/device.h"
#include "tests/software_gpu/stream.h"

#define WEFT_HIP extern "C" [[gnu::visibility("default")]] weft::hip::Status

namespace weft::software {

using hip::Status;

inline constexpr Status ok = hip::success;
inline constexpr Status invalid_configuration = 9, invalid_device = 101, invalid_image = 200,
                        invalid_handle = 400, not_found = 500, illegal_address = 700,
                        already_registered = 712, not_registered = 713;

using EventRef = std::shared_ptr<Event>;

inline Stream& of(hip::StreamHandle handle) { return *reinterpret_cast<Stream*>(handle); }
inline EventRef& of(hip::EventHandle handle) { return *reinterpret_cast<EventRef*>(handle); }

inline Status state(const Device& device) { return device.lost() ? illegal_address : ok; }
inline bool isDevice(int device) {
  return device >= 0 && static_cast<size_t>(device) < machine().devices.size();
}

template <class Handle, class T>
Status hand(Handle* handle, T* object) {
  ++machine().faults.alive;
  *handle = reinterpret_cast<Handle>(object);
  return ok;
}

inline Status enqueue(hip::StreamHandle stream, std::function<void()> work) {
  if (!stream) return invalid_handle;
  if (of(stream).device().lost()) return illegal_address;
  of(stream).push(std::move(work));
  return ok;
}

}  // namespace weft::software
