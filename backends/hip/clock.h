// Times of events as times of the host's clock.
//
// The runtime gives the milliseconds between two events as a float: fine over a second, 1 us after
// 16 s, 62 us after 10 minutes. So events are measured from a base, an event recorded at a known
// time of the host, which is replaced about every second. Two bases also tell how much faster one
// clock runs than the other: 12 us in a second were seen.
#pragma once

#include <memory>

#include "backends/hip/api.h"
#include "core/guarded.h"
#include "core/ports/device.h"

namespace weft::hip {

port::Nanoseconds hostNow() noexcept;

// One event and the time of the host at which the device recorded it.
struct TimeBase {
  TimeBase(const Api& api, int device) : api(api), device(device) {}
  TimeBase(const TimeBase&) = delete;
  TimeBase& operator=(const TimeBase&) = delete;
  ~TimeBase();

  const Api& api;
  int device;
  EventHandle event = nullptr;
  port::Nanoseconds host = 0;
  port::Nanoseconds uncertainty = 0;  // the truth lies within host +- uncertainty
  double rate = 1;                    // nanoseconds of the host in one of the device
};

// Thread-safe.
class EventClock {
 public:
  EventClock(const Api& api, int device) : api_(api), device_(device) {}
  EventClock(const EventClock&) = delete;
  EventClock& operator=(const EventClock&) = delete;
  ~EventClock();

  // A base of about the last second, or the last one that could be had; nullptr before any could.
  // With the device current.
  std::shared_ptr<const TimeBase> base(port::Nanoseconds now);
  // When the device recorded `event`, which has completed; 0 when it cannot be told.
  port::Nanoseconds time(const TimeBase& base, EventHandle event) const;

 private:
  struct State {
    std::shared_ptr<const TimeBase> base;
    port::Nanoseconds tried = 0;
    bool busy = false;
  };
  std::shared_ptr<TimeBase> record(port::Nanoseconds limit);
  void compare(const TimeBase& older, TimeBase& newer) const;
  // False when the device did not get to it in time.
  bool recordOnce(TimeBase& base, port::Nanoseconds limit);

  const Api& api_;
  int device_;
  StreamHandle stream_ = nullptr;  // whoever holds State::busy
  Guarded<State> state_;
};

}  // namespace weft::hip
