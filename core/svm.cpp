#include "core/svm.h"

#include <algorithm>

#include "core/reaper.h"

namespace weft {

bool hasUsm(const Device& device) {
  constexpr uint32_t needed = port::shares_coarse_buffers | port::shares_fine_buffers;
  return (device.capabilities().shared_memory & needed) == needed;
}

cl_device_unified_shared_memory_capabilities_intel usmCapabilities(const Device& device,
                                                                   cl_device_info sort) {
  constexpr cl_bitfield concurrent =
      CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
  constexpr cl_bitfield atomic = CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
                                 CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
  constexpr uint32_t everything = port::shares_all_memory | port::shares_atomics;
  if (!hasUsm(device)) return 0;
  if ((device.capabilities().shared_memory & everything) == everything) return concurrent | atomic;
  if (sort == CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL) return 0;
  if (sort == CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL && hidesUsm(device))
    return CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
  return concurrent;
}

// The members of a unified device have nothing in common but the host's memory.
bool hidesUsm(const Device& device) {
  const port::Capabilities& c = device.capabilities();
  return c.memory_space != port::host_space && device.members().empty() &&
         !(c.shared_memory & port::shares_all_memory);
}

void requireUsm(const Context& context) {
  const auto& devices = context.devices();
  require(std::any_of(devices.begin(), devices.end(),
                      [](const Ref<Device>& device) { return hasUsm(*device); }),
          CL_INVALID_OPERATION, "no device of the context has unified shared memory");
}

SvmAllocation::SvmAllocation(Context& context, size_t bytes, UsmTraits traits)
    : traits_(std::move(traits)),
      storage_(context, bytes, nullptr, false,
               traits_.type == CL_MEM_TYPE_HOST_INTEL ? Placement::in_place : Placement::managed),
      with_devices_(stepsOf(bytes)),
      host_steps_(stepsOf(bytes)) {
  if (traits_.type == CL_MEM_TYPE_DEVICE_INTEL && hidesUsm(*traits_.device)) {
    own_ = traits_.device->port().allocate(bytes, sizeof(cl_long16));
    begin_ = reinterpret_cast<std::byte*>(own_->deviceAddress());
    return;
  }
  begin_ = storage_.in(port::host_space).host();
  for (const Ref<Device>& device : context.allDevices())
    if (device->capabilities().shared_memory != port::shares_nothing)
      storage_.in(device->capabilities().memory_space);
}

// A unified device has its first member's memory. Which of its members runs a kernel is not known
// yet, so all have to reach it.
bool SvmAllocation::usableBy(const Device& device) const {
  if (!own_) return true;
  if (const auto& members = device.members(); !members.empty())
    return std::ranges::all_of(members, [&](const auto& member) { return usableBy(*member); });
  const port::MemorySpace space = traits_.device->capabilities().memory_space;
  return device.capabilities().memory_space == space || device.port().reaches(space);
}

void SvmAllocation::map(const void* pointer, size_t size) {
  auto mapped = mapped_.lock();
  Mapped& entry = (*mapped)[pointer];
  entry.bytes = std::max(entry.bytes, size);
  ++entry.times;
}

size_t SvmAllocation::unmap(const void* pointer) {
  auto mapped = mapped_.lock();
  const auto found = mapped->find(pointer);
  if (found == mapped->end()) return 0;
  const size_t bytes = found->second.bytes;
  if (--found->second.times == 0) mapped->erase(found);
  return bytes;
}

void SvmAllocation::takeFromHost(size_t begin, size_t end, Ranges& taken) {
  auto with_devices = with_devices_.lock();
  const size_t before = host_steps_;
  for (size_t step = begin / step_bytes; step < stepsOf(end); ++step) {
    if ((*with_devices)[step]) continue;
    (*with_devices)[step] = true;
    --host_steps_;
    const size_t first = step * step_bytes, last = std::min(size(), first + step_bytes);
    if (!taken.empty() && taken.back().second == first)
      taken.back().second = last;
    else
      taken.emplace_back(first, last);
  }
  if (host_steps_ < before)
    in_vain_ = 0;
  else
    noteInVain();
}

void SvmAllocation::leaveHost(size_t begin, size_t end) {
  auto with_devices = with_devices_.lock();
  const size_t last = end == size() ? stepsOf(end) : end / step_bytes;
  for (size_t step = stepsOf(begin); step < last; ++step) {
    host_steps_ -= !(*with_devices)[step];
    (*with_devices)[step] = true;
  }
}

void SvmAllocation::giveToHost(size_t begin, size_t end) {
  auto with_devices = with_devices_.lock();
  for (size_t step = begin / step_bytes; step < stepsOf(end); ++step) {
    host_steps_ += (*with_devices)[step];
    (*with_devices)[step] = false;
  }
  in_vain_ = 0;
}

// Giving memory back may call a driver.
void SvmAllocation::dispose() noexcept {
  reap(this, [](Object* object) { delete static_cast<SvmAllocation*>(object); });
}

std::byte* SvmTable::allocate(size_t bytes, UsmTraits traits) {
  auto made = make<SvmAllocation>(context_, bytes, std::move(traits));
  std::byte* const begin = made->begin();
  if (made->home()) hidden_.fetch_add(1, std::memory_order_relaxed);
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
  if (freed->home()) hidden_.fetch_sub(1, std::memory_order_relaxed);
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
