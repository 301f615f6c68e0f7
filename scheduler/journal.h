// The host's copy of a journal (core/ports/journal.h): written before kernels run, read after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/device.h"
#include "core/ports/journal.h"

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
  // Of a journal in that memory. What `head` does not say yet, the tables say. Throws
  // std::bad_alloc.
  void begin(const port::Memory& memory, port::JournalHead head,
             std::span<const port::JournalQueue> queues,
             std::span<const port::JournalKernel> kernels, std::vector<port::JournalEvent> events);
  // To be copied to the device before kernels run.
  std::span<const std::byte> tables() const { return {bytes_.data(), tables_bytes_}; }

  // To be copied from the device, from its start: enough for a few records.
  std::span<std::byte> firstPart();
  // What firstPart() left over. Throws std::bad_alloc.
  std::span<std::byte> secondPart();
  size_t offsetOf(std::span<const std::byte> part) const { return part.data() - bytes_.data(); }

  // Is what came back what begin() made? Else the tables never got to the device.
  bool isOwn() const;
  // Once all of it has been copied.
  // Those of the events that kernels did anything to. Throws std::bad_alloc.
  std::vector<port::JournalEvent> changedEvents() const;
  // False: there are no more. `at` is where the next one begins, 0 for the first.
  bool next(size_t& at, JournalEntry& entry) const;

 private:
  size_t recordBytes() const;

  uint64_t capacity_ = 0;
  std::vector<std::byte> bytes_;
  size_t tables_bytes_ = 0;
  std::vector<port::JournalEvent> events_;  // as they were
  size_t events_at_ = 0;
  uint32_t round_ = 0;
};

}  // namespace weft
