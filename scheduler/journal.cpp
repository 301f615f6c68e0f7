#include "scheduler/journal.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace weft {
namespace {

constexpr size_t unit = sizeof(uint64_t);
constexpr size_t first_records = 32 << 10;

template <class T>
size_t append(std::vector<std::byte>& bytes, std::span<const T> table) {
  static_assert(sizeof(T) % unit == 0);
  const size_t at = bytes.size();
  const auto added = std::as_bytes(table);
  bytes.insert(bytes.end(), added.begin(), added.end());
  return at;
}

}  // namespace

void JournalCopy::begin(const port::Memory& memory, port::JournalHead head,
                        std::span<const port::JournalQueue> queues,
                        std::span<const port::JournalKernel> kernels,
                        std::vector<port::JournalEvent> events) {
  const uint64_t address = memory.deviceAddress();
  capacity_ = memory.size();
  bytes_.resize(sizeof head);
  round_ = head.round;
  head.queue_count = static_cast<uint32_t>(queues.size());
  head.queues = address + append(bytes_, queues);
  head.kernel_count = static_cast<uint32_t>(kernels.size());
  head.kernels = address + append(bytes_, kernels);
  events_ = std::move(events);
  head.event_count = static_cast<uint32_t>(events_.size());
  events_at_ = append(bytes_, std::span<const port::JournalEvent>(events_));
  head.events = address + events_at_;
  tables_bytes_ = bytes_.size();
  if (tables_bytes_ >= capacity_) throw std::bad_alloc();
  head.records = address + tables_bytes_;
  head.capacity = static_cast<uint32_t>((capacity_ - tables_bytes_) / unit);
  std::memcpy(bytes_.data(), &head, sizeof head);
}

std::span<std::byte> JournalCopy::firstPart() {
  bytes_.resize(std::min<uint64_t>(tables_bytes_ + first_records, capacity_));
  return bytes_;
}

bool JournalCopy::isOwn() const {
  return reinterpret_cast<const port::JournalHead*>(bytes_.data())->round == round_;
}

std::span<std::byte> JournalCopy::secondPart() {
  const size_t known = bytes_.size();
  const size_t all = tables_bytes_ + recordBytes();
  if (all <= known) return {};
  bytes_.resize(all);
  return std::span(bytes_).subspan(known);
}

// A kernel that writes where it should not may have written here: sizes are what they were.
size_t JournalCopy::recordBytes() const {
  const size_t used = reinterpret_cast<const port::JournalHead*>(bytes_.data())->used;
  return std::min<size_t>(used, (capacity_ - tables_bytes_) / unit) * unit;
}

std::vector<port::JournalEvent> JournalCopy::changedEvents() const {
  const auto* now = reinterpret_cast<const port::JournalEvent*>(bytes_.data() + events_at_);
  std::vector<port::JournalEvent> changed;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (now[i] == events_[i]) continue;
    changed.push_back(now[i]);
    changed.back().number = events_[i].number;
  }
  return changed;
}

bool JournalCopy::next(size_t& at, JournalEntry& entry) const {
  const std::span<const std::byte> records =
      std::span(bytes_).subspan(tables_bytes_).first(recordBytes());
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
