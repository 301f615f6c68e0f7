#include "scheduler/family_turns.h"

#include <utility>

#include "scheduler/device_family.h"

namespace weft {

void FamilyTurns::List::push(DeviceFamily& family) noexcept {
  DeviceFamily*& place = last ? last->next_in_line_ : first;
  place = last = &family;
}

DeviceFamily* FamilyTurns::List::pop() noexcept {
  DeviceFamily* const family = first;
  if (!family) return nullptr;
  first = std::exchange(family->next_in_line_, nullptr);
  if (!first) last = nullptr;
  return family;
}

bool FamilyTurns::enter(DeviceFamily& family) noexcept {
  const auto line = line_.lock();
  if (line->running < most_running) {
    ++line->running;
    return true;
  }
  line->waiting.push(family);
  return false;
}

DeviceFamily* FamilyTurns::leave() noexcept {
  const auto line = line_.lock();
  line->starving = 0;
  List next = std::exchange(line->starved, {});
  if (DeviceFamily* const family = line->waiting.pop())
    next.push(*family);
  else
    --line->running;
  return next.first;
}

bool FamilyTurns::waitForMemory(DeviceFamily& family) noexcept {
  const auto line = line_.lock();
  if (line->running - line->starving < 2) return false;
  ++line->starving;
  line->starved.push(family);
  return true;
}

}  // namespace weft
