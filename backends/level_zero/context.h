// What everything made from one driver and one device shares.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "backends/level_zero/api.h"
#include "core/guarded.h"

namespace weft::level_zero {

port::Nanoseconds hostNow() noexcept;

// A driver and its one context. Devices keep it.
struct Driver {
  // Throws.
  Driver(const Api& table, ze_driver_handle_t driver);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() { api.contextDestroy(context); }

  const Api& api;
  const ze_driver_handle_t handle;
  ze_context_handle_t context = nullptr;
};

// Events that the host can wait for, made once and used again and again.
class EventPool {
 public:
  EventPool(const Driver& driver, ze_device_handle_t device) : driver_(driver), device_(device) {}
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
  ze_device_handle_t device_;
  Guarded<Events> events_;
};

struct DeviceContext {
  DeviceContext(std::shared_ptr<Driver> shared, ze_device_handle_t handle)
      : driver(std::move(shared)), device(handle) {}

  const std::shared_ptr<Driver> driver;
  const Api& api = driver->api;
  const ze_device_handle_t device;
  uint32_t compute_group = 0;  // the ordinal of the queues that run kernels
  std::array<uint64_t, 3> max_grid{1, 1, 1};
  EventPool events{*driver, device};
};

}  // namespace weft::level_zero
