#include "scheduler/device_memory.h"

#include <algorithm>

#include "scheduler/residency.h"

namespace weft {

void DeviceMemory::add(Residency& residency) {
  if (residents_.insert(&residency).second) used_ += residency.storage().size();
}

void DeviceMemory::remove(Residency& residency) noexcept {
  if (residents_.erase(&residency) > 0) used_ -= residency.storage().size();
}

bool DeviceMemory::has(const Residency& residency) const {
  return residents_.contains(const_cast<Residency*>(&residency));
}

uint64_t DeviceMemory::shortage(uint64_t more) const {
  return used_ + more > limit_ ? used_ + more - limit_ : 0;
}

std::vector<Residency*> DeviceMemory::leastRecentlyUsedFirst() const {
  std::vector<Residency*> list(residents_.begin(), residents_.end());
  std::sort(list.begin(), list.end(),
            [](const Residency* a, const Residency* b) { return a->lastUse() < b->lastUse(); });
  return list;
}

}  // namespace weft
