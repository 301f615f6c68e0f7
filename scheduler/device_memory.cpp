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

std::shared_ptr<void> DeviceMemory::reserve(uint64_t bytes) {
  reserved_->fetch_add(bytes, std::memory_order_relaxed);
  const auto give = [all = reserved_, bytes](void*) {
    all->fetch_sub(bytes, std::memory_order_relaxed);
  };
  return {reserved_.get(), give};
}

uint64_t DeviceMemory::shortage(uint64_t more) const {
  const uint64_t all = used_ + reserved() + more;
  return all > limit_ ? all - limit_ : 0;
}

std::vector<Residency*> DeviceMemory::leastRecentlyUsedFirst() const {
  std::vector<Residency*> list(residents_.begin(), residents_.end());
  std::sort(list.begin(), list.end(),
            [](const Residency* a, const Residency* b) { return a->lastUse() < b->lastUse(); });
  return list;
}

}  // namespace weft
