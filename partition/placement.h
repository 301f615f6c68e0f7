// Which compute units sub-devices of given sizes get. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/topology.h"

namespace weft::partition {

// One set per count, none with a unit of another; the sum of `counts` is at most units.size().
//
// Placement::cores gives every sub-device as few threads of a core as the sum of the counts allows,
// faster cores before slower ones, and the smallest of the caches, NUMA nodes and packages that
// holds it. The others take runs of the units: as they stand, or in an order in which each is as
// far as possible from those before it.
std::vector<port::UnitSet> place(std::span<const port::ComputeUnit> units,
                                 std::span<const uint32_t> counts, port::Placement placement);

}  // namespace weft::partition
