// A lock for a handful of instructions.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace weft {

// Half of what a mutex costs, since nobody can be asleep who has to be woken by who unlocks it: for
// short sections that each command comes by. Who has it may be kept from running, by many threads
// or by the very one that wants it where that has a higher priority. So who has looked for some
// microseconds lets others run, and who has done so a few times sleeps between its looks.
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
    constexpr std::chrono::microseconds nap{50};
    for (unsigned tries = 0; !isFree() || !try_lock(); ++tries)
      if (tries < most_yields)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(nap);
  }
  // Looks for a while.
  bool isFree() const noexcept {
    constexpr unsigned looks = 100;
    for (unsigned i = 0; i < looks; ++i) {
      if (!taken_.load(std::memory_order_relaxed)) return true;
      __builtin_ia32_pause();
    }
    return false;
  }

  std::atomic<bool> taken_{false};
};

}  // namespace weft
