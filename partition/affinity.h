// Sub-devices along what compute units share (specification 4.3, affinity domains). Pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ports/topology.h"

namespace weft::partition {

using Units = std::span<const port::ComputeUnit>;

// "Split the device into smaller aggregate devices containing one or more compute units that all
// share [a memory subsystem]". In order of their first units; units that have no such subsystem are
// in none.
std::vector<port::UnitSet> byDomain(Units units, port::Domain domain);

// Does the domain divide the device, in two or more?
bool divides(Units units, port::Domain domain);

// "The implementation shall find the first level along which the device or sub-device may be
// further subdivided in the order NUMA, L4, L3, L2, L1."
std::optional<port::Domain> nextPartitionable(Units units);

}  // namespace weft::partition
