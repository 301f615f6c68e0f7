// Events and command lists.
#include <chrono>

#include "tests/software_level_zero/entry_points.h"

namespace weft::software {

uint64_t ticks() {
  constexpr Nanoseconds soon = 300'000'000;
  constexpr uint64_t most = (uint64_t{1} << timestamp_bits) - 1;
  static const Nanoseconds opened = now();
  const uint64_t first = most - soon / nanoseconds_per_tick;
  return (first + (now() - opened) / nanoseconds_per_tick) & most;
}

void ZeEvent::signal() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

void ZeEvent::reset() {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

bool ZeEvent::isSet() {
  const std::lock_guard lock(mutex_);
  return set_;
}

bool ZeEvent::await(uint64_t timeout, const Device* device) {
  const Nanoseconds begin = now();
  std::unique_lock lock(mutex_);
  while (!set_) {
    if (now() - begin >= timeout || (device && device->lost())) return false;
    changed_.wait_for(lock, std::chrono::microseconds(500));
  }
  return true;
}

ze_result_t append(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                   ze_event_handle_t* waits, std::function<void()> work) {
  if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  Stream& stream = of<ZeList>(list).stream;
  if (const ze_result_t result = state(stream.device()); result != ok) return result;
  if (signal && machine().faults.signals.strikes()) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  std::vector<std::shared_ptr<ZeEvent>> awaited;
  for (uint32_t i = 0; i < wait_count; ++i) awaited.push_back(of<ZeEventOfPool>(waits[i]).event);
  const auto end = signal ? of<ZeEventOfPool>(signal).event : nullptr;
  stream.push([&device = stream.device(), awaited, end, work = std::move(work)] {
    for (const auto& event : awaited) event->await(UINT64_MAX, &device);
    if (!device.lost()) work();
    if (end && !device.lost()) end->signal();
  });
  return ok;
}

namespace entry {

ze_result_t eventPoolCreate(ze_context_handle_t, const ze_event_pool_desc_t* description,
                            uint32_t count, ze_device_handle_t* devices,
                            ze_event_pool_handle_t* pool) {
  Device* const device = count > 0 ? &deviceOf(devices[0]) : nullptr;
  return hand(pool, new ZeEventPool{device, description->count});
}
ze_result_t eventPoolDestroy(ze_event_pool_handle_t pool) { return destroy<ZeEventPool>(pool); }
ze_result_t eventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t* description,
                        ze_event_handle_t* event) {
  const auto& from = of<ZeEventPool>(pool);
  if (description->index >= from.count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return hand(event, new ZeEventOfPool{from.device, std::make_shared<ZeEvent>()});
}
ze_result_t eventDestroy(ze_event_handle_t event) { return destroy<ZeEventOfPool>(event); }
ze_result_t eventHostReset(ze_event_handle_t event) {
  of<ZeEventOfPool>(event).event->reset();
  return ok;
}
ze_result_t eventQueryStatus(ze_event_handle_t handle) {
  const auto& event = of<ZeEventOfPool>(handle);
  if (event.event->isSet()) return ok;
  return event.device && event.device->lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
}
ze_result_t eventHostSynchronize(ze_event_handle_t handle, uint64_t timeout) {
  const auto& event = of<ZeEventOfPool>(handle);
  return event.event->await(timeout, event.device) ? ok : eventQueryStatus(handle);
}

ze_result_t listCreateImmediate(ze_context_handle_t, ze_device_handle_t device,
                                const ze_command_queue_desc_t* description,
                                ze_command_list_handle_t* list) {
  if (description->ordinal >= queue_groups || description->index != 0)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (const ze_result_t result = state(deviceOf(device)); result != ok) return result;
  return hand(list, new ZeList(deviceOf(device), description->ordinal));
}
ze_result_t listDestroy(ze_command_list_handle_t list) { return destroy<ZeList>(list); }
ze_result_t appendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t count,
                          ze_event_handle_t* waits) {
  return append(list, signal, count, waits, [] {});
}

ze_result_t appendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t* to,
                                       ze_event_handle_t signal, uint32_t count,
                                       ze_event_handle_t* waits) {
  if (!machine().host_heap.holds(to, sizeof *to)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return append(list, signal, count, waits, [to] { *to = ticks(); });
}

}  // namespace entry
}  // namespace weft::software

extern "C" [[gnu::visibility("default")]] weft::software::Faults* weftSoftwareGpuFaults() {
  return &weft::software::machine().faults;
}
