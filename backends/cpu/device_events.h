// The events of device-side enqueue: what kernels know as clk_event_t. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/ports/device.h"

namespace weft::cpu {

struct Child;

// Ends when every command and every scope that it holds has ended: the commands of an event, or
// everything that a kernel of the host's brought about.
struct Scope {
  Scope* outer = nullptr;  // none: it is the outermost
  uint64_t pending = 0;
  port::OperationStatus status = 0;  // the first failure
};

// A command's place among those that wait for an event.
struct Link {
  Child* child = nullptr;
  Link* next = nullptr;
};

struct DeviceEvent : Scope {
  static constexpr int32_t complete = 0, submitted = 2;

  uint64_t number = 0;  // 0: not in use
  uint32_t generation = 0;
  uint32_t handles = 0;  // the program's references
  bool user = false;
  bool refused = false;  // the command never ran, because of what it waited for
  int32_t state = submitted;
  port::Nanoseconds start = 0, end = 0;  // of the command's own run, if it ran
  port::Nanoseconds completed = 0;       // with all that it enqueued
  Link* waiters = nullptr;
  std::vector<uint64_t*> profiles;

  bool done() const { return state <= complete; }
  // Fills what captured its times and forgets it.
  void writeProfiles() noexcept;
};

// Gives events their numbers. A number is never that of an earlier event in the same place.
class DeviceEvents {
 public:
  // With one handle; nullptr when there are port::max_device_events. Throws std::bad_alloc.
  DeviceEvent* make();
  // nullptr when there is none of that number.
  DeviceEvent* find(uint64_t number) noexcept;
  void drop(DeviceEvent& event) noexcept;

  template <class F>
  void forEach(F&& function) {
    for (DeviceEvent& event : events_)
      if (event.number != 0) function(event);
  }

 private:
  std::deque<DeviceEvent> events_;
  std::vector<uint32_t> free_;
};

}  // namespace weft::cpu
