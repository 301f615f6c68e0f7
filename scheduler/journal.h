// The host's copy of a journal (core/ports/journal.h): written before kernels run, read after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/device.h"
#include "core/ports/journal.h"
#include "scheduler/journal_events.h"

namespace weft {

// One request.
struct JournalEntry {
  const port::JournalRecord* record;
  std::span<const uint64_t> waits;
  std::span<const uint64_t> local_sizes;
  std::span<const std::byte> block;
};

class JournalCopy {
 public:
  // Of a journal in that memory. What `head` does not say yet, the tables say. Gives what is to be
  // copied to the device before kernels run. Throws std::bad_alloc.
  std::vector<std::span<const std::byte>> begin(const port::Memory& memory, port::JournalHead head,
                                                std::span<const port::JournalQueue> queues,
                                                std::span<const port::JournalKernel> kernels,
                                                JournalEvents& events);
  // Where its head is.
  uint64_t offset() const { return head_at_; }

  // To be copied from the device: enough for few events and a few records.
  std::span<std::byte> firstPart();
  // What firstPart() left over. Throws std::bad_alloc.
  std::vector<std::span<std::byte>> otherParts();
  size_t offsetOf(std::span<const std::byte> part) const { return part.data() - bytes_.data(); }

  // Is what came back what begin() made? Else the tables never got to the device.
  bool isOwn() const { return head().round == round_; }
  // Once all of it has been copied, and once only: those of the events that kernels did anything
  // to. Throws std::bad_alloc.
  std::vector<port::JournalEvent> takeChangedEvents();
  // False: there are no more. `at` is where the next one begins, 0 for the first.
  bool next(size_t& at, JournalEntry& entry) const;

 private:
  const port::JournalHead& head() const {
    return *reinterpret_cast<const port::JournalHead*>(bytes_.data() + head_at_);
  }
  std::span<port::JournalEvent> table();
  std::span<std::byte> bytesOf(JournalEvents::Range range);
  bool hasFewEvents() const;
  std::vector<JournalEvents::Range> touchedEvents() const;
  size_t recordBytes() const;

  uint64_t capacity_ = 0;
  // As the memory: places for events, of which the last are used, the head, its tables and records.
  std::vector<std::byte> bytes_;
  size_t head_at_ = 0, records_at_ = 0;
  JournalEvents* events_ = nullptr;
  uint32_t round_ = 0;
};

}  // namespace weft
