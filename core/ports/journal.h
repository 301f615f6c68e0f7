// Device-side enqueue on devices whose kernels cannot call the host: what they ask for lies in a
// journal in the device's memory, which the host reads when they have ended. Plain C layout, shared
// by the runtime and the builtin library (compiler/builtins/cl/own_device_queue.cl); change both
// sides together (abi_version).
//
// Sizes called units are of 8 bytes. Kernels write `used`, `touched`, `handles`, `event` and
// statuses by atomic operations. Queues, kernels and launches are numbers, and so are events.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ports/device_queue.h"

namespace weft::port {

// Commands take that much of a queue beside their records: what the host has of each.
inline constexpr uint32_t journal_command_units = 48;

// The status of a user event that has none yet.
inline constexpr int32_t journal_event_open = 2;

struct JournalQueue {
  uint32_t capacity = 0;  // units
  uint32_t used = 0;
};

// What kernels may ask about one that they enqueue, and what launches of it are checked against.
struct JournalKernel {
  uint64_t required_local[3] = {0, 0, 0};  // 0: any
  uint64_t local_bytes = 0;                // static
  uint32_t max_group = 0;                  // work-items
  uint32_t preferred_multiple = 0;
  uint32_t sub_group_size = 0;
  uint32_t local_arguments = 0;
  uint32_t uniform_groups = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(JournalKernel) == 56);

// An event that there was before. The table of them stays from round to round: the oldest is its
// last, and new ones come before the others.
struct JournalEvent {
  uint64_t number = 0;
  int32_t handles = 0;
  int32_t status = 0;  // of a user event; journal_event_open until it is set
  // Of a command's that is complete: its times. Else the second is where they are wanted.
  uint64_t profile[2] = {0, 0};

  bool operator==(const JournalEvent&) const = default;
};
static_assert(sizeof(JournalEvent) == 32);

// Kernels tell where in the table they changed something: a bit for each page of so many events, of
// which the first is the oldest ones'.
inline constexpr uint32_t journal_page_events = 512;
inline constexpr uint32_t journal_touched_words = 6;
inline constexpr uint32_t most_journal_events = journal_touched_words * 32 * journal_page_events;

struct JournalHead {
  // Addresses.
  uint64_t queues = 0;
  uint64_t kernels = 0;
  uint64_t events = 0;  // ordered by number, the highest first
  uint64_t records = 0;
  uint32_t queue_count = 0;
  uint32_t kernel_count = 0;
  uint32_t event_count = 0;
  uint32_t default_queue = 0;  // 1 is the first; 0: there is none
  uint32_t capacity = 0;       // of the records, in units
  uint32_t used = 0;
  int32_t events_left = 0;  // that may be made
  // Upper half of the numbers of events that are made, and of those of its launches. No two
  // journals of the process have the same, so a kernel does not take another one for its own.
  uint32_t round = 0;
  uint64_t local_memory_bytes = 0;
  uint64_t max_items[3] = {0, 0, 0};
  uint32_t touched[journal_touched_words] = {};
};
static_assert(sizeof(JournalHead) == 120);

// One request, in the order of those of its work-item, and behind that which made an event it
// names. Behind it lie `wait_count` events, `local_count` sizes and `block_bytes` bytes.
struct JournalRecord {
  uint32_t units;  // of all of it; 0: there are no more
  uint32_t call;   // a DeviceCall
  int32_t value;   // the flags of an enqueue; a user event's status
  uint32_t kernel;
  uint32_t queue;   // as JournalHead::default_queue
  int32_t handles;  // of the event that it made
  uint64_t event;   // that it made; 0: none
  // Where that event's times are wanted; of a capture_profiling, which there is for each further
  // wish, those of the one that it is behind.
  uint64_t profile;
  uint32_t writer;
  uint32_t wait_count;
  uint32_t local_count;
  uint32_t block_bytes;
  uint32_t block_alignment;
  uint32_t reserved;
  DeviceRange range;
};
static_assert(sizeof(JournalRecord) == 144 && offsetof(JournalRecord, range) == 64);

}  // namespace weft::port
