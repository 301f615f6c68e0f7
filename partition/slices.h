// Slices: parts of an NDRange, cut along one dimension. Pure functions.
#pragma once

#include <cstdint>

#include "core/ports/launch.h"

namespace weft::partition {

// [begin, end) in units; a unit is a layer of work-groups across the dimension that is cut.
struct Slice {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t count() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

// The dimension to cut a box along into `wanted` slices or more: the outermost one that is long
// enough, because its slices' bytes lie together; the longest where none is.
unsigned cutDimension(const port::GroupBox& box, uint64_t wanted);

inline uint64_t unitsAlong(const port::GroupBox& box, unsigned dimension) {
  return box.end[dimension] - box.begin[dimension];
}

// The part of the box that the slice is, units counted from the box's beginning.
port::GroupBox cut(const port::GroupBox& box, unsigned dimension, const Slice& slice);

}  // namespace weft::partition
