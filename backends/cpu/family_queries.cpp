// What kernels ask about events, queues and blocks.
#include <algorithm>

#include "backends/cpu/executor.h"
#include "backends/cpu/family.h"

namespace weft::cpu {

int64_t Family::defaultQueue(Run&, port::DeviceRequest&) {
  return reinterpret_cast<int64_t>(std::get<port::Launch>(root_.work).default_queue);
}

int64_t Family::createUserEvent(Run&, port::DeviceRequest&) try {
  const std::lock_guard lock(mutex_);
  const DeviceEvent* const event = makeUserEvent();
  return event ? int64_t(event->number) : 0;
} catch (...) {
  return 0;
}

int64_t Family::retainEvent(Run&, port::DeviceRequest& request) {
  const std::lock_guard lock(mutex_);
  EnqueuedCommands::retainEvent(request.event);
  return 0;
}

int64_t Family::releaseEvent(Run&, port::DeviceRequest& request) {
  const std::lock_guard lock(mutex_);
  EnqueuedCommands::releaseEvent(request.event);
  return 0;
}

int64_t Family::setEventStatus(Run&, port::DeviceRequest& request) {
  Freed freed;
  {
    const std::lock_guard lock(mutex_);
    EnqueuedCommands::setEventStatus(request.event, request.value, freed);
  }
  go(freed);
  return 0;
}

int64_t Family::isValidEvent(Run&, port::DeviceRequest& request) {
  const std::lock_guard lock(mutex_);
  return events().find(request.event) != nullptr;
}

int64_t Family::captureProfiling(Run&, port::DeviceRequest& request) {
  const std::lock_guard lock(mutex_);
  EnqueuedCommands::captureProfiling(request.event, reinterpret_cast<uint64_t>(request.profile));
  return 0;
}

int64_t Family::workGroupSize(Run&, port::DeviceRequest&) {
  return int64_t(executor_.capabilities().max_work_group_size);
}

int64_t Family::workGroupMultiple(Run&, port::DeviceRequest&) {
  return int64_t(executor_.capabilities().preferred_work_group_multiple);
}

int64_t Family::subGroupCount(Run&, port::DeviceRequest& request) {
  const auto shape = subGroupsOf(request);
  return (shape.items + shape.width - 1) / shape.width;
}

int64_t Family::subGroupSize(Run&, port::DeviceRequest& request) {
  const auto shape = subGroupsOf(request);
  return std::min(shape.items, shape.width);
}

int64_t Family::subGroupLocalSize(Run&, port::DeviceRequest& request) {
  const auto count = static_cast<uint32_t>(request.value);
  const uint32_t width = widthOf(request);
  if (width == 0 || count > executor_.capabilities().max_work_group_size / width) return 0;
  return int64_t{count} * width;
}

int64_t Family::maxSubGroups(Run&, port::DeviceRequest& request) {
  const uint32_t width = widthOf(request);
  return width == 0 ? 0 : (executor_.capabilities().max_work_group_size + width - 1) / width;
}

// Of the kernel's sub-groups; 0: there is no such kernel.
uint32_t Family::widthOf(const port::DeviceRequest& request) const {
  const auto kernel = module().find(request.kernel);
  return kernel ? module().kernel(*kernel)->info.sub_group_size : 0;
}

// Of an invalid range: none.
Family::SubGroups Family::subGroupsOf(const port::DeviceRequest& request) const {
  const auto kernel = module().find(request.kernel);
  if (!kernel) return {};
  const auto record = recordOf(*request.range, *kernel);
  if (!record) return {};
  const auto& local = record->local_size;
  return {int64_t(local[0] * local[1] * local[2]), module().kernel(*kernel)->info.sub_group_size};
}

}  // namespace weft::cpu
