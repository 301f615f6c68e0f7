#include "backends/level_zero/context.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "backends/common/native_images.h"

namespace weft::level_zero {
namespace {

constexpr uint32_t events_per_pool = 64;
constexpr size_t page_bytes = 4096;
constexpr port::Nanoseconds least_pause = 10'000, most_pause = 250'000;
// A wait is made longer by no more than this part of it.
constexpr port::Nanoseconds pause_part = 8;
constexpr port::Nanoseconds life_sign = 20'000'000;
constexpr port::Nanoseconds spin_ns = 30'000;

}  // namespace

Driver::Driver(const Api& table, ze_driver_handle_t driver, uint32_t its_version, bool is_first,
               std::shared_ptr<const port::BinaryCache> kept)
    : api(table),
      handle(driver),
      version(its_version),
      first(is_first),
      native_images(wishesNativeImages(false)),
      binaries(std::move(kept)) {
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  check(api.contextCreate(handle, &description, &context), "making a context");
}

void HostRanges::add(const void* begin, size_t bytes) {
  ranges_.lock()->emplace(reinterpret_cast<uintptr_t>(begin), bytes);
}

void HostRanges::remove(const void* begin) noexcept {
  ranges_.lock()->erase(reinterpret_cast<uintptr_t>(begin));
}

bool HostRanges::hold(const void* begin, size_t bytes) const noexcept {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const auto ranges = ranges_.lock();
  auto found = ranges->upper_bound(at);
  if (found == ranges->begin()) return false;
  --found;
  const size_t offset = at - found->first;
  return offset <= found->second && bytes <= found->second - offset;
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
  if (driver_.api.eventPoolCreate(driver_.context, &description, 0, nullptr, &pool) !=
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

Pool::~Pool() {
  for (void* const block : pieces_.lock()->blocks) driver_.api.memFree(driver_.context, block);
}

bool Pool::grow(Pieces& pieces) noexcept {
  const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                             0};
  void* block = nullptr;
  const bool on_the_device =
      device_ && driver_.api.memAllocDevice(driver_.context, &on_device, block_bytes_, page_bytes,
                                            device_, &block) == ZE_RESULT_SUCCESS;
  // Nothing is evicted for the few bytes of a pool.
  if (!on_the_device && driver_.api.memAllocHost(driver_.context, &on_host, block_bytes_,
                                                 page_bytes, &block) != ZE_RESULT_SUCCESS)
    return false;
  pieces.blocks.push_back(block);
  for (size_t at = 0; at + piece_bytes_ <= block_bytes_; at += piece_bytes_)
    pieces.free.push_back(static_cast<std::byte*>(block) + at);
  return true;
}

std::byte* Pool::take() noexcept {
  auto pieces = pieces_.lock();
  if (pieces->free.empty() && !grow(*pieces)) return nullptr;
  std::byte* const piece = pieces->free.back();
  pieces->free.pop_back();
  return piece;
}

void Pool::give(std::byte* piece) noexcept {
  if (piece) pieces_.lock()->free.push_back(piece);
}

ze_result_t DeviceContext::look(ze_event_handle_t event) noexcept {
  if (const ze_result_t result = usable(); result != ZE_RESULT_SUCCESS) return result;
  return note(api.eventQueryStatus(event));
}

ze_result_t DeviceContext::pause(ze_event_handle_t event, port::Nanoseconds since) noexcept {
  constexpr uint64_t moment = 1;
  const port::Nanoseconds waited = hostNow() - since;
  if (waited < spin_ns) return ZE_RESULT_NOT_READY;
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(std::clamp(waited / pause_part, least_pause, most_pause)));
  if (waited < life_sign || waited % life_sign > 2 * most_pause) return ZE_RESULT_NOT_READY;
  note(api.deviceGetStatus(device));
  return usable() == ZE_RESULT_SUCCESS ? note(api.eventHostSynchronize(event, moment)) : usable();
}

void DeviceContext::rest(unsigned& tries) noexcept {
  constexpr unsigned few_tries = 10, most_tries = 3000;
  constexpr std::chrono::microseconds short_nap{50}, long_nap{1000};
  if (++tries >= most_tries) lost.store(true, std::memory_order_relaxed);
  std::this_thread::sleep_for(tries < few_tries ? short_nap : long_nap);
}

ze_result_t DeviceContext::await(ze_event_handle_t event) noexcept {
  const port::Nanoseconds since = hostNow();
  ze_result_t result = look(event);
  while (result == ZE_RESULT_NOT_READY) {
    result = pause(event, since);
    if (result == ZE_RESULT_NOT_READY) result = look(event);
  }
  return result;
}

}  // namespace weft::level_zero
