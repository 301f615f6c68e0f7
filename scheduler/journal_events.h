// The table of events in a journal (core/ports/journal.h), as the host has it and as it knows the
// device's. Only what either side changed is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/enqueued_commands.h"
#include "core/ports/journal.h"

namespace weft {

class JournalEvents {
 public:
  explicit JournalEvents(DeviceEvents& events) : events_(events) {}

  // So that making the table anew costs no more than what was added since.
  static constexpr size_t placesFor(size_t events) { return events + events / 4 + 128; }

  // From the oldest on.
  struct Range {
    size_t first, end;
  };

  // Kernels know an event by that number from now on. Throws std::bad_alloc.
  void add(uint64_t number, DeviceEvent& event);
  // Our number for an event; 0: it is gone.
  uint64_t find(uint64_t number) const noexcept;
  // Its times are known.
  void complete(const DeviceEvent& event) noexcept;
  // What the device has may be anything.
  void forget() noexcept { lost_ = true; }

  // Before kernels run: what the device has not got. The table has places for `most` events, or for
  // all that there are. Throws std::bad_alloc.
  std::vector<Range> update(size_t most);
  // Those that the program may still name.
  size_t live() const { return live_; }
  // In the table.
  size_t count() const { return shared_; }
  size_t places() const { return places_; }
  // `table` has all places, the oldest event in the last.
  void write(Range range, std::span<port::JournalEvent> table) const;

  // After that. Those that kernels did anything to, in a part of the table that came back. Throws
  // std::bad_alloc.
  void takeChanged(Range range, std::span<const port::JournalEvent> table,
                   std::vector<port::JournalEvent>& changed);

 private:
  struct Entry {
    port::JournalEvent there;  // on the device, once it was copied
    uint64_t own = 0;
  };

  size_t indexOf(uint64_t number) const noexcept;
  void describe(Entry& entry) const;
  auto firstNew() { return entries_.begin() + static_cast<std::ptrdiff_t>(shared_); }

  DeviceEvents& events_;
  std::vector<Entry> entries_;     // ordered by number; some are gone
  size_t shared_ = 0;              // the device knows so many
  std::vector<size_t> completed_;  // of those, since
  size_t places_ = 0, live_ = 0;
  bool lost_ = true;
};

}  // namespace weft
