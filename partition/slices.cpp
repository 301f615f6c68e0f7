#include "partition/slices.h"

namespace weft::partition {

unsigned cutDimension(const port::GroupBox& box, uint64_t wanted) {
  unsigned longest = 2;
  for (int dimension = 2; dimension >= 0; --dimension) {
    const auto candidate = static_cast<unsigned>(dimension);
    if (unitsAlong(box, candidate) >= wanted) return candidate;
    if (unitsAlong(box, candidate) > unitsAlong(box, longest)) longest = candidate;
  }
  return longest;
}

port::GroupBox cut(const port::GroupBox& box, unsigned dimension, const Slice& slice) {
  port::GroupBox part = box;
  part.begin[dimension] = box.begin[dimension] + slice.begin;
  part.end[dimension] = box.begin[dimension] + slice.end;
  return part;
}

}  // namespace weft::partition
