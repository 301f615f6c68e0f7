#include "core/svm.h"

#include <algorithm>

#include "core/reaper.h"

namespace weft {

cl_device_unified_shared_memory_capabilities_intel usmCapabilities(const Device& device) {
  constexpr uint32_t needed = port::shares_all_memory | port::shares_atomics;
  if ((device.capabilities().shared_memory & needed) != needed) return 0;
  return CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
         CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL |
         CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
}

void requireUsm(const Context& context) {
  const auto& devices = context.devices();
  require(std::any_of(devices.begin(), devices.end(),
                      [](const Ref<Device>& device) { return usmCapabilities(*device) != 0; }),
          CL_INVALID_OPERATION, "no device of the context has unified shared memory");
}

SvmAllocation::SvmAllocation(Context& context, size_t bytes, UsmTraits traits)
    : storage_(context, bytes, nullptr, false, true),
      begin_(storage_.in(port::host_space).host()),
      traits_(std::move(traits)) {
  for (const Ref<Device>& device : context.allDevices())
    if (device->capabilities().shared_memory != port::shares_nothing)
      storage_.in(device->capabilities().memory_space);
}

// Giving memory back may call a driver.
void SvmAllocation::dispose() noexcept {
  reap(this, [](Object* object) { delete static_cast<SvmAllocation*>(object); });
}

std::byte* SvmTable::allocate(size_t bytes, UsmTraits traits) {
  auto made = make<SvmAllocation>(context_, bytes, std::move(traits));
  std::byte* const begin = made->begin();
  allocations_.with([&](auto& map) { map.emplace(begin, std::move(made)); });
  return begin;
}

bool SvmTable::free(const void* begin, Sort sort) {
  const Ref<SvmAllocation> freed = allocations_.with([&](auto& map) -> Ref<SvmAllocation> {
    const auto found = map.find(static_cast<const std::byte*>(begin));
    if (found == map.end()) return nullptr;
    if (found->second->traits().isUsm() != (sort == Sort::usm)) return nullptr;
    Ref<SvmAllocation> taken = std::move(found->second);
    map.erase(found);
    return taken;
  });
  if (!freed) return false;
  freed->context_ = Ref<Context>(&context_);
  return true;
}

Ref<SvmAllocation> SvmTable::find(const void* pointer) const {
  if (!pointer) return nullptr;
  return allocations_.with([&](auto& map) -> Ref<SvmAllocation> {
    auto next = map.upper_bound(static_cast<const std::byte*>(pointer));
    if (next == map.begin()) return nullptr;
    const Ref<SvmAllocation>& candidate = std::prev(next)->second;
    return candidate->offsetOf(pointer) < candidate->size() ? candidate : nullptr;
  });
}

}  // namespace weft
