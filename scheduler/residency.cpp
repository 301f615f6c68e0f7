#include "scheduler/residency.h"

#include <algorithm>

#include "scheduler/state.h"
#include "scheduler/transfer.h"

namespace weft {

bool SpaceSet::has(port::MemorySpace space) const {
  return std::find(spaces_.begin(), spaces_.end(), space) != spaces_.end();
}

void SpaceSet::add(port::MemorySpace space) {
  if (has(space)) return;
  spaces_.push_back(space);
  std::sort(spaces_.begin(), spaces_.end());
}

void SpaceSet::remove(port::MemorySpace space) {
  if (spaces_.size() > 1) std::erase(spaces_, space);
}

Residency& Residency::of(MemObject& object) {
  Storage& storage = object.storage();
  if (!storage.residency()) {
    auto fresh = std::make_unique<Residency>(storage.size());
    if (storage.initialisedOnHost()) fresh->intervals_[0].valid.add(port::host_space);
    storage.setResidency(std::move(fresh));
  }
  return static_cast<Residency&>(*storage.residency());
}

Residency::Map::iterator Residency::split(size_t at) {
  auto next = intervals_.lower_bound(at);
  if (next != intervals_.end() && next->first == at) return next;
  auto& holder = std::prev(next)->second;
  if (at >= holder.end) return next;
  Interval tail = holder;
  holder.end = at;
  return intervals_.emplace_hint(next, at, std::move(tail));
}

std::pair<Residency::Map::iterator, Residency::Map::iterator> Residency::cover(size_t begin,
                                                                               size_t end) {
  const auto first = split(begin);
  const auto last = split(end);
  for (auto it = first; it != last; ++it)
    std::erase_if(it->second.users, [](const User& user) { return user.event->done(); });
  return {first, last};
}

void Residency::merge(size_t begin, size_t end) {
  auto it = intervals_.lower_bound(begin);
  if (it != intervals_.begin()) --it;
  while (std::next(it) != intervals_.end() && it->first <= end) {
    const auto next = std::next(it);
    const bool same = it->second.users.empty() && next->second.users.empty() &&
                      it->second.valid == next->second.valid;
    if (!same) {
      ++it;
      continue;
    }
    it->second.end = next->second.end;
    intervals_.erase(next);
  }
}

void Residency::drop(size_t begin, size_t end, port::MemorySpace space) {
  const auto [first, last] = cover(begin, end);
  for (auto it = first; it != last; ++it) it->second.valid.remove(space);
}

Resolver::Resolver(Command& command)
    : command_(command), context_(command.context()), space_(command.space()) {}

Resolver::~Resolver() {
  for (TransferCommand* transfer : transfers_) {
    transfer->launch();
    transfer->release();
  }
}

void Resolver::resolve() {
  std::vector<Access> accesses;
  command_.accesses(accesses);
  std::erase_if(accesses, [](const Access& access) { return access.begin == access.end; });
  if (accesses.empty()) return;
  makeAllocations(accesses);
  {
    const auto tickets = State::of(context_).tickets().lock();
    ++tickets->next;
    settleSpace(accesses);
    for (const Access& access : accesses) apply(access);
  }
}

// Before the lock is taken, because allocators are called. Sources have their allocation already.
void Resolver::makeAllocations(const std::vector<Access>& accesses) {
  const bool staging = State::of(context_).needsStaging();
  for (const Access& access : accesses) {
    access.object->storage().in(space_);
    if (staging) access.object->storage().in(port::host_space);
  }
}

// A read into host memory runs on a device that already has all the bytes, rather than bringing
// them to the queue's device first.
void Resolver::settleSpace(const std::vector<Access>& accesses) {
  if (!command_.runsWhereTheBytesAre()) return;
  const Access& access = accesses.front();
  const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
  const auto everywhere = [&, first = first, last = last](port::MemorySpace space) {
    return std::all_of(first, last, [&](const auto& entry) {
      return entry.second.valid.empty() || entry.second.valid.has(space);
    });
  };
  if (everywhere(space_)) return;
  for (const port::MemorySpace space : first->second.valid.all()) {
    if (!everywhere(space)) continue;
    if (space == port::host_space)
      command_.setSpace(space);  // the queue's own stream can copy from the host
    else if (Device* owner = State::of(context_).owner(space))
      command_.runOn(*owner);
    else
      continue;
    space_ = space;
    return;
  }
}

void Resolver::apply(const Access& access) {
  Residency& residency = Residency::of(*access.object);
  const auto [first, last] = residency.cover(access.begin, access.end);
  for (auto it = first; it != last; ++it) {
    if (access.reads) read(*access.object, it->first, it->second);
    if (access.writes) write(it->second);
    it->second.users.push_back({Ref<Event>(&command_), space_, access.writes, false});
  }
  residency.merge(access.begin, access.end);
}

void Resolver::read(MemObject& object, size_t begin, Residency::Interval& interval) {
  if (!interval.valid.empty() && !interval.valid.has(space_)) {
    TransferCommand& transfer = bring(object, begin, interval, space_);
    command_.waitFor(transfer, true);
    return;
  }
  for (const Residency::User& user : interval.users)
    if (user.writes && user.event.get() != &command_ && (user.transfer || user.space != space_))
      command_.waitFor(*user.event, user.transfer);
}

// What other spaces do with these bytes, and transfers to or from this space, come first. Unordered
// commands of one space are the application's to order.
void Resolver::write(Residency::Interval& interval) {
  std::erase_if(interval.users, [&](const Residency::User& user) {
    if (user.event.get() == &command_) return false;
    if (user.space == space_ && !user.transfer) return false;
    command_.waitFor(*user.event, false);
    return true;
  });
  interval.valid.only(space_);
}

TransferCommand& Resolver::bring(MemObject& object, size_t begin, Residency::Interval& interval,
                                 port::MemorySpace target) {
  port::MemorySpace source = interval.valid.all().front();
  for (const port::MemorySpace candidate : interval.valid.all())
    if (State::of(context_).mover(candidate, target)) source = candidate;
  if (!State::of(context_).mover(source, target)) {
    bring(object, begin, interval, port::host_space);
    source = port::host_space;
  }
  TransferCommand& transfer = transferFor(object, begin, interval.end, source, target);
  for (const Residency::User& user : interval.users) {
    const bool produces = user.space == source && user.writes;
    if (user.event.get() != &transfer && (produces || user.space == target))
      transfer.waitFor(*user.event, produces && user.transfer);
  }
  interval.users.push_back({Ref<Event>(&transfer), target, true, true});
  interval.users.push_back({Ref<Event>(&transfer), source, false, true});
  interval.valid.add(target);
  return transfer;
}

TransferCommand& Resolver::transferFor(MemObject& object, size_t begin, size_t end,
                                       port::MemorySpace source, port::MemorySpace target) {
  if (!transfers_.empty() && transfers_.back()->extend(object, begin, end, source, target))
    return *transfers_.back();
  auto transfer = make<TransferCommand>(context_, *State::of(context_).mover(source, target),
                                        object, begin, end, source, target);
  transfer->retain();  // the graph's reference, given up on completion
  transfers_.push_back(transfer.detach());
  return *transfers_.back();
}

}  // namespace weft
