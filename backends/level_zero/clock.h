// Times of the device as times of the host's clock.
//
// The driver reads both clocks together. What it reads is good for about a second: then they have
// drifted apart by microseconds, and the device's counter may have few bits. Two readings also tell
// how much faster one clock runs than the other.
#pragma once

#include "backends/level_zero/api.h"
#include "core/guarded.h"

namespace weft::level_zero {

port::Nanoseconds hostNow() noexcept;

// Both clocks at one time.
struct ClockBase {
  uint64_t device = 0;  // ticks
  port::Nanoseconds host = 0;
  double tick = 0;  // in nanoseconds of the host; 0: nothing is known
};

// Thread-safe.
class DeviceClock {
 public:
  DeviceClock(const Api& api, ze_device_handle_t device) : api_(api), device_(device) {}

  // Of the counter, before anything else is called: ticks in a second, and its bits.
  void describe(uint64_t frequency, uint32_t valid_bits);
  // One of about the last second, or the last that could be had.
  ClockBase base(port::Nanoseconds now) noexcept;
  // When the device read `ticks`, within some minutes of the base; 0 when that cannot be told.
  port::Nanoseconds time(const ClockBase& base, uint64_t ticks) const noexcept;

 private:
  bool read(ClockBase& base) const noexcept;
  int64_t between(uint64_t from, uint64_t to) const noexcept;

  const Api& api_;
  const ze_device_handle_t device_;
  double nominal_ = 0;
  uint32_t valid_bits_ = 64;
  Guarded<ClockBase> base_;
};

}  // namespace weft::level_zero
