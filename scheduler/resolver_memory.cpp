// Memory of the space that a command runs in: allocated when the command is admitted, and taken
// from those that used theirs least recently where there is none left.
//
// A command waits for memory before it is admitted, and only for transfers and for commands that
// are, which wait for nothing but transfers; so nobody waits in a circle. Allocating and releasing
// take a while and happen without the lock. Commands that find too little meanwhile wait for the
// threads that are at it, not for their commands: those may turn out to wait, too.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/reaper.h"
#include "scheduler/enqueue.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"
#include "scheduler/step.h"
#include "scheduler/transfer.h"

namespace weft {
namespace {

using Taken = std::vector<std::unique_ptr<port::Memory>>;

// To be released without the lock. Returns how many bytes that makes: none of an object at its end,
// which another thread is releasing.
uint64_t takeFrom(State& state, DeviceMemory& memory, Residency& residency, Taken& taken) {
  const port::MemorySpace space = memory.space();
  auto own = residency.storage().take(space);
  if (!own && residency.isEnding()) return 0;
  if (own) taken.push_back(std::move(own));
  residency.forget(space);
  memory.remove(residency);
  if (Device* owner = state.owner(space))
    state.counters(*owner).evictions.fetch_add(1, std::memory_order_relaxed);
  return residency.storage().size();
}

// Would anybody miss bytes that only `space` has? Whose they are goes to `dirty`, to be let go of
// when the lock is dropped.
bool isMissed(const Residency& residency, port::MemorySpace space,
              std::vector<Ref<MemObject>>& dirty) {
  if (!residency.dirtyIn(space)) return false;
  Ref<MemObject> object = residency.object();
  if (!object) return false;  // nobody can ask for the bytes any more
  dirty.push_back(std::move(object));
  return true;
}

struct Room {
  std::shared_ptr<void> reserved;             // null when there is not enough
  std::optional<MemoryTraffic::Visit> visit;  // where that was reserved or something went for it
};

// Room for `bytes` within the limit, for which what is idle goes, of so many bytes `at_least` if
// there are. Of what somebody would miss nothing goes: the caller cannot wait for it to be written
// back.
Room takeRoom(State& state, port::MemorySpace space, uint64_t bytes, uint64_t at_least) {
  Room room;
  std::vector<Ref<MemObject>> dirty;
  Taken taken;
  {
    const auto tickets = state.tickets().lock();
    DeviceMemory& memory = *tickets->memoryIn(space);
    const uint64_t shortage = memory.shortage(bytes), wanted = std::max(shortage, at_least);
    std::vector<Residency*> idle;
    uint64_t free = 0;
    for (Residency* residency : memory.leastRecentlyUsedFirst()) {
      if (free >= wanted) break;
      if (residency->inUse() || isMissed(*residency, space, dirty)) continue;
      idle.push_back(residency);
      free += residency->storage().size();
    }
    if (free < shortage || (at_least > 0 && free == 0)) return room;
    for (Residency* residency : idle) takeFrom(state, memory, *residency, taken);
    if (memory.shortage(bytes) == 0) room.reserved = memory.reserve(bytes);
    if (room.reserved || !taken.empty()) room.visit.emplace(state.memoryTraffic());
  }
  if (taken.empty()) return room;
  taken.clear();
  state.memoryTraffic().noteRelease();
  return room;
}

// False when the device has less memory than its limit promised.
bool isAllocated(const RoomUser& allocate, std::shared_ptr<void> room, MemoryTraffic& traffic) {
  try {
    allocate(std::move(room));
    return true;
  } catch (const Error& failure) {
    traffic.noteRelease();
    if (failure.code() != CL_MEM_OBJECT_ALLOCATION_FAILURE) throw;
    return false;
  }
}

}  // namespace

void allocateIn(const Context& context, const Device& device, size_t bytes,
                const RoomUser& allocate) {
  State& state = State::of(context);
  MemoryTraffic& traffic = state.memoryTraffic();
  uint64_t at_least = 0;
  for (bool ended = false;;) {
    uint64_t departures = traffic.departures();
    Room room = takeRoom(state, device.capabilities().memory_space, bytes, at_least);
    const bool has_room = room.reserved != nullptr;
    if (has_room && isAllocated(allocate, std::move(room.reserved), traffic)) return;
    departures += room.visit.has_value();  // this thread's
    room.visit.reset();
    const bool others = traffic.busy();
    const bool changed = others || traffic.departures() != departures;
    // What ended is given back by another thread, of which its traffic may not tell yet.
    if (!has_room && !changed && !std::exchange(ended, true)) {
      awaitReaper();
      at_least = 0;
      continue;
    }
    require(has_room || changed, CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device's memory is full");
    if (others) traffic.waitForOthers();
    at_least = changed ? 0 : bytes;
  }
}

void Resolver::findMissing(State::Tickets& tickets) {
  missing_.clear();
  DeviceMemory* const memory = tickets.memoryIn(space_);
  for (const Access& access : command_.resolution_->accesses) {
    if (!access.object->storage().find(space_))
      missing_.push_back(access.object);
    else if (memory)
      memory->add(Residency::of(*access.object));
  }
}

// A quarter of the memory is left to commands that are admitted meanwhile: what they would evict
// may be just what was brought.
bool Resolver::hasRoom(State::Tickets& tickets) {
  const DeviceMemory* const memory = tickets.memoryIn(space_);
  if (!memory) return true;
  uint64_t more = 0;
  for (const Access& access : command_.resolution_->accesses)
    if (const Residency& residency = Residency::of(*access.object); !memory->has(residency))
      more += residency.storage().size();
  return more == 0 || memory->shortage(more + memory->limit() / 4) == 0;
}

Resolver::Admission Resolver::makeRoom(State::Tickets& tickets, uint64_t least) {
  DeviceMemory* const memory = tickets.memoryIn(space_);
  std::vector<Residency*> own;
  uint64_t all = 0, more = 0;
  for (const Access& access : command_.resolution_->accesses) {
    Residency& residency = Residency::of(*access.object);
    if (std::find(own.begin(), own.end(), &residency) != own.end()) continue;
    own.push_back(&residency);
    all += residency.storage().size();
    if (memory && !memory->has(residency)) more += residency.storage().size();
  }
  const MemoryTraffic& traffic = State::of(context_).memoryTraffic();
  const uint64_t releases = traffic.releases();
  const auto othersMayRelease = [&] { return traffic.busy() || traffic.releases() != releases; };
  if (memory && all + memory->reserved() > memory->limit()) {
    // What is reserved may be so for a moment only.
    require(all <= memory->limit() && othersMayRelease(), CL_MEM_OBJECT_ALLOCATION_FAILURE,
            "the command's memory objects are larger than the device's memory");
    return Admission::needs_others;
  }
  beginAllocating();
  if (!memory) return Admission::needs_memory;  // the host's
  const uint64_t bytes = std::max(memory->shortage(more), least);
  const uint64_t freed = bytes > 0 ? evict(*memory, bytes) : 0;
  if (freed >= bytes) {
    for (Residency* residency : own) memory->add(*residency);
    return Admission::needs_memory;
  }
  const bool writes_back = writeBack(bytes - freed);
  endAllocating();
  if (writes_back) return Admission::waits;
  std::vector<Event*> users;
  for (const Residency* residency : memory->leastRecentlyUsedFirst()) residency->usedBy(users);
  if (waitForAll(users)) return Admission::waits;
  require(othersMayRelease(), CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device's memory is full");
  return Admission::needs_others;
}

uint64_t Resolver::evict(DeviceMemory& memory, uint64_t bytes) {
  State& state = State::of(context_);
  uint64_t freed = 0;
  const size_t before = evicted_.size();
  for (Residency* residency : memory.leastRecentlyUsedFirst()) {
    if (freed >= bytes) break;
    if (residency->inUse() || isMissed(*residency, space_, dirty_)) continue;
    freed += takeFrom(state, memory, *residency, evicted_);
  }
  if (before == 0 && !evicted_.empty()) state.memoryTraffic().enter();
  return freed;
}

bool Resolver::writeBack(uint64_t bytes) {
  uint64_t moved = 0;
  for (const Ref<MemObject>& object : dirty_) {
    if (moved >= bytes) break;
    for (auto& [begin, interval] : Residency::of(*object).intervals())
      if (interval.valid.has(space_) && interval.valid.all().size() == 1)
        command_.waitFor(bring(*object, begin, interval, port::host_space), true);
    moved += object->storage().size();
  }
  return moved > 0;
}

void Resolver::releaseEvicted() noexcept {
  dirty_.clear();
  if (evicted_.empty()) return;
  evicted_.clear();
  MemoryTraffic& traffic = State::of(context_).memoryTraffic();
  traffic.noteRelease();
  traffic.leave();
}

void Resolver::beginAllocating() {
  command_.resolution_->claim.allocates = true;
  State::of(context_).memoryTraffic().enter();
}

void Resolver::endAllocating() {
  if (!std::exchange(command_.resolution_->claim.allocates, false)) return;
  State::of(context_).memoryTraffic().leave();
}

Resolver::Admission Resolver::allocate() {
  step::point();
  const uint64_t releases = State::of(context_).memoryTraffic().releases();
  try {
    for (MemObject* object : missing_) object->storage().in(space_);
    return Admission::needs_memory;  // and has it: it can be tried again
  } catch (const Error& failure) {
    return makeRoomAfter(failure, releases);
  }
}

// `releases`: of before it was tried.
Resolver::Admission Resolver::makeRoomAfter(const Error& failure, uint64_t releases) {
  const step::Quiet quiet;
  const auto tickets = State::of(context_).tickets().lock();
  endAllocating();
  DeviceMemory* const memory = tickets->memoryIn(space_);
  if (!memory && command_.prefetchesFor()) return Admission::declined;
  if (!memory) throw failure;
  for (MemObject* object : missing_)
    if (!object->storage().find(space_)) memory->remove(Residency::of(*object));
  if (command_.prefetchesFor()) return Admission::declined;
  const MemoryTraffic& traffic = State::of(context_).memoryTraffic();
  if (traffic.busy() || traffic.releases() != releases) return Admission::needs_others;
  try {
    return makeRoom(*tickets, 1);
  } catch (const Error&) {
    throw failure;
  }
}

}  // namespace weft
