#include "backends/cpu/device_events.h"

#include <algorithm>

namespace weft::cpu {

void DeviceEvent::writeProfiles() noexcept {
  const port::Nanoseconds begun = end == 0 ? completed : start;
  const port::Nanoseconds ended = end == 0 ? completed : end;
  for (uint64_t* profile : profiles) {
    profile[0] = std::max<uint64_t>(1, ended - begun);
    profile[1] = std::max<uint64_t>(profile[0], completed - begun);
  }
  profiles.clear();
}

DeviceEvent* DeviceEvents::make() {
  if (free_.empty()) {
    if (events_.size() >= port::max_device_events) return nullptr;
    // There is room for all of them, so that drop() allocates nothing.
    if (free_.capacity() <= events_.size()) free_.reserve(2 * events_.size() + 16);
    events_.emplace_back();
    free_.push_back(uint32_t(events_.size() - 1));
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  DeviceEvent& event = events_[index];
  const uint32_t generation = event.generation + 1;
  event = DeviceEvent();
  event.generation = generation;
  event.number = uint64_t{generation} << 32 | (index + 1);
  event.handles = 1;
  return &event;
}

DeviceEvent* DeviceEvents::find(uint64_t number) noexcept {
  const uint64_t index = (number & 0xffffffff) - 1;
  if (index >= events_.size()) return nullptr;
  DeviceEvent& event = events_[index];
  return number != 0 && event.number == number && event.handles != 0 ? &event : nullptr;
}

void DeviceEvents::drop(DeviceEvent& event) noexcept {
  const auto index = uint32_t(event.number) - 1;
  event.number = 0;
  free_.push_back(index);
}

}  // namespace weft::cpu
