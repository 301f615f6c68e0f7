// cl_command_queue with CL_QUEUE_ON_DEVICE: a queue that kernels enqueue to. Specification 5.1.
#pragma once

#include <utility>
#include <vector>

#include "core/context.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "core/ports/device_queue.h"
#include "core/weak.h"

namespace weft {

inline constexpr cl_uint preferred_device_queue_bytes = 32 << 20,
                         max_device_queue_bytes = 256 << 20;
// A kernel takes so many queues as arguments, where it takes as many arguments.
inline constexpr cl_uint max_device_queues = 256;

// Immutable, so free to use from any thread. The application's handle looks like a host queue's but
// has another kind.
class DeviceQueue final : public HandleObject<_cl_command_queue> {
 public:
  // `list` is the property list as passed, 0-terminated, or empty (CL_QUEUE_PROPERTIES_ARRAY).
  DeviceQueue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
              cl_uint bytes, std::vector<cl_queue_properties> list);

  // Null unless it is a device queue's handle.
  static DeviceQueue* find(cl_command_queue handle) noexcept;

  Context& context() const { return *context_; }
  Device& device() const { return *device_; }
  cl_command_queue_properties properties() const { return properties_; }
  cl_uint bytes() const { return bytes_; }
  const std::vector<cl_queue_properties>& propertyList() const { return property_list_; }
  // What kernels know of it.
  port::DeviceQueue& port() noexcept { return port_; }
  const Weak<DeviceQueue>& weak() const { return weak_.handle(); }

 private:
  ~DeviceQueue() override = default;
  void onLastHandleReleased() noexcept override;
  void dispose() noexcept override;

  Ref<Context> context_;
  Ref<Device> device_;
  cl_command_queue_properties properties_;
  cl_uint bytes_;
  std::vector<cl_queue_properties> property_list_;
  port::DeviceQueue port_;
  WeakSource<DeviceQueue> weak_{*this};
};

// A context's default device queues, one for each device. Thread-safe.
class DefaultQueues {
 public:
  // Null when the device has none.
  Ref<DeviceQueue> of(const Device& device) const;
  // The device's default queue from now on, for as long as the application has it.
  void set(DeviceQueue& queue);
  // `queue`, or the one that there is already.
  Ref<DeviceQueue> setFirst(const Ref<DeviceQueue>& queue);
  void forget(const DeviceQueue& queue) noexcept;

 private:
  using Entry = std::pair<const Device*, DeviceQueue*>;
  Guarded<std::vector<Entry>> entries_;
};

}  // namespace weft
