// A lock for a handful of instructions.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace weft {

// Half of what a mutex costs, since nobody can be asleep who has to be woken by who unlocks it: for
// short sections that each command comes by. Who has it may be kept from running, by many threads
// or by the very one that wants it where that has a higher priority. So who has looked for some
// microseconds lets others run, and who has done so a few times sleeps between its looks.
//
// Where many threads want it at once, they would all take the line of who has it away from it, and
// again all try when it is free: so each looks at times of its own, and less often the longer it
// waits.
class SpinLock {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline]] void wait() noexcept {
    constexpr unsigned most_yields = 10;
    constexpr unsigned most_pauses = 32;
    constexpr std::chrono::microseconds nap{50};
    uint32_t random = 0;
    random = uint32_t(reinterpret_cast<uintptr_t>(&random) >> 12);  // stacks differ
    unsigned bound = 1, yields = 0;
    for (;;) {
      if (isFree(random, bound)) {
        if (try_lock()) return;
      } else if (yields++ < most_yields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(nap);
      }
      bound = std::min(2 * bound, most_pauses);
    }
  }
  // Looks for a while, at intervals of up to `bound` pauses.
  bool isFree(uint32_t& random, unsigned bound) const noexcept {
    constexpr unsigned most = 100;  // pauses
    for (unsigned pauses = 0; pauses < most;) {
      if (!taken_.load(std::memory_order_relaxed)) return true;
      random = random * 1664525 + 1013904223;
      const unsigned interval = 1 + (random >> 16) % bound;
      for (unsigned i = 0; i < interval; ++i) __builtin_ia32_pause();
      pauses += interval;
    }
    return false;
  }

  std::atomic<bool> taken_{false};
};

}  // namespace weft
