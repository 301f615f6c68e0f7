#include "core/device_queue.h"

#include <algorithm>

#include "core/reaper.h"

namespace weft {
namespace {

// A queue of any size holds a few commands.
constexpr uint64_t least_bytes = 16 << 10;

template <class Entries>
auto findEntry(Entries& entries, const Device& device) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& entry) { return entry.first == &device; });
}

}  // namespace

DeviceQueue::DeviceQueue(Ref<Context> context, Ref<Device> device,
                         cl_command_queue_properties properties, cl_uint bytes,
                         std::vector<cl_queue_properties> list)
    : context_(std::move(context)),
      device_(std::move(device)),
      properties_(properties),
      bytes_(bytes),
      property_list_(std::move(list)),
      port_(std::max<uint64_t>(bytes, least_bytes)) {
  kind.store(Kind::device_queue, std::memory_order_relaxed);
}

DeviceQueue* DeviceQueue::find(cl_command_queue handle) noexcept {
  if (!handle || handle->kind.load(std::memory_order_relaxed) != Kind::device_queue) return nullptr;
  return static_cast<DeviceQueue*>(handle);
}

void DeviceQueue::onLastHandleReleased() noexcept { context_->defaultQueues().forget(*this); }

void DeviceQueue::dispose() noexcept {
  weak_.clear();
  reap(this, [](Object* object) { delete static_cast<DeviceQueue*>(object); });
}

Ref<DeviceQueue> DefaultQueues::of(const Device& device) const {
  const auto entries = entries_.lock();
  const auto entry = findEntry(*entries, device);
  return entry == entries->end() ? nullptr : Ref<DeviceQueue>(entry->second);
}

void DefaultQueues::set(DeviceQueue& queue) {
  const auto entries = entries_.lock();
  const auto entry = findEntry(*entries, queue.device());
  if (entry == entries->end())
    entries->push_back({&queue.device(), &queue});
  else
    entry->second = &queue;
}

Ref<DeviceQueue> DefaultQueues::setFirst(const Ref<DeviceQueue>& queue) {
  const auto entries = entries_.lock();
  const auto entry = findEntry(*entries, queue->device());
  if (entry != entries->end()) return Ref<DeviceQueue>(entry->second);
  entries->push_back({&queue->device(), queue.get()});
  return queue;
}

void DefaultQueues::forget(const DeviceQueue& queue) noexcept {
  const auto entries = entries_.lock();
  std::erase_if(*entries, [&](const Entry& entry) { return entry.second == &queue; });
}

}  // namespace weft
