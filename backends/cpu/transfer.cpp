#include "backends/cpu/transfer.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace weft::cpu {
namespace {

constexpr uint64_t unit_bytes = 256 << 10;

std::byte* resolve(const port::Location& location) {
  if (!location.memory) return location.host ? location.host + location.offset : nullptr;
  std::byte* base = location.memory->host();
  return base ? base + location.offset : nullptr;
}

// Doubling: each memcpy copies all that is there so far.
void fillPattern(std::byte* to, size_t size, const std::byte* pattern, size_t pattern_size) {
  if (size == 0) return;
  size_t done = std::min(size, pattern_size);
  std::memcpy(to, pattern, done);
  // Beyond the cache nearest to the processor a longer source would be read from memory.
  constexpr size_t longest = 16 << 10;
  while (done < size) {
    const size_t n = std::min({done, size - done, longest / pattern_size * pattern_size});
    std::memcpy(to + done, to, n);
    done += n;
  }
}

}  // namespace

port::OperationStatus Transfer::prepare(const port::Copy& copy) {
  source_ = {resolve(copy.source), copy.source.row_pitch, copy.source.slice_pitch};
  destination_ = {resolve(copy.destination), copy.destination.row_pitch,
                  copy.destination.slice_pitch};
  region_ = copy.region;
  pattern_ = nullptr;
  bytes_ = region_[0] * region_[1] * region_[2];
  units_ = 0;
  if (bytes_ == 0) return CL_SUCCESS;
  // Memory that the host cannot touch: a caller that asks for it did not ask reaches().
  if (!source_.base || !destination_.base) return CL_OUT_OF_RESOURCES;
  cut();
  return CL_SUCCESS;
}

void Transfer::cut() {
  const uint64_t rows = region_[1] * region_[2];
  linear_ = rows == 1;
  unit_ = linear_ ? unit_bytes : std::max<uint64_t>(1, unit_bytes / region_[0]);
  units_ = ((linear_ ? region_[0] : rows) + unit_ - 1) / unit_;
}

port::OperationStatus Transfer::prepare(const port::Fill& fill) {
  destination_ = {fill.memory->host(), fill.row_pitch, fill.slice_pitch};
  bytes_ = fill.size * fill.rows * fill.slices;
  units_ = 0;
  if (bytes_ == 0) return CL_SUCCESS;
  if (!destination_.base) return CL_OUT_OF_RESOURCES;
  destination_.base += fill.offset;
  region_ = {fill.size, fill.rows, fill.slices};
  pattern_ = fill.pattern;
  pattern_size_ = fill.pattern_size;
  cut();
  return CL_SUCCESS;
}

void Transfer::run(uint64_t begin, uint64_t end) const noexcept {
  if (begin == end) return;
  const uint64_t from = begin * unit_;
  if (!linear_) {
    runRows(from, std::min(end * unit_, uint64_t(region_[1] * region_[2])));
    return;
  }
  const uint64_t size = std::min(end * unit_, uint64_t(region_[0])) - from;
  if (pattern_)
    fillPattern(destination_.base + from, size, pattern_, pattern_size_);
  else
    std::memcpy(destination_.base + from, source_.base + from, size);
}

void Transfer::runRows(uint64_t begin, uint64_t end) const noexcept {
  for (uint64_t row = begin; row < end; ++row) {
    const uint64_t y = row % region_[1], z = row / region_[1];
    if (pattern_)
      fillPattern(destination_.row(y, z), region_[0], pattern_, pattern_size_);
    else
      std::memcpy(destination_.row(y, z), source_.row(y, z), region_[0]);
  }
}

}  // namespace weft::cpu
