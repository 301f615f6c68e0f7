#include "backends/level_zero/context.h"

#include <ctime>

namespace weft::level_zero {
namespace {

constexpr uint32_t events_per_pool = 64;

}  // namespace

port::Nanoseconds hostNow() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

Driver::Driver(const Api& table, ze_driver_handle_t driver) : api(table), handle(driver) {
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  check(api.contextCreate(handle, &description, &context), "making a context");
}

EventPool::~EventPool() {
  const auto events = events_.lock();
  for (const ze_event_handle_t event : events->all) driver_.api.eventDestroy(event);
  for (const ze_event_pool_handle_t pool : events->pools) driver_.api.eventPoolDestroy(pool);
}

bool EventPool::grow(Events& events) noexcept {
  const ze_event_pool_desc_t description{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                         ZE_EVENT_POOL_FLAG_HOST_VISIBLE, events_per_pool};
  ze_event_pool_handle_t pool = nullptr;
  ze_device_handle_t device = device_;
  if (driver_.api.eventPoolCreate(driver_.context, &description, 1, &device, &pool) !=
      ZE_RESULT_SUCCESS)
    return false;
  events.pools.push_back(pool);
  for (uint32_t i = 0; i < events_per_pool; ++i) {
    const ze_event_desc_t one{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, ZE_EVENT_SCOPE_FLAG_HOST,
                              ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = nullptr;
    if (driver_.api.eventCreate(pool, &one, &event) != ZE_RESULT_SUCCESS) break;
    events.all.push_back(event);
    events.free.push_back(event);
  }
  return !events.free.empty();
}

ze_event_handle_t EventPool::take() noexcept {
  auto events = events_.lock();
  if (events->free.empty() && !grow(*events)) return nullptr;
  const ze_event_handle_t event = events->free.back();
  events->free.pop_back();
  return event;
}

void EventPool::give(ze_event_handle_t event) noexcept {
  if (!event) return;
  driver_.api.eventHostReset(event);
  events_.lock()->free.push_back(event);
}

}  // namespace weft::level_zero
