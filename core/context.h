// cl_context. Specification 4.4.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "core/platform.h"

namespace weft {

// What the scheduler keeps per context; core only carries it.
class ContextState {
 public:
  virtual ~ContextState() = default;
};

class DefaultQueues;
class SvmTable;

// Thread-safe. Keeps its devices alive.
class Context final : public HandleObject<_cl_context> {
 public:
  using Notify = void(CL_CALLBACK*)(const char* message, const void* data, size_t size, void* user);
  using DestructorCallback = void(CL_CALLBACK*)(cl_context context, void* user);

  Context(Platform& platform, std::vector<Ref<Device>> devices,
          std::vector<cl_context_properties> properties, Notify notify, void* notify_user);

  Platform& platform() const { return platform_; }
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  // Those, and the members of those that are unified devices.
  const std::vector<Ref<Device>>& allDevices() const { return all_devices_; }
  // As passed by the application, with the terminating 0; empty when NULL was passed.
  const std::vector<cl_context_properties>& properties() const { return properties_; }

  // True for a device of this context. A sub-device belongs only when it was named itself.
  bool has(const Device& device) const;
  // Throws `code` unless `device` belongs to this context.
  void requireDevice(const Device& device, cl_int code = CL_INVALID_DEVICE) const;

  // True when all devices and the host share one memory space: nothing ever migrates.
  bool singleSpace() const { return single_space_; }

  // What at least one device of the context has (port::SharedMemory), and the allocations.
  uint32_t sharedMemory() const { return shared_memory_; }
  // Does every device use the allocations in place?
  bool allShareMemory() const { return all_share_memory_; }
  SvmTable& svm() const { return *svm_; }

  // Of its devices, for kernels.
  DefaultQueues& defaultQueues() const { return *default_queues_; }

  // Tells the application through its notify callback, if it gave one and still has the context.
  void report(const std::string& message) const;
  bool listens() const { return notify_ && !released_.load(std::memory_order_acquire); }

  // Called in reverse order of registration when the context is destroyed (specification 4.4,
  // clSetContextDestructorCallback).
  void addDestructorCallback(DestructorCallback callback, void* user);

  // Set once, right after construction, before the handle is given out.
  void setState(std::unique_ptr<ContextState> state) { state_ = std::move(state); }
  ContextState& state() const { return *state_; }

 private:
  struct Destructor {
    DestructorCallback callback;
    void* user;
  };

  ~Context() override;
  // What the callback would be given may be gone with the application's interest.
  void onLastHandleReleased() noexcept override {
    released_.store(true, std::memory_order_release);
  }
  void dispose() noexcept override;
  void destroy() noexcept;

  Platform& platform_;
  std::vector<Ref<Device>> devices_;
  std::vector<cl_context_properties> properties_;
  Notify notify_;
  void* notify_user_;
  std::atomic<bool> released_{false};
  bool single_space_;
  uint32_t shared_memory_ = port::shares_nothing;
  bool all_share_memory_ = true;
  std::unique_ptr<SvmTable> svm_;
  std::unique_ptr<DefaultQueues> default_queues_;
  Guarded<std::vector<Destructor>> destructors_;
  std::unique_ptr<ContextState> state_;
  std::vector<Ref<Device>> all_devices_;
};

}  // namespace weft
