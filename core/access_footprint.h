// Sets of bytes as the evaluation of access records makes them: a block repeated at regular
// distances, in several dimensions; and their union over all accesses of an argument.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/access_evaluation.h"

namespace weft {

// The blocks of `bytes` bytes at begin + the sum of stride * i, with 0 <= i < count in each
// dimension. Offsets may be negative; all of it lies within 63 bits.
struct Footprint {
  struct Dimension {
    int64_t stride;  // > 0
    int64_t count;   // > 1
    bool operator==(const Dimension&) const = default;
  };
  static constexpr size_t max_dimensions = 8;

  int64_t begin = 0;
  int64_t bytes = 0;
  bool reads = false;
  bool writes = false;
  bool complete = false;  // every one of the bytes is written
  uint8_t dimensions = 0;
  std::array<Dimension, max_dimensions> dimension;

  void repeat(int64_t stride, int64_t count);
};

// The union over an argument's accesses.
class TouchedBytes {
 public:
  // More than `max_runs` runs of one footprint, or twice as many ranges in all, are joined over
  // what is between them, the nearest ones first.
  explicit TouchedBytes(unsigned max_runs) : max_runs_(max_runs) {}

  void add(const Footprint& footprint) { footprints_.push_back(footprint); }
  // Appends the union within the argument's `size` bytes.
  void collect(size_t size, std::vector<TouchedRange>& ranges);

 private:
  struct Edge {
    int64_t at;
    int8_t reads, writes, complete;  // 1 where it begins, -1 where it ends
  };

  void joinNeighbours();
  void joinNearest(std::vector<TouchedRange>& ranges, size_t before) const;
  int64_t runsOf(const Footprint& footprint, unsigned outer) const;
  void addRuns(Footprint footprint);
  void addRun(int64_t begin, int64_t bytes, const Footprint& footprint);

  const int64_t max_runs_;
  std::vector<Footprint> footprints_;
  std::vector<Edge> edges_;
};

}  // namespace weft
