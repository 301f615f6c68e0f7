// How many commands a device had, and how long it had any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/guarded.h"
#include "core/pool.h"
#include "core/spin_lock.h"

namespace weft {

// While there are commands that were submitted and have not ended, a device has something to do:
// from the first one's start to the last one's end. So what several do at once counts once, and so
// does what they wait for each other, of which a command that is not timed says that it ran: from
// its submission until the host noticed its end. Thread-safe.
class DeviceWork {
 public:
  // Before it is.
  void submitted() noexcept { submitted_.fetch_add(1, std::memory_order_relaxed); }
  void ended(uint64_t start, uint64_t end) noexcept {
    const auto own = state_.lock();
    ++own->commands;
    own->start = std::min(own->start, start);
    own->end = std::max(own->end, end);
    // Who submits writes that count. When it was greater it still is.
    if (own->commands >= own->seen) own->seen = submitted_.load(std::memory_order_relaxed);
    if (own->commands != own->seen) return;
    own->before_ns += own->latest_ns();
    own->start = none, own->end = 0;
  }

  struct Total {
    uint64_t commands, busy_ns;
  };
  // Of those that have ended.
  Total total() const noexcept {
    const auto own = state_.lock();
    return {own->commands, own->before_ns + own->latest_ns()};
  }

 private:
  static constexpr uint64_t none = ~uint64_t{0};
  struct State {
    uint64_t commands = 0, before_ns = 0;
    uint64_t start = none, end = 0;  // since it last had none
    uint64_t seen = 0;               // of those that were submitted

    uint64_t latest_ns() const { return end > start ? end - start : 0; }
  };

  // In lines of their own: one is the enqueueing thread's, the other that of who ends commands.
  alignas(pool::line_bytes) std::atomic<uint64_t> submitted_{0};
  alignas(pool::line_bytes) Guarded<State, SpinLock> state_;
};

}  // namespace weft
