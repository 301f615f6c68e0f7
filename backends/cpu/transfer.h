// Copies and fills as ranges of independent units, so that several workers can share one.
#pragma once

#include <vector>

#include "core/ports/device.h"

namespace weft::cpu {

// A copy or fill made ready: resolved addresses and how it is cut.
class Transfer {
 public:
  // Return a failure's code or 0. Keep no pointer to the request except a fill's pattern, which
  // lives as long as the operation.
  port::OperationStatus prepare(const port::Copy& copy);
  port::OperationStatus prepare(const port::Fill& fill);

  uint64_t bytes() const { return bytes_; }
  // Independent units; the last may be smaller.
  uint64_t units() const { return units_; }
  // Thread-safe for disjoint ranges.
  void run(uint64_t begin, uint64_t end) const noexcept;

 private:
  struct End {
    std::byte* base = nullptr;
    size_t row_pitch = 0;
    size_t slice_pitch = 0;

    std::byte* row(uint64_t y, uint64_t z) const { return base + y * row_pitch + z * slice_pitch; }
  };
  void cut();
  void runRows(uint64_t begin, uint64_t end) const noexcept;

  End source_;
  End destination_;
  std::array<size_t, 3> region_{0, 1, 1};
  const std::byte* pattern_ = nullptr;  // fill when set
  size_t pattern_size_ = 0;
  uint64_t bytes_ = 0;
  uint64_t unit_ = 1;  // bytes of a linear transfer, rows of a rectangular one
  uint64_t units_ = 0;
  bool linear_ = true;
};

}  // namespace weft::cpu
