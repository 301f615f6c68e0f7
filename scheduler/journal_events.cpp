#include "scheduler/journal_events.h"

#include <algorithm>
#include <new>

namespace weft {
namespace {

// Copying less than that in between is no slower than another copy.
constexpr size_t worth_a_copy = 512;

static_assert(JournalEvents::placesFor(port::max_device_events) <= port::most_journal_events);

}  // namespace

void JournalEvents::add(uint64_t number, DeviceEvent& event) {
  // They come in order, but where those of rounds begin anew.
  const auto place = std::ranges::upper_bound(
      entries_, number, {}, [](const Entry& entry) { return entry.there.number; });
  lost_ |= place != entries_.end();
  Entry& added = *entries_.insert(place, Entry{});
  added.there.number = event.name = number;
  added.own = event.number;
}

size_t JournalEvents::indexOf(uint64_t number) const noexcept {
  const auto found = std::ranges::lower_bound(
      entries_, number, {}, [](const Entry& entry) { return entry.there.number; });
  return found == entries_.end() || found->there.number != number ? entries_.size()
                                                                  : found - entries_.begin();
}

uint64_t JournalEvents::find(uint64_t number) const noexcept {
  const size_t index = indexOf(number);
  return index == entries_.size() ? 0 : entries_[index].own;
}

void JournalEvents::complete(const DeviceEvent& event) noexcept try {
  const size_t index = indexOf(event.name);
  if (index < shared_) completed_.push_back(index);
} catch (...) {
  lost_ = true;
}

void JournalEvents::describe(Entry& entry) const {
  const DeviceEvent* const event = events_.find(entry.own);
  entry.there = {.number = entry.there.number};
  if (!event) return;
  entry.there.handles = static_cast<int32_t>(event->handles);
  if (event->user && !event->done()) entry.there.status = port::journal_event_open;
  if (event->user || !event->done()) return;
  const auto [run, whole] = event->profile();
  entry.there.profile[0] = run, entry.there.profile[1] = whole;
}

std::vector<JournalEvents::Range> JournalEvents::update(size_t most) {
  const auto isGone = [this](const Entry& entry) { return !events_.find(entry.own); };
  // The device need not hear of those that came and went.
  if (!lost_) entries_.erase(std::remove_if(firstNew(), entries_.end(), isGone), entries_.end());
  if (lost_ || entries_.size() > places_) {
    std::erase_if(entries_, isGone);
    if (entries_.size() > port::most_journal_events) throw std::bad_alloc();
    places_ = std::max(entries_.size(), std::min(placesFor(entries_.size()), most));
    shared_ = live_ = 0;
    completed_.clear();
    lost_ = false;
  }
  std::vector<Range> changed;
  const auto include = [&](size_t first, size_t end) {
    if (changed.empty() || first - changed.back().end > worth_a_copy)
      changed.push_back({first, end});
    changed.back().end = end;
  };
  std::ranges::sort(completed_);
  for (const size_t index : completed_) {
    describe(entries_[index]);
    include(index, index + 1);
  }
  completed_.clear();
  std::for_each(firstNew(), entries_.end(), [this](Entry& entry) { describe(entry); });
  if (shared_ < entries_.size()) include(shared_, entries_.size());
  live_ += entries_.size() - shared_;
  shared_ = entries_.size();
  return changed;
}

void JournalEvents::write(Range range, std::span<port::JournalEvent> table) const {
  for (size_t i = range.first; i < range.end; ++i) table[places_ - 1 - i] = entries_[i].there;
}

void JournalEvents::takeChanged(Range range, std::span<const port::JournalEvent> table,
                                std::vector<port::JournalEvent>& changed) {
  for (size_t i = range.first; i < range.end; ++i) {
    port::JournalEvent now = table[places_ - 1 - i];
    port::JournalEvent& before = entries_[i].there;
    now.number = before.number;  // whatever a kernel wrote there
    if (now == before) continue;
    changed.push_back(now);
    if (before.handles > 0 && now.handles <= 0) --live_;
    before = now;
  }
}

}  // namespace weft
