#include "scheduler/journal.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace weft {
namespace {

constexpr size_t unit = sizeof(uint64_t);
constexpr size_t first_records = 32 << 10;
// They are copied with the head: another copy would take longer.
constexpr size_t few_events = 1024;

template <class T>
size_t append(std::vector<std::byte>& bytes, std::span<const T> table) {
  static_assert(sizeof(T) % unit == 0);
  const size_t at = bytes.size();
  const auto added = std::as_bytes(table);
  bytes.insert(bytes.end(), added.begin(), added.end());
  return at;
}

}  // namespace

std::vector<std::span<const std::byte>> JournalCopy::begin(
    const port::Memory& memory, port::JournalHead head, std::span<const port::JournalQueue> queues,
    std::span<const port::JournalKernel> kernels, JournalEvents& events) {
  const uint64_t address = memory.deviceAddress();
  capacity_ = memory.size();
  events_ = &events;
  round_ = head.round;
  const auto changed = events.update(capacity_ / 4 * 3 / sizeof(port::JournalEvent));
  head_at_ = events.places() * sizeof(port::JournalEvent);
  bytes_.resize(head_at_ + sizeof head);
  head.event_count = static_cast<uint32_t>(events.count());
  head.events_left =
      static_cast<int32_t>(port::max_device_events) - static_cast<int32_t>(events.live());
  head.queue_count = static_cast<uint32_t>(queues.size());
  head.queues = address + append(bytes_, queues);
  head.kernel_count = static_cast<uint32_t>(kernels.size());
  head.kernels = address + append(bytes_, kernels);
  records_at_ = bytes_.size();
  if (records_at_ >= capacity_) throw std::bad_alloc();
  head.records = address + records_at_;
  head.capacity = static_cast<uint32_t>((capacity_ - records_at_) / unit);
  const size_t events_at = offsetOf(bytesOf({0, events.count()}));
  head.events = address + events_at;
  std::memcpy(bytes_.data() + head_at_, &head, sizeof head);
  std::vector<std::span<const std::byte>> parts;
  for (const JournalEvents::Range range : changed) {
    events.write(range, table());
    if (!hasFewEvents()) parts.push_back(bytesOf(range));
  }
  const size_t first = hasFewEvents() ? events_at : head_at_;
  parts.push_back(std::span(bytes_).subspan(first));
  return parts;
}

std::span<port::JournalEvent> JournalCopy::table() {
  return {reinterpret_cast<port::JournalEvent*>(bytes_.data()), events_->places()};
}

std::span<std::byte> JournalCopy::bytesOf(JournalEvents::Range range) {
  return std::as_writable_bytes(
      table().subspan(events_->places() - range.end, range.end - range.first));
}

bool JournalCopy::hasFewEvents() const { return events_->count() <= few_events; }

std::span<std::byte> JournalCopy::firstPart() {
  bytes_.resize(std::min<uint64_t>(records_at_ + first_records, capacity_));
  return hasFewEvents() ? std::span(bytes_).subspan(offsetOf(bytesOf({0, events_->count()})))
                        : std::span(bytes_).subspan(head_at_);
}

std::vector<std::span<std::byte>> JournalCopy::otherParts() {
  std::vector<std::span<std::byte>> parts;
  const size_t known = bytes_.size();
  const size_t all = records_at_ + recordBytes();
  if (all > known) {
    bytes_.resize(all);
    parts.push_back(std::span(bytes_).subspan(known));
  }
  if (hasFewEvents()) return parts;
  for (const JournalEvents::Range range : touchedEvents()) parts.push_back(bytesOf(range));
  return parts;
}

// Neighbours in one.
std::vector<JournalEvents::Range> JournalCopy::touchedEvents() const {
  std::vector<JournalEvents::Range> ranges;
  constexpr size_t page = port::journal_page_events;
  for (size_t first = 0; first < events_->count(); first += page) {
    const size_t bit = first / page;
    if (!(head().touched[bit / 32] >> bit % 32 & 1)) continue;
    if (ranges.empty() || ranges.back().end != first) ranges.push_back({first, first});
    ranges.back().end = std::min(first + page, events_->count());
  }
  return ranges;
}

std::vector<port::JournalEvent> JournalCopy::takeChangedEvents() {
  std::vector<port::JournalEvent> changed;
  for (const JournalEvents::Range range : touchedEvents())
    events_->takeChanged(range, table(), changed);
  return changed;
}

// A kernel that writes where it should not may have written here: sizes are what they were.
size_t JournalCopy::recordBytes() const {
  return std::min<size_t>(head().used, (capacity_ - records_at_) / unit) * unit;
}

bool JournalCopy::next(size_t& at, JournalEntry& entry) const {
  const std::span<const std::byte> records =
      std::span(bytes_).subspan(records_at_).first(recordBytes());
  if (records.size() - at < sizeof(port::JournalRecord)) return false;
  const auto& record = *reinterpret_cast<const port::JournalRecord*>(records.data() + at);
  const size_t behind = (size_t{record.wait_count} + record.local_count) * unit;
  const size_t bytes = size_t{record.units} * unit;
  if (bytes > records.size() - at || bytes < sizeof record + behind + record.block_bytes)
    return false;
  const auto* numbers = reinterpret_cast<const uint64_t*>(&record + 1);
  entry.record = &record;
  entry.waits = {numbers, record.wait_count};
  entry.local_sizes = {numbers + record.wait_count, record.local_count};
  entry.block = records.subspan(at + sizeof record + behind, record.block_bytes);
  at += bytes;
  return true;
}

}  // namespace weft
