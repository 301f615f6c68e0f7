// Workers that were called and are still to be woken, by their seats.
//
// To wake a thread takes 1 to 2 us of the one who does it, and the thread is up 20 to 200 us later:
// for 64 of them it is too much for one, and to go by a tree means to wait for several of them in a
// row. So whoever is awake takes the next one off the list, without a lock.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/pool.h"

namespace weft::cpu {

class WakeList {
 public:
  // Never holds more than `seats`.
  explicit WakeList(size_t seats) : slots_(std::bit_ceil(seats)) {}

  // By one thread at a time.
  void push(size_t seat) noexcept {
    const uint32_t end = end_.load(std::memory_order_relaxed);
    slots_[end % slots_.size()].store(uint32_t(seat), std::memory_order_relaxed);
    end_.store(end + 1, std::memory_order_release);
  }
  // Each seat is given to one thread. Thread-safe, also beside push().
  std::optional<size_t> pop() noexcept {
    uint32_t next = next_.load(std::memory_order_acquire);
    while (next != end_.load(std::memory_order_acquire)) {
      // Read first: once the seat is taken, its slot may be used for another one.
      const uint32_t seat = slots_[next % slots_.size()].load(std::memory_order_relaxed);
      if (next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return seat;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::atomic<uint32_t>> slots_;  // a power of two, so that counters may wrap around
  alignas(pool::line_bytes) std::atomic<uint32_t> next_{0};
  alignas(pool::line_bytes) std::atomic<uint32_t> end_{0};
};

}  // namespace weft::cpu
