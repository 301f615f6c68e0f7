// Which of two forms of a kernel's code takes less time: either runs some work-groups, in turns,
// until that is clear.
#pragma once

#include <array>
#include <atomic>

#include "core/guarded.h"
#include "core/ports/device.h"
#include "core/ports/launch.h"

namespace weft::cpu {

// Thread-safe.
class Contest {
 public:
  enum Side : uint8_t { usual, other };
  // How long one of them should run before the next.
  static constexpr double turn_ns = 30'000;
  // Work-groups that take longer are not tried: the other form may take a multiple.
  static constexpr double longest_turn_ns = 20'000'000;

  // A work-item takes the usual form about `usual_ns`; negative: nobody knows.
  Contest(port::CpuKernelEntry usual_form, port::CpuKernelEntry other_form, double usual_ns)
      : entries_{usual_form, other_form}, usual_ns_(usual_ns) {}

  bool isOpen() const noexcept { return open_.load(std::memory_order_acquire); }
  // The winner's; the usual one's while it is open.
  port::CpuKernelEntry best() const noexcept { return entries_[best_.load()]; }

  // Whose turn it is.
  Side next() noexcept {
    return turns_.fetch_add(1, std::memory_order_relaxed) % 2 == 0 ? other : usual;
  }
  port::CpuKernelEntry entry(Side side) const noexcept { return entries_[side]; }
  // That is how long it took for so many work-items.
  void record(Side side, port::Nanoseconds elapsed, uint64_t items) noexcept;

 private:
  struct Turn {
    double ns = 0;
    double items = 0;

    double each() const noexcept { return ns / items; }
  };
  struct Times {
    unsigned count = 0;
    Turn all;      // that count
    Turn longest;  // of them, by work-item: a thread may have been interrupted in it

    void add(const Turn& turn) noexcept;
    // Without the longest turn.
    double each() const noexcept;
  };

  void close(Side best) noexcept {
    best_.store(best);
    open_.store(false, std::memory_order_release);
  }

  const std::array<port::CpuKernelEntry, 2> entries_;
  const double usual_ns_;
  std::atomic<bool> open_{true};
  std::atomic<Side> best_{usual};
  std::atomic<unsigned> turns_{0};
  Guarded<std::array<Times, 2>> times_;
};

}  // namespace weft::cpu
