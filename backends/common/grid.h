// A box of work-groups as the grids that a GPU launches.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/ports/launch.h"

namespace weft {

struct Grid {
  port::GroupBox box;
  std::array<unsigned, 3> block{1, 1, 1};
};

// Calls visit(grid) for grids that cover `box` once: none larger than `limits` in groups, and
// groups at a ragged edge of the NDRange in grids of their own, with their own block size. Stops
// at the first result that is not zero and returns it.
template <class Visit>
int forEachGrid(const port::LaunchRecord& record, const port::GroupBox& box,
                const std::array<uint64_t, 3>& limits, Visit&& visit) {
  Grid grid;
  // The next part of dimension d: whole groups up to the limit, or the ragged one.
  const auto cut = [&](int d, uint64_t from) {
    const uint64_t local = record.local_size[d];
    const uint64_t whole = record.global_size[d] / local;
    const bool ragged = from >= whole;
    grid.box.begin[d] = from;
    grid.box.end[d] = ragged ? from + 1 : std::min({box.end[d], whole, from + limits[d]});
    grid.block[d] = static_cast<unsigned>(ragged ? record.global_size[d] % local : local);
  };
  for (uint64_t z = box.begin[2]; z < box.end[2]; z = grid.box.end[2]) {
    cut(2, z);
    for (uint64_t y = box.begin[1]; y < box.end[1]; y = grid.box.end[1]) {
      cut(1, y);
      for (uint64_t x = box.begin[0]; x < box.end[0]; x = grid.box.end[0]) {
        cut(0, x);
        if (const int result = visit(static_cast<const Grid&>(grid))) return result;
      }
    }
  }
  return 0;
}

}  // namespace weft
