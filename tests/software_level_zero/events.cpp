// Events and command lists.
#include <algorithm>
#include <chrono>

#include "tests/software_level_zero/entry_points.h"

namespace weft::software {

uint64_t ticks(int64_t ahead) {
  constexpr Nanoseconds soon = 300'000'000;
  constexpr uint64_t most = (uint64_t{1} << timestamp_bits) - 1;
  static const Nanoseconds opened = now();
  const uint64_t first = most - soon / nanoseconds_per_tick;
  return (first + (now() - opened + static_cast<uint64_t>(ahead)) / nanoseconds_per_tick) & most;
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

namespace {

struct Command {
  std::vector<std::shared_ptr<ZeEvent>> awaited;
  std::shared_ptr<ZeEvent> end;
  std::function<void(Stream&)> work;

  void run(Stream& stream) const {
    const Device& device = stream.device();
    for (const auto& event : awaited) event->await(UINT64_MAX, &device);
    if (!device.lost()) work(stream);
    if (end && !device.lost()) end->signal();
  }
};

ze_result_t take(ZeList& list, ze_event_handle_t signal, uint32_t wait_count,
                 ze_event_handle_t* waits, Command& command) {
  Device& device = list.device;
  if (const ze_result_t result = state(device); result != ok) return result;
  if (signal && machine().faults.signals.strikes()) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  const auto sees = [&](ze_event_handle_t event) {
    return of<ZeEventOfPool>(event).isVisibleTo(device);
  };
  if (!std::all_of(waits, waits + wait_count, sees) || (signal && !sees(signal)))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < wait_count; ++i)
    command.awaited.push_back(of<ZeEventOfPool>(waits[i]).event);
  if (!signal) return ok;
  command.end = of<ZeEventOfPool>(signal).event;
  of<ZeEventOfPool>(signal).signaller = &device;
  return ok;
}

// The first stream does it when all others have come, and they go on when it has.
void meet(ZeList& list, Command command) {
  std::vector<std::shared_ptr<ZeEvent>> arrivals;
  const auto open = std::make_shared<ZeEvent>();
  for (size_t i = 1; i < list.streams.size(); ++i) {
    const auto& arrival = arrivals.emplace_back(std::make_shared<ZeEvent>());
    list.streams[i]->push([arrival, open, &device = list.device] {
      arrival->signal();
      open->await(UINT64_MAX, &device);
    });
  }
  Stream& first = *list.streams[0];
  first.push([arrivals, open, &first, command = std::move(command)] {
    for (const auto& arrival : arrivals) arrival->await(UINT64_MAX, &first.device());
    command.run(first);
    open->signal();
  });
}

}  // namespace

ze_result_t append(ze_command_list_handle_t handle, ze_event_handle_t signal, uint32_t wait_count,
                   ze_event_handle_t* waits, std::function<void(Stream&)> work) {
  if (!handle) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  auto& list = of<ZeList>(handle);
  Command command{{}, nullptr, std::move(work)};
  if (const ze_result_t result = take(list, signal, wait_count, waits, command); result != ok)
    return result;
  Stream& stream = *list.streams[list.turn++ % list.streams.size()];
  stream.push([&stream, command = std::move(command)] { command.run(stream); });
  return ok;
}

namespace entry {

ze_result_t eventPoolCreate(ze_context_handle_t, const ze_event_pool_desc_t* description,
                            uint32_t count, ze_device_handle_t* devices,
                            ze_event_pool_handle_t* pool) {
  if ((count == 0) != (devices == nullptr)) return ZE_RESULT_ERROR_INVALID_SIZE;
  std::vector<Device*> seen;
  for (uint32_t i = 0; i < count; ++i) seen.push_back(&deviceOf(devices[i]));
  return hand(pool, new ZeEventPool{std::move(seen), description->count});
}
ze_result_t eventPoolDestroy(ze_event_pool_handle_t pool) { return destroy<ZeEventPool>(pool); }
ze_result_t eventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t* description,
                        ze_event_handle_t* event) {
  const auto& from = of<ZeEventPool>(pool);
  if (description->index >= from.count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return hand(event, new ZeEventOfPool{from.devices, std::make_shared<ZeEvent>()});
}
ze_result_t eventDestroy(ze_event_handle_t event) { return destroy<ZeEventOfPool>(event); }
ze_result_t eventHostReset(ze_event_handle_t event) {
  of<ZeEventOfPool>(event).event->reset();
  return ok;
}
ze_result_t eventHostSignal(ze_event_handle_t event) {
  of<ZeEventOfPool>(event).event->signal();
  return ok;
}
ze_result_t eventQueryStatus(ze_event_handle_t handle) {
  ++machine().faults.questions;
  const auto& event = of<ZeEventOfPool>(handle);
  if (event.event->isSet()) return ok;
  const Device* const signaller = event.signaller;
  return signaller && signaller->lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
}
ze_result_t eventHostSynchronize(ze_event_handle_t handle, uint64_t timeout) {
  const auto& event = of<ZeEventOfPool>(handle);
  return event.event->await(timeout, event.signaller) ? ok : eventQueryStatus(handle);
}

ze_result_t listCreateImmediate(ze_context_handle_t, ze_device_handle_t device,
                                const ze_command_queue_desc_t* description,
                                ze_command_list_handle_t* list) {
  if (description->ordinal >= queue_groups || description->index != 0)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  if (const ze_result_t result = state(deviceOf(device)); result != ok) return result;
  const bool in_order = description->flags == in_order_list;
  if (description->flags != 0 && (!in_order || machine().faults.old))
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return hand(list, new ZeList(deviceOf(device), description->ordinal, in_order));
}
ze_result_t listDestroy(ze_command_list_handle_t list) { return destroy<ZeList>(list); }
ze_result_t appendBarrier(ze_command_list_handle_t handle, ze_event_handle_t signal, uint32_t count,
                          ze_event_handle_t* waits) {
  if (!handle) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  auto& list = of<ZeList>(handle);
  Command command{{}, nullptr, [](Stream&) {}};
  const ze_result_t result = take(list, signal, count, waits, command);
  if (result == ok) meet(list, std::move(command));
  return result;
}

ze_result_t appendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t* to,
                                       ze_event_handle_t signal, uint32_t count,
                                       ze_event_handle_t* waits) {
  if (!machine().host_heap.holds(to, sizeof *to)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return append(list, signal, count, waits, [to](Stream&) { *to = ticks(); });
}

}  // namespace entry
}  // namespace weft::software

extern "C" [[gnu::visibility("default")]] weft::software::Faults* weftSoftwareGpuFaults() {
  return &weft::software::machine().faults;
}
