#include "core/release_batch.h"

#include <array>
#include <cassert>
#include <mutex>
#include <utility>

#include "core/reaper.h"
#include "core/thread_local.h"

namespace weft {
namespace {

// How many references are kept, and of how many objects.
constexpr uint32_t most_references = 128;
constexpr size_t most_objects = 6;
// An entry is the object's address and, in the bits that addresses do not use, how many.
constexpr int count_bits = 16;

uint64_t entryOf(const Object& object) noexcept {
  return reinterpret_cast<uint64_t>(&object) << count_bits | 1;
}
const Object* objectOf(uint64_t entry) noexcept {
  return reinterpret_cast<const Object*>(entry >> count_bits);
}
uint32_t countOf(uint64_t entry) noexcept { return entry & ((1u << count_bits) - 1); }

// Only its thread puts objects in; others may take them out.
struct alignas(64) Batch {
  std::array<std::atomic<uint64_t>, most_objects> entries{};
  bool open = false;
  uint32_t given = 0;  // since the last flush
  Batch* next = nullptr;
};

void release(uint64_t entry) noexcept {
  if (entry == 0) return;
  const RuntimeScope scope;
  objectOf(entry)->release(countOf(entry));
}

Batch& current() noexcept {
  WEFT_THREAD_LOCAL static constinit Batch batch;
  return batch;
}

// All that are open.
struct Open {
  std::mutex mutex;
  Batch* first = nullptr;
};

Open& all() noexcept {
  static constinit Open open;
  return open;
}

}  // namespace

ReleaseBatch::ReleaseBatch() noexcept {
  Batch& batch = current();
  assert(!batch.open);
  const std::lock_guard lock(all().mutex);
  batch.open = true;
  batch.next = std::exchange(all().first, &batch);
}

ReleaseBatch::~ReleaseBatch() {
  Batch& batch = current();
  batch.open = false;  // what ends now gives up its own references at once
  flush();
  const std::lock_guard lock(all().mutex);
  Batch** link = &all().first;
  while (*link != &batch) link = &(*link)->next;
  *link = batch.next;
}

void ReleaseBatch::add(const Object& object) noexcept {
  Batch& batch = current();
  if (!batch.open) return object.release();
  if (batch.given >= most_references) flush();
  ++batch.given;
  size_t place = batch.given % most_objects;
  for (size_t i = 0; i < most_objects; ++i) {
    uint64_t entry = batch.entries[i].load(std::memory_order_relaxed);
    // It may be reclaimed just now.
    if (entry != 0 && objectOf(entry) == &object &&
        batch.entries[i].compare_exchange_strong(entry, entry + 1, std::memory_order_release))
      return;
    if (entry == 0) place = i;
  }
  release(batch.entries[place].exchange(entryOf(object), std::memory_order_acq_rel));
}

bool ReleaseBatch::holdsAny() noexcept { return current().given != 0; }

void ReleaseBatch::flush() noexcept {
  Batch& batch = current();
  // What ends may give up more.
  while (std::exchange(batch.given, 0) != 0)
    for (std::atomic<uint64_t>& place : batch.entries)
      if (place.load(std::memory_order_relaxed) != 0)
        release(place.exchange(0, std::memory_order_acquire));
}

void ReleaseBatch::reclaim(const Object& object) noexcept {
  if (object.isUnique()) return;
  uint32_t count = 0;
  {
    const std::lock_guard lock(all().mutex);
    for (Batch* batch = all().first; batch; batch = batch->next) {
      for (std::atomic<uint64_t>& place : batch->entries) {
        uint64_t entry = place.load(std::memory_order_relaxed);
        while (entry != 0 && objectOf(entry) == &object)
          if (place.compare_exchange_weak(entry, 0, std::memory_order_acquire)) {
            count += countOf(entry);
            break;
          }
      }
    }
  }
  if (count != 0) object.release(count);
}

void ReleaseBatch::flushAll() noexcept {
  std::array<uint64_t, 128> taken;
  size_t count = 0;
  {
    const std::lock_guard lock(all().mutex);
    for (Batch* batch = all().first; batch && count + most_objects <= taken.size();
         batch = batch->next)
      for (std::atomic<uint64_t>& place : batch->entries)
        if (place.load(std::memory_order_relaxed) != 0)
          taken[count++] = place.exchange(0, std::memory_order_acquire);
  }
  for (size_t i = 0; i < count; ++i) release(taken[i]);
}

}  // namespace weft
