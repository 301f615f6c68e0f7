// What everything made from one driver and one device shares.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/level_zero/clock.h"
#include "backends/level_zero/pool.h"
#include "backends/level_zero/samplers.h"
#include "core/ports/binary_cache.h"

namespace weft::level_zero {

// Allocations of host memory that a driver made, by where they begin. Thread-safe.
class HostRanges {
 public:
  void add(const void* begin, size_t bytes);
  void remove(const void* begin) noexcept;
  // Is all of it in one of them?
  bool hold(const void* begin, size_t bytes) const noexcept;

 private:
  Guarded<std::map<uintptr_t, size_t>> ranges_;
};

// A driver and its one context. Devices keep it.
struct Driver {
  // `its_version`: ZE_MAKE_VERSION(major, minor). `is_first`: of those that have devices. Throws.
  Driver(const Api& table, ze_driver_handle_t driver, uint32_t its_version, bool is_first,
         std::shared_ptr<const port::BinaryCache> kept);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() { api.contextDestroy(context); }

  const Api& api;
  const ze_driver_handle_t handle;
  const uint32_t version;
  const bool first;
  const bool native_images;                                 // are wished: WEFT_NATIVE_IMAGES
  const std::shared_ptr<const port::BinaryCache> binaries;  // nullptr: nobody keeps them
  ze_context_handle_t context = nullptr;
  HostRanges host_ranges;  // of allocateHost()
};

// Events that the host can look at and all of the driver's devices can wait for, made once and used
// again and again.
class EventPool {
 public:
  explicit EventPool(const Driver& driver) : driver_(driver) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;
  ~EventPool();
  // Not signalled; nullptr when the driver has none.
  ze_event_handle_t take() noexcept;
  void give(ze_event_handle_t event) noexcept;

 private:
  struct Events {
    std::vector<ze_event_pool_handle_t> pools;
    std::vector<ze_event_handle_t> all, free;
  };
  bool grow(Events& events) noexcept;

  const Driver& driver_;
  Guarded<Events> events_;
};

// Queues of one kind.
struct QueueGroup {
  uint32_t ordinal = 0;
  size_t pattern_bytes = 0;  // the longest that a command which fills repeats
};

struct DeviceContext {
  static constexpr size_t small_bytes = size_t(64) << 10;
  // Of the descriptors of one launch's images.
  static constexpr size_t images_bytes = size_t(16) << 10;

  DeviceContext(std::shared_ptr<Driver> shared, ze_device_handle_t handle, ze_device_handle_t owner)
      : driver(std::move(shared)), device(handle), memory_owner(owner) {}

  // Passes a result on; one that says that the device is lost is remembered.
  ze_result_t note(ze_result_t result) noexcept {
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) lost.store(true, std::memory_order_relaxed);
    return result;
  }
  // That the device is lost, or success.
  ze_result_t usable() const noexcept {
    return lost.load(std::memory_order_relaxed) ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
  }
  // Returns when the event is set, or how that failed. Sleeps in between, longer and longer:
  // drivers wait by looking, with the whole of a core.
  ze_result_t await(ze_event_handle_t event) noexcept;
  // One look at it.
  ze_result_t look(ze_event_handle_t event) noexcept;
  // Between looks of a wait that began at `since`: sleeps, and now and then has the driver itself
  // wait for a moment, because some only then notice what became of the device.
  ze_result_t pause(ze_event_handle_t event, port::Nanoseconds since) noexcept;

  // Between tries to have the end told of what may be on the device: sleeps. After some seconds of
  // them the device counts as lost.
  void rest(unsigned& tries) noexcept;

  const std::shared_ptr<Driver> driver;
  const Api& api = driver->api;
  const ze_device_handle_t device;
  const ze_device_handle_t memory_owner;  // the device that `device` is, or is a part of
  std::string maker;                      // of native code: the driver and the device
  std::atomic<bool> lost{false};
  bool adds_on_host = false;  // kernels' atomic operations work on the host's memory
  QueueGroup compute;
  QueueGroup copies;  // that of `compute` where there is no other
  std::array<uint64_t, 3> max_grid{1, 1, 1};
  ze_device_image_properties_t image_limits{};
  uint64_t most_images = 0;  // bytes of the device's own images
  std::atomic<uint64_t> images_used{0};
  DeviceClock clock{api, device};
  EventPool events{*driver};
  Pool times{*driver, nullptr, 2 * sizeof(uint64_t), 4096};
  Pool small{*driver, nullptr, small_bytes, 16 * small_bytes};
  Pool images{*driver, device, images_bytes, 16 * images_bytes};
  SamplerPool samplers{*driver, device};
};

// An event that several wait for: given back by the last of them.
class SharedEvent {
 public:
  SharedEvent(std::shared_ptr<DeviceContext> context, ze_event_handle_t event)
      : context_(std::move(context)), event_(event) {}
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;
  ~SharedEvent() {
    if (!kept_.load(std::memory_order_acquire)) context_->events.give(event_);
  }
  ze_event_handle_t get() const noexcept { return event_; }
  // For good, because a list may still have its wait for the event before it: nobody may reset it.
  void keep() noexcept { kept_.store(true, std::memory_order_release); }
  // In the place of a device that will not do it any more, so that lists of others get past their
  // waits for it.
  void abandon() noexcept {
    keep();
    context_->api.eventHostSignal(event_);
  }

 private:
  const std::shared_ptr<DeviceContext> context_;
  const ze_event_handle_t event_;
  std::atomic<bool> kept_{false};
};

}  // namespace weft::level_zero
