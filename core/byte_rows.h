// Rows of bytes in a memory object, as a linear range, a rectangle or a box of pixels has them.
#pragma once

#include <cstddef>

namespace weft {

// In ascending order and apart. There is at least one row.
struct ByteRows {
  size_t begin = 0;  // from the start of the root's storage
  size_t bytes = 0;  // of one row
  size_t rows = 1;   // of one slice
  size_t slices = 1;
  size_t row_pitch = 0;
  size_t slice_pitch = 0;

  size_t count() const { return rows * slices; }
  size_t row(size_t index) const {
    return begin + index / rows * slice_pitch + index % rows * row_pitch;
  }
  size_t end() const { return row(count() - 1) + bytes; }
};

// Do they share a byte?
bool overlap(const ByteRows& a, const ByteRows& b);

}  // namespace weft
