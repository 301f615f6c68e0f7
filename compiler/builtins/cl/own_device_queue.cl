// Requests about device queues on devices that cannot call the host: they are left in a journal
// (core/ports/journal.h), which the host reads when the kernel has ended. What the program wants to
// know at once is found here.
#include "types.def"
#include "device_queue.def"

enum {
  success = 0,
  invalid_arg_size = -51,
  out_of_resources = -5,
  invalid_wait_list = -57,
  event_allocation_failure = -100,
  enqueue_failure = -101,
  invalid_queue = -102,
  invalid_range = -160,
  queue_full = -161,
};
#define COMMAND_UNITS 48
#define EVENT_OPEN 2
#define PAGE_EVENTS 512

typedef struct {
  uint capacity;
  atomic_uint used;
} Room;

typedef struct {
  ulong required_local[3];
  ulong local_bytes;
  uint max_group;
  uint preferred_multiple;
  uint sub_group_size;
  uint local_arguments;
  uint uniform_groups;
  uint reserved;
} KernelFacts;

typedef struct {
  ulong number;
  atomic_int handles;
  atomic_int status;
  ulong run_time;  // 0: not known yet
  atomic_ulong whole_time;
} KnownEvent;

typedef struct {
  ulong queues;
  ulong kernels;
  ulong events;
  ulong records;
  uint queue_count;
  uint kernel_count;
  uint event_count;
  uint default_queue;
  uint capacity;
  atomic_uint used;
  atomic_int events_left;
  uint round;
  ulong local_memory_bytes;
  ulong max_items[3];
  atomic_uint touched[6];
} Journal;

typedef struct {
  uint units;
  uint call;
  atomic_int value;
  uint kernel_number;
  uint queue;
  atomic_int handles;
  atomic_ulong event;
  atomic_ulong profile;
  uint writer;
  uint wait_count;
  uint local_count;
  uint block_bytes;
  uint block_alignment;
  uint reserved;
  ndrange_t range;
} Record;
#define RECORD_UNITS (sizeof(Record) / sizeof(ulong))

// The launch's.
ulong __weft_journal(void) __attribute__((const));
ulong __weft_journal_writer(void) __attribute__((const));

#define ADD(where, what) \
  __opencl_atomic_fetch_add(where, what, memory_order_relaxed, memory_scope_device)
#define LOAD(where) __opencl_atomic_load(where, memory_order_relaxed, memory_scope_device)
#define OR(where, what) \
  __opencl_atomic_fetch_or(where, what, memory_order_relaxed, memory_scope_device)
#define STORE(where, what) \
  __opencl_atomic_store(where, what, memory_order_relaxed, memory_scope_device)

INLINE __global ulong* recordsOf(__global Journal* journal) {
  return (__global ulong*)journal->records;
}

// Null: there is no such kernel.
INLINE const __global KernelFacts* factsOf(const __global Journal* journal,
                                           const __private Request* request) {
  const ulong number = (ulong)request->kernel_entry;
  if (number == 0 || number > journal->kernel_count) return 0;
  return (const __global KernelFacts*)journal->kernels + (number - 1);
}

// Null: it is none of those that there were before.
INLINE __global KnownEvent* knownEvent(const __global Journal* journal, ulong number) {
  __global KnownEvent* events = (__global KnownEvent*)journal->events;
  uint first = 0, end = journal->event_count;
  while (first < end) {
    const uint middle = first + (end - first) / 2;
    if (events[middle].number == number) return events + middle;
    if (events[middle].number > number)
      first = middle + 1;
    else
      end = middle;
  }
  return 0;
}

// The host looks only where kernels say that they changed something.
INLINE void touch(__global Journal* journal, const __global KnownEvent* event) {
  const __global KnownEvent* end =
      (const __global KnownEvent*)journal->events + journal->event_count;
  const uint page = (uint)(end - event - 1) / PAGE_EVENTS;
  __global atomic_uint* pages = &journal->touched[page / 32];
  const uint own = 1u << page % 32;
  if (!(LOAD(pages) & own)) OR(pages, own);
}

// The record that made an event; null: none of this round did.
INLINE __global Record* madeBy(const __global Journal* journal, ulong number) {
  const ulong at = (uint)number - 1;
  if (number >> 32 != journal->round || at + RECORD_UNITS > journal->capacity) return 0;
  __global Record* record = (__global Record*)((__global ulong*)journal->records + at);
  return LOAD(&record->event) == number ? record : 0;
}

// Has the program any reference to the event?
INLINE bool isValid(__global Journal* journal, ulong number) {
  __global Record* record = madeBy(journal, number);
  if (record) return LOAD(&record->handles) > 0;
  __global KnownEvent* event = knownEvent(journal, number);
  return event && LOAD(&event->handles) > 0;
}

// How many references to a valid event there were.
INLINE int addReferences(__global Journal* journal, ulong number, int count) {
  __global Record* record = madeBy(journal, number);
  if (record) return ADD(&record->handles, count);
  __global KnownEvent* event = knownEvent(journal, number);
  touch(journal, event);
  return ADD(&event->handles, count);
}

// Null: the journal is full.
INLINE __global Record* room(__global Journal* journal, ulong units) {
  if (units > journal->capacity || LOAD(&journal->used) >= journal->capacity) return 0;
  const uint at = ADD(&journal->used, (uint)units);
  __global ulong* records = recordsOf(journal);
  if (at + units <= journal->capacity) return (__global Record*)(records + at);
  // The first that does not fit ends the records.
  if (at < journal->capacity) records[at] = 0;
  return 0;
}

INLINE ulong nameEvent(__global Journal* journal, __global Record* record) {
  const ulong at = (__global ulong*)record - recordsOf(journal);
  return (ulong)journal->round << 32 | (at + 1);
}

// Everything but what is behind it.
INLINE void fill(__global Record* record, const __private Request* request, ulong units) {
  record->units = (uint)units;
  record->call = request->call;
  STORE(&record->value, request->value);
  record->queue = (uint)request->queue;
  STORE(&record->profile, 0ul);
  record->writer = (uint)__weft_journal_writer();
  record->wait_count = request->wait_count;
  record->local_count = request->local_count;
  record->block_bytes = request->block_bytes;
  record->block_alignment = request->block_alignment;
}

INLINE bool mayMakeEvent(__global Journal* journal) {
  if (ADD(&journal->events_left, -1) > 0) return true;
  ADD(&journal->events_left, 1);
  return false;
}

// The last that is written of a record: others may use the event from now on.
INLINE ulong makeEvent(__global Journal* journal, __global Record* record) {
  const ulong number = nameEvent(journal, record);
  STORE(&record->handles, 1);
  STORE(&record->event, number);
  return number;
}

INLINE ulong createUserEvent(__global Journal* journal, const __private Request* request) {
  if (!mayMakeEvent(journal)) return 0;
  __global Record* record = room(journal, RECORD_UNITS);
  if (!record) {
    ADD(&journal->events_left, 1);
    return 0;
  }
  fill(record, request, RECORD_UNITS);
  STORE(&record->value, EVENT_OPEN);
  return makeEvent(journal, record);
}

INLINE bool isChosen(const __private ndrange_t* range) {
  return range->localWorkSize[0] == 0 && range->localWorkSize[1] == 0 &&
         range->localWorkSize[2] == 0;
}

// As the host checks it (core/geometry.h).
INLINE bool isRange(const __global Journal* journal, const __global KernelFacts* facts,
                    const __private ndrange_t* range) {
  if (range->workDimension < 1 || range->workDimension > 3) return false;
  const bool chosen = isChosen(range), required = facts->required_local[0] != 0;
  bool empty = false;
  ulong items = 1;
  for (uint d = 0; d < 3; ++d) {
    const bool used = d < range->workDimension;
    const ulong size = used ? range->globalWorkSize[d] : 1;
    if (used && range->globalWorkOffset[d] > ULONG_MAX - size) return false;
    empty |= size == 0;
  }
  if (chosen && (empty || !required)) return true;
  for (uint d = 0; d < 3; ++d) {
    const bool used = d < range->workDimension;
    const ulong size = used ? range->globalWorkSize[d] : 1;
    const ulong extent =
        chosen ? facts->required_local[d] : used ? range->localWorkSize[d] : 1;
    if (extent == 0 || extent > journal->max_items[d]) return false;
    if (facts->uniform_groups && size % extent != 0) return false;
    if (required && extent != facts->required_local[d]) return false;
    items *= extent;
    if (items > facts->max_group) return false;
  }
  return true;
}

INLINE int checkKernel(const __global Journal* journal, const __private Request* request) {
  const __global KernelFacts* facts = factsOf(journal, request);
  if (!facts) return enqueue_failure;
  if (!isRange(journal, facts, request->range)) return invalid_range;
  if (request->local_count != facts->local_arguments) return invalid_arg_size;
  ulong bytes = facts->local_bytes;
  for (uint i = 0; i < request->local_count; ++i) {
    const ulong size = request->local_sizes[i];
    if (size == 0) return invalid_arg_size;
    if (size > journal->local_memory_bytes) return out_of_resources;
    bytes += size;
  }
  return bytes > journal->local_memory_bytes ? out_of_resources : success;
}

INLINE int checkWaits(__global Journal* journal, const __private Request* request) {
  if ((request->wait_count == 0) != (request->waits == 0)) return invalid_wait_list;
  const __generic ulong* waits = request->waits;
  for (uint i = 0; i < request->wait_count; ++i)
    if (!isValid(journal, waits[i])) return invalid_wait_list;
  return success;
}

INLINE void copyBlock(__global ulong* to, const __generic void* block, uint bytes) {
  const __generic uchar* from = block;
  // The compiler sees that most are whole words.
  if (bytes % sizeof(uint) == 0 && (ulong)block % sizeof(uint) == 0) {
    for (uint i = 0; i < bytes / sizeof(uint); ++i)
      ((__global uint*)to)[i] = ((const __generic uint*)from)[i];
    return;
  }
  for (uint i = 0; i < bytes; ++i) ((__global uchar*)to)[i] = from[i];
}

// What follows the checks of a command.
INLINE int append(__global Journal* journal, const __private Request* request) {
  const ulong block_units = ((ulong)request->block_bytes + 7) / 8;
  const ulong units = RECORD_UNITS + request->wait_count + request->local_count + block_units;
  __global Room* queue = (__global Room*)journal->queues + (request->queue - 1);
  if (units > queue->capacity) return queue_full;
  const uint taken = (uint)units + COMMAND_UNITS;
  const uint used = ADD(&queue->used, taken);
  __global Record* record = 0;
  if (used <= queue->capacity && taken <= queue->capacity - used) record = room(journal, units);
  if (!record) {
    ADD(&queue->used, -taken);
    return queue_full;
  }
  fill(record, request, units);
  record->kernel_number = request->call == call_enqueue_kernel ? (uint)(ulong)request->kernel_entry : 0;
  __global ulong* at = (__global ulong*)(record + 1);
  for (uint i = 0; i < request->wait_count; ++i)
    *at++ = ((const __generic ulong*)request->waits)[i];
  for (uint i = 0; i < request->local_count; ++i) *at++ = request->local_sizes[i];
  copyBlock(at, request->block, request->block_bytes);
  if (request->call == call_enqueue_kernel) record->range = *request->range;
  if (request->returned_event)
    *(__generic ulong*)request->returned_event = makeEvent(journal, record);
  else
    STORE(&record->event, 0ul);
  return success;
}

INLINE int enqueue(__global Journal* journal, const __private Request* request) {
  const bool marker = request->call == call_enqueue_marker;
  // "event_ret must not be NULL as otherwise this is a no-op."
  if (marker && !request->returned_event) return success;
  if (request->queue == 0 || request->queue > journal->queue_count) return invalid_queue;
  int code = marker ? success : checkKernel(journal, request);
  if (code == success) code = checkWaits(journal, request);
  if (code != success) return code;
  if (request->returned_event && !mayMakeEvent(journal)) return event_allocation_failure;
  code = append(journal, request);
  if (code != success && request->returned_event) ADD(&journal->events_left, 1);
  return code;
}

// Of the largest group of the range, or the most there may be where the host chooses it.
INLINE ulong itemsOf(const __global Journal* journal, const __global KernelFacts* facts,
                     const __private ndrange_t* range) {
  if (!facts || !isRange(journal, facts, range)) return 0;
  const bool chosen = isChosen(range), required = facts->required_local[0] != 0;
  ulong items = 1, all = 1;
  for (uint d = 0; d < range->workDimension; ++d) {
    items *= chosen && required ? facts->required_local[d] : range->localWorkSize[d];
    all = min(all * max(range->globalWorkSize[d], 1ul), (ulong)facts->max_group);
  }
  return chosen && !required ? all : items;
}

INLINE long answerAboutKernel(const __global Journal* journal,
                              const __private Request* request) {
  const __global KernelFacts* facts = factsOf(journal, request);
  if (!facts) return 0;
  const ulong width = max(facts->sub_group_size, 1u);
  switch (request->call) {
    case call_work_group_size: return facts->max_group;
    case call_work_group_multiple: return facts->preferred_multiple;
    case call_sub_group_count:
      return (long)((itemsOf(journal, facts, request->range) + width - 1) / width);
    case call_sub_group_size:
      return (long)min(itemsOf(journal, facts, request->range), width);
    case call_sub_group_local_size:
      return (uint)request->value > facts->max_group / width
                 ? 0
                 : (long)((uint)request->value * width);
    case call_max_sub_groups: return (long)((facts->max_group + width - 1) / width);
  }
  return 0;
}

INLINE void retainEvent(__global Journal* journal, ulong number) {
  if (isValid(journal, number)) addReferences(journal, number, 1);
}

INLINE void releaseEvent(__global Journal* journal, ulong number) {
  if (isValid(journal, number) && addReferences(journal, number, -1) == 1)
    ADD(&journal->events_left, 1);
}

// "The status can be either CL_COMPLETE or a negative integer value indicating an error." The first
// one counts.
INLINE void setEventStatus(__global Journal* journal, ulong number, int status) {
  if (!isValid(journal, number) || status > 0) return;
  __global Record* record = madeBy(journal, number);
  if (record && record->call != call_create_user_event) return;
  __global KnownEvent* event = record ? 0 : knownEvent(journal, number);
  if (event) touch(journal, event);
  __global atomic_int* place = record ? &record->value : &event->status;
  int open = EVENT_OPEN;
  __opencl_atomic_compare_exchange_strong(place, &open, status, memory_order_relaxed,
                                          memory_order_relaxed, memory_scope_device);
}

// A wish for the times of an event that is known to have another one.
INLINE void captureAnother(__global Journal* journal, const __private Request* request) {
  const ulong units = RECORD_UNITS + 1;
  __global Record* record = room(journal, units);
  if (!record) return;
  fill(record, request, units);
  record->wait_count = 1;
  record->local_count = record->block_bytes = record->block_alignment = 0;
  STORE(&record->event, 0ul);
  STORE(&record->profile, (ulong)request->profile);
  *(__global ulong*)(record + 1) = request->event;
}

// The times of what has run already are here.
INLINE void captureProfiling(__global Journal* journal, const __private Request* request) {
  __global ulong* profile = request->profile;
  if (!profile || !isValid(journal, request->event)) return;
  __global Record* record = madeBy(journal, request->event);
  __global KnownEvent* event = record ? 0 : knownEvent(journal, request->event);
  if (event && event->run_time != 0) {
    profile[0] = event->run_time;
    profile[1] = LOAD(&event->whole_time);
    return;
  }
  if (event) touch(journal, event);
  ulong nobody = 0;
  if (!__opencl_atomic_compare_exchange_strong(record ? &record->profile : &event->whole_time,
                                               &nobody, (ulong)profile, memory_order_relaxed,
                                               memory_order_relaxed, memory_scope_device))
    captureAnother(journal, request);
}

// Null: there is none, or what is there is not the launch's.
INLINE __global Journal* ownJournal(void) {
  __global Journal* journal = (__global Journal*)__weft_journal();
  return journal && journal->round == __weft_journal_writer() >> 32 ? journal : 0;
}

long __weft_own_device_queue(const __private Request* request) {
  __global Journal* journal = ownJournal();
  if (!journal) return request->call <= call_enqueue_marker ? enqueue_failure : 0;
  switch (request->call) {
    case call_enqueue_kernel:
    case call_enqueue_marker: return enqueue(journal, request);
    case call_default_queue: return journal->default_queue;
    case call_create_user_event: return (long)createUserEvent(journal, request);
    case call_retain_event: retainEvent(journal, request->event); return 0;
    case call_release_event: releaseEvent(journal, request->event); return 0;
    case call_set_event_status: setEventStatus(journal, request->event, request->value); return 0;
    case call_capture_profiling: captureProfiling(journal, request); return 0;
    case call_is_valid_event: return isValid(journal, request->event);
  }
  return answerAboutKernel(journal, request);
}
