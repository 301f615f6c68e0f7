#include "scheduler/residency.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "scheduler/state.h"

namespace weft {

bool SpaceSet::has(port::MemorySpace space) const {
  return std::find(spaces_.begin(), spaces_.end(), space) != spaces_.end();
}

void SpaceSet::add(port::MemorySpace space) {
  if (has(space)) return;
  spaces_.push_back(space);
  std::sort(spaces_.begin(), spaces_.end());
}

SpaceSet SpaceSet::intersection(const SpaceSet& other) const {
  SpaceSet both;
  std::set_intersection(spaces_.begin(), spaces_.end(), other.spaces_.begin(), other.spaces_.end(),
                        std::back_inserter(both.spaces_));
  return both;
}

namespace {

MemObject& rootOf(MemObject& object) {
  MemObject* root = &object;
  while (root->parent()) root = root->parent();
  return *root;
}

}  // namespace

Residency::Residency(MemObject& object)
    : state_(State::of(object.context())),
      storage_(object.storage()),
      root_(rootOf(object).weak()) {
  Interval& all = intervals_[0];
  all.end = storage_.size();
  if (storage_.initialisedOnHost()) all.valid.add(port::host_space);
}

Residency::~Residency() {
  {
    const auto tickets = state_.tickets().lock();
    for (DeviceMemory& memory : tickets->memories) memory.remove(*this);
    for (const Ref<Buffer>& spare : spares_)
      if (spare) state_.spareBytes() -= spare->size();
  }
  if (!ending_) return;
  state_.memoryTraffic().noteRelease();
  state_.memoryTraffic().leave();
}

void Residency::endsMemory() noexcept {
  ending_ = true;
  state_.memoryTraffic().enter();
}

Residency& Residency::of(MemObject& object) {
  Storage& storage = object.storage();
  if (!storage.residency()) storage.setResidency(std::make_unique<Residency>(object));
  return static_cast<Residency&>(*storage.residency());
}

bool Residency::inUse() const {
  return std::any_of(intervals_.begin(), intervals_.end(), [](const auto& entry) {
    const auto& users = entry.second.users;
    return std::any_of(users.begin(), users.end(), [](const User& user) {
      return user.claim->admitted || user.claim->allocates;
    });
  });
}

void Residency::usedBy(std::vector<Event*>& events) const {
  for (const auto& [begin, interval] : intervals_)
    for (const User& user : interval.users)
      if (user.claim->admitted) events.push_back(user.claim->command);
}

bool Residency::dirtyIn(port::MemorySpace space) const {
  return std::any_of(intervals_.begin(), intervals_.end(), [&](const auto& entry) {
    const SpaceSet& valid = entry.second.valid;
    return valid.has(space) && valid.all().size() == 1;
  });
}

Residency::Writer Residency::writerBefore(uint64_t number, size_t begin, size_t end) {
  const auto behind = announced_.lower_bound(number);
  if (behind != announced_.begin()) return std::prev(behind)->second;
  const auto [first, last] = cover(begin, end);
  for (auto it = first; it != last; ++it)
    for (const User& user : it->second.users)
      if (user.writes && !user.claim->transfer) return {user.claim->command, user.claim->space};
  return {};
}

bool Residency::isStale(size_t begin, size_t end, port::MemorySpace space) {
  const auto [first, last] = cover(begin, end);
  return std::any_of(first, last, [&](const auto& entry) {
    const auto& users = entry.second.users;
    const bool comes = std::any_of(users.begin(), users.end(), [&](const User& user) {
      return user.claim->transfer && user.claim->space == space;
    });
    return entry.second.needsTransfer(space) && !comes;
  });
}

bool Residency::lost(size_t begin, size_t end) const {
  const auto first = std::prev(intervals_.upper_bound(begin)), last = intervals_.lower_bound(end);
  return std::any_of(first, last, [](const auto& entry) { return entry.second.lost; });
}

bool Residency::hasUnwritten(size_t begin, size_t end) const {
  const auto first = std::prev(intervals_.upper_bound(begin)), last = intervals_.lower_bound(end);
  return std::any_of(first, last, [](const auto& entry) {
    return entry.second.valid.empty() && !entry.second.lost;
  });
}

void Residency::forget(port::MemorySpace space) {
  for (auto& [begin, interval] : intervals_) interval.valid.remove(space);
  merge(0, storage_.size());
}

void Residency::forgetContents() noexcept {
  for (auto& [begin, interval] : intervals_) {
    interval.valid.clear();
    interval.lost = false;
  }
  merge(0, storage_.size());
}

Ref<Buffer> Residency::takeSpare(size_t size, port::MemorySpace space) {
  Ref<Buffer>* best = nullptr;
  for (Ref<Buffer>& spare : spares_) {
    if (!spare || spare->size() != size) continue;
    if (!best || spare->storage().find(space)) best = &spare;
  }
  if (!best) return nullptr;
  state_.spareBytes() -= size;
  return std::exchange(*best, nullptr);
}

// They are as large as the objects that are worth merging, so a program could not tell why its
// memory is gone.
bool Residency::keepSpare(Ref<Buffer>& buffer) noexcept {
  constexpr uint64_t most_bytes = uint64_t{1} << 30;
  const auto room = std::ranges::find(spares_, nullptr, &Ref<Buffer>::get);
  if (room == spares_.end() || state_.spareBytes() + buffer->size() > most_bytes) return false;
  state_.spareBytes() += buffer->size();
  *room = std::move(buffer);
  return true;
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
  return {first, split(end)};
}

void Residency::merge(size_t begin, size_t end) {
  auto it = intervals_.lower_bound(begin);
  if (it != intervals_.begin()) --it;
  while (std::next(it) != intervals_.end() && it->first <= end) {
    const auto next = std::next(it);
    const Interval &a = it->second, &b = next->second;
    if (a.valid != b.valid || a.lost != b.lost || a.users != b.users) {
      ++it;
      continue;
    }
    it->second.end = b.end;
    intervals_.erase(next);
  }
}

void Residency::coarsen() {
  for (auto it = intervals_.begin(); std::next(it) != intervals_.end();) {
    const auto next = std::next(it);
    Interval &a = it->second, &b = next->second;
    // Where nothing was written any contents will do, those that a neighbour's copies have, too.
    const SpaceSet both = a.valid.empty()   ? b.valid
                          : b.valid.empty() ? a.valid
                                            : a.valid.intersection(b.valid);
    const bool same = a.valid == b.valid;
    if (a.lost != b.lost || !a.users.empty() || !b.users.empty() || (both.empty() && !same)) {
      ++it;
      continue;
    }
    a.valid = both;
    a.end = b.end;
    intervals_.erase(next);
  }
  settled_ = 0;
}

void Residency::change(Interval& interval, const Claim& claim, Result result) {
  if (result == Result::unchanged) return;
  if (result == Result::lost) {
    interval.valid.clear();
    interval.lost = true;
    return;
  }
  if (interval.lost && result != Result::written) return;
  interval.lost = false;
  if (result == Result::copied) return interval.valid.add(claim.space);
  interval.valid.only(claim.space);
  supersede(interval, claim, result == Result::written);
}

// The bytes are the claim's from now on: all of them, or those that it changes among others that it
// got there from elsewhere, or that commands of its space left there.
//
// Of those that it runs behind nobody needs to know any more: whoever conflicts with one of them
// conflicts with the claim. So a chain, over several devices too, leaves no long lists behind it.
void Residency::supersede(Interval& interval, const Claim& claim, bool whole) {
  interval.users.overwrite(claim, whole);
  if (!claim.under_way || isUnordered(interval, claim)) return;
  interval.users.removeIf([&](const User& user) {
    const Claim& other = *user.claim;
    if (&other == &claim || !other.admitted) return false;
    if (other.transfer || other.space != claim.space) return !user.current;
    return claim.command->endsAfter(*other.command) &&
           (!user.current || claim.command->failsWith(*other.command));
  });
}

// With the others, all of which are commands of its space.
bool Residency::isUnordered(const Interval& interval, const Claim& claim) noexcept {
  return interval.users.areCommandsOf(claim.space) && !claim.command->hasPredecessors();
}

// Whoever is ordered behind it is behind those whose place it takes, too.
void Residency::replaceReaders(size_t begin, size_t end, const Claim& claim) {
  const auto [first, last] = cover(begin, end);
  for (auto it = first; it != last; ++it) {
    if (isUnordered(it->second, claim)) continue;
    it->second.users.removeIf([&](const User& user) {
      const Claim& other = *user.claim;
      return &other != &claim && !user.writes && other.admitted && other.space == claim.space &&
             claim.command->endsAfter(*other.command);
    });
  }
}

void Residency::enter(size_t begin, size_t end, const Claim& claim, Result result) {
  const auto [first, last] = cover(begin, end);
  for (auto it = first; it != last; ++it) {
    Interval& interval = it->second;
    if (interval.lost && result != Result::written) continue;
    change(interval, claim, result);
    interval.users.makeCurrent(claim);
  }
}

// A copy that failed is none. But if it is the only one, then some of its bytes were overwritten
// since, by somebody who runs behind it, and all are lost.
void Residency::fail(size_t begin, size_t end, const Claim& claim) {
  const auto [first, last] = cover(begin, end);
  for (auto it = first; it != last; ++it) {
    Interval& interval = it->second;
    const bool current =
        std::any_of(interval.users.begin(), interval.users.end(),
                    [&](const User& user) { return user.claim == &claim && user.current; });
    if (!current || interval.lost) continue;
    if (claim.transfer) interval.valid.remove(claim.space);
    if (!claim.transfer || interval.valid.empty()) change(interval, claim, Result::lost);
  }
}

void Residency::settle(size_t begin, size_t end, const Claim& claim, Result result) {
  const auto [first, last] = cover(begin, end);
  for (auto it = first; it != last; ++it) {
    Interval& interval = it->second;
    interval.users.remove(claim);
    change(interval, claim, result);
    ++settled_;
  }
  merge(begin, end);
  // Where all are in use it does not help, so what it costs is spread.
  if (overLimit() && settled_ >= intervals_.size()) coarsen();
}

void Residency::write(const ByteRows& rows, port::MemorySpace space) {
  SpaceSet only;
  only.only(space);
  for (size_t i = 0; i < rows.count(); ++i) {
    const size_t begin = rows.row(i);
    const size_t end = begin + rows.bytes;
    const auto& [at, holder] = *std::prev(intervals_.upper_bound(begin));
    const bool known = holder.valid == only;
    if (known && holder.end >= rows.end()) break;  // so for all that is left
    if (known && holder.end >= end) continue;
    const auto [first, last] = cover(begin, end);
    for (auto it = first; it != last; ++it) {
      it->second.valid = only;
      it->second.lost = false;
    }
  }
  merge(rows.begin, rows.end());
  if (overLimit()) coarsen();
}

std::vector<MissingBytes> missingBytes(MemObject& object,
                                       std::span<const std::pair<size_t, size_t>> ranges,
                                       port::MemorySpace space) {
  std::vector<MissingBytes> missing;
  if (object.context().singleSpace() || object.storage().inPlace()) return missing;
  const State& state = State::of(object.context());
  const auto tickets = State::of(object.context()).tickets().lock();
  const Residency::Map& intervals = Residency::of(object).intervals();
  for (const auto& [begin, end] : ranges) {
    for (auto it = std::prev(intervals.upper_bound(begin));
         it != intervals.end() && it->first < end; ++it) {
      if (!it->second.needsTransfer(space)) continue;
      const Device* const source = state.owner(it->second.valid.all().front());
      const uint64_t bytes = std::min(end, it->second.end) - std::max(begin, it->first);
      const auto known = std::find_if(missing.begin(), missing.end(),
                                      [&](const auto& entry) { return entry.source == source; });
      if (known == missing.end())
        missing.push_back({source, bytes});
      else
        known->bytes += bytes;
    }
  }
  return missing;
}

}  // namespace weft
