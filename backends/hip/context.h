// What everything made from one device shares.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "backends/hip/clock.h"
#include "backends/hip/errors.h"
#include "backends/hip/memory_cache.h"
#include "backends/hip/peer_copies.h"
#include "backends/hip/print_buffers.h"
#include "backends/hip/runtime.h"
#include "core/pool.h"

namespace weft::hip {

// Events are made once and recorded again and again.
class EventPool {
 public:
  EventPool(const Api& api, int device, unsigned flags)
      : api_(api), device_(device), flags_(flags) {}
  ~EventPool() {
    const Current current(api_, device_);
    for (EventHandle event : *free_.lock()) api_.eventDestroy(event);
  }
  // nullptr when the runtime has none, and `status` says why. With the device current.
  EventHandle take(Status& status) noexcept {
    status = success;
    {
      auto free = free_.lock();
      if (!free->empty()) {
        const EventHandle event = free->back();
        free->pop_back();
        return event;
      }
    }
    EventHandle event = nullptr;
    status = api_.eventCreateWithFlags(&event, flags_);
    return status == success ? event : nullptr;
  }
  void give(EventHandle event) noexcept {
    if (event) free_.lock()->push_back(event);
  }

 private:
  const Api& api_;
  int device_;
  unsigned flags_;
  Guarded<std::vector<EventHandle>> free_;
};

struct DeviceContext {
  DeviceContext(std::shared_ptr<Runtime> shared, int ordinal)
      : runtime(std::move(shared)), device(ordinal) {}

  // Passes a status on; one that says that the device is lost is remembered.
  Status note(Status status) noexcept {
    if (losesDevice(status)) lost.store(true, std::memory_order_relaxed);
    return status;
  }
  // `status`, or that the device is lost.
  Status usable(Status status) const noexcept {
    return lost.load(std::memory_order_relaxed) ? device_lost : status;
  }

  const std::shared_ptr<Runtime> runtime;
  const Api& api = runtime->api;
  const int device;
  // After a kernel's fault the runtime refuses every call for the device, as long as the process
  // lives.
  std::atomic<bool> lost{false};
  // When the last operation was submitted to one of its streams.
  alignas(pool::line_bytes) std::atomic<port::Nanoseconds> last_submission{0};
  alignas(pool::line_bytes) std::array<uint64_t, 3> max_grid{1, 1, 1};
  uint64_t max_shared_bytes = 0;
  size_t texture_pitch_alignment = 0;  // bytes; 0: kernels read no textures
  MemoryCache memory{api, device};
  EventClock clock{api, device};
  // A thread can sleep on those named so. They interrupt a processor of the host, which takes up to
  // 30 us of it; the others cost the submitter a tenth of a launch.
  EventPool timed_events{api, device, 0};
  EventPool timed_sleep_events{api, device, event_blocking_sync};
  EventPool sleep_events{api, device, event_blocking_sync | event_disable_timing};
  EventPool fence_events{api, device, event_disable_timing};
  PrintBuffers print_buffers{api, device};
  PeerCopies peer_copies{api, device};
};

}  // namespace weft::hip
