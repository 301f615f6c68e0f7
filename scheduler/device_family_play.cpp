// What kernels left in a journal, played against the rules of families.
#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "core/geometry.h"
#include "scheduler/device_family_parts.h"

namespace weft {
namespace {

constexpr size_t least_block_alignment = 16;

size_t alignmentOf(const JournalEntry& entry) {
  return std::bit_ceil(
      std::clamp<size_t>(entry.record->block_alignment, least_block_alignment, family_alignment));
}

size_t alignUp(size_t at, size_t alignment) { return (at + alignment - 1) / alignment * alignment; }

}  // namespace

void DeviceFamily::play(Freed& freed) {
  const std::vector<JournalEntry> entries = std::exchange(requests_, {});
  const Ref<OwnMemory> blocks = std::exchange(block_memory_, nullptr);  // null: there are none
  const std::vector<port::JournalEvent> changed = journal_.takeChangedEvents();
  if (blocks) upload(std::exchange(block_bytes_, {}), blocks);
  size_t at = 0;
  for (const JournalEntry& request : entries) {
    at = alignUp(at, alignmentOf(request));
    place(request, blocks, at, freed);
    at += request.block.size();
  }
  for (const auto& [record, waits, sizes, block] : entries) {
    if (record->event == 0) continue;
    const bool user = port::DeviceCall(record->call) == port::DeviceCall::create_user_event;
    takeOver(record->event, user ? record->value : port::journal_event_open, record->profile,
             freed);
  }
  for (const port::JournalEvent& event : changed)
    takeOver(event.number, event.status, event.profile[0] == 0 ? event.profile[1] : 0, freed);
  for (const JournalEntry& request : entries)
    takeHandles(request.record->event, request.record->handles);
  for (const port::JournalEvent& event : changed) takeHandles(event.number, event.handles);
}

// What kernels did to an event.
void DeviceFamily::takeOver(uint64_t number, int32_t status, uint64_t profile, Freed& freed) {
  setEventStatus(known_.find(number), status, freed);
  captureProfiling(known_.find(number), profile);
}

// As they lie in the device's memory.
std::vector<std::byte> DeviceFamily::blocksOf(std::span<const JournalEntry> entries) {
  std::vector<std::byte> bytes;
  for (const JournalEntry& entry : entries) {
    bytes.resize(alignUp(bytes.size(), alignmentOf(entry)));
    bytes.insert(bytes.end(), entry.block.begin(), entry.block.end());
  }
  return bytes;
}

void DeviceFamily::place(const JournalEntry& entry, const Ref<OwnMemory>& blocks, size_t offset,
                         Freed& freed) {
  const port::JournalRecord& record = *entry.record;
  DeviceEvent* event = nullptr;
  const auto name = [&] {
    if (!event) throw std::bad_alloc();
    known_.add(record.event, *event);
  };
  switch (port::DeviceCall(record.call)) {
    case port::DeviceCall::enqueue_kernel:
    case port::DeviceCall::enqueue_marker: {
      if (record.writer >= round_.size() || record.queue - 1 >= queues_.size()) return;
      std::unique_ptr<Child> child = childOf(entry, blocks, offset);
      if (record.event != 0) {
        child->event = event = events().make();
        name();
      }
      enter(std::move(child), entry, freed);
      return;
    }
    case port::DeviceCall::create_user_event:
      event = makeUserEvent();
      return name();
    case port::DeviceCall::capture_profiling:
      return captureProfiling(known_.find(entry.waits.empty() ? 0 : entry.waits[0]),
                              record.profile);
    default:
      return;
  }
}

std::unique_ptr<DeviceFamily::Child> DeviceFamily::childOf(const JournalEntry& entry,
                                                           const Ref<OwnMemory>& blocks,
                                                           size_t offset) {
  const port::JournalRecord& record = *entry.record;
  const uint64_t units = uint64_t{record.units} + port::journal_command_units;
  auto child = std::make_unique<Child>(*this, *queues_[record.queue - 1], units * sizeof(uint64_t));
  if (port::DeviceCall(record.call) == port::DeviceCall::enqueue_marker) return child;
  child->block = blocks;
  if (blocks) child->block_address = blocks->get().deviceAddress() + offset;
  child->timed = record.event != 0;
  child->wants_start = false;
  port::LaunchArgument& first = child->arguments.emplace_back();
  first.value = &child->block_address;
  first.size = sizeof child->block_address;
  for (const uint64_t size : entry.local_sizes) {
    port::LaunchArgument& argument = child->arguments.emplace_back();
    argument.kind = ArgumentKind::local_pointer;
    argument.size = size;
  }
  return child;
}

void DeviceFamily::enter(std::unique_ptr<Child> child, const JournalEntry& entry, Freed& freed) {
  std::vector<uint64_t> waits;
  for (const uint64_t number : entry.waits) waits.push_back(known_.find(number));
  child->links.resize(waits.size());
  const cl_int failure = setUp(*child, entry);
  Child& entered = *child.release();
  EnqueuedCommands::enter(round_[entry.record->writer]->scope(), entered, waits);
  if (failure < 0) entered.within->fail(failure);
  arrive(entered, false, freed);
  settle(freed);
}

// Gives it its work, if it has any. Kernels check what they enqueue, so it can be done.
cl_int DeviceFamily::setUp(Child& child, const JournalEntry& entry) try {
  const port::JournalRecord& record = *entry.record;
  if (port::DeviceCall(record.call) == port::DeviceCall::enqueue_marker) return CL_SUCCESS;
  const uint32_t kernel = blocks_.at(record.kernel - 1);
  const KernelInfo& info = code_.build->image->kernels[kernel];
  const port::DeviceRange& range = record.range;
  const bool chooses = std::all_of(range.local, range.local + 3, [](auto n) { return n == 0; });
  child.record = makeLaunchRecord(
      {range.dimensions, range.offset, range.global, chooses ? nullptr : range.local}, info,
      device_.capabilities(), largestGroup(kernel));
  child.writes = info.uses_device_queue;
  port::GroupBox box;
  std::copy_n(child.record.group_count, 3, box.end);
  if (box.count() == 0) return CL_SUCCESS;
  child.work = port::Launch{&code_.module(), kernel, &child.record, box, child.arguments, nullptr};
  return CL_SUCCESS;
} catch (...) {
  return currentFailure();
}

void DeviceFamily::takeHandles(uint64_t number, int32_t handles) {
  DeviceEvent* const event = events().find(known_.find(number));
  if (!event) return;
  if (handles > 0)
    event->handles = static_cast<uint32_t>(handles);
  else
    forsake(*event);
}

}  // namespace weft
