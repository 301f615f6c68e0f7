// Sub-devices of a device (specification 4.3): how many compute units each of them gets, and which.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/ports/capabilities.h"

namespace weft::partition {

// What there is to divide.
struct Divisible {
  std::vector<port::ComputeUnit> units;
  uint32_t max_sub_devices = 0;
  port::Placement placement = port::Placement::cores;
  bool parts_are_domains = false;
};

// Compute units of which the device says nothing are cores that share nothing.
Divisible divisible(const port::Capabilities& device);

// "Split the aggregate device into as many smaller aggregate devices as can be created, each
// containing n compute units. [...] If n does not divide evenly into
// CL_DEVICE_MAX_COMPUTE_UNITS, then the remaining compute units are not used."
// Throws CL_INVALID_VALUE for n == 0, CL_INVALID_DEVICE_PARTITION_COUNT when n is more than there
// are, CL_DEVICE_PARTITION_FAILED when fewer than two sub-devices fit.
std::vector<port::UnitSet> equally(const Divisible& device, uint64_t units_each);

// One sub-device per count. Throws CL_INVALID_DEVICE_PARTITION_COUNT when there are too many, or
// they want more compute units than there are; CL_INVALID_VALUE when there is none.
std::vector<port::UnitSet> byCounts(const Divisible& device, std::span<const uint64_t> counts);

// One sub-device per part that shares what the domain says. Throws CL_INVALID_VALUE for a domain
// that does not divide the device, CL_DEVICE_PARTITION_FAILED when nothing could divide it.
std::vector<port::UnitSet> byAffinity(const Divisible& device, port::Domain domain);

// The first domain that divides the device. Throws CL_DEVICE_PARTITION_FAILED when none does.
port::Domain nextDomain(const Divisible& device);

// One sub-device of the compute units with these indices. Throws CL_INVALID_VALUE for none, and
// CL_INVALID_PARTITION_NAME_EXT for one that the device does not have or that is named twice.
std::vector<port::UnitSet> byNames(const Divisible& device, std::span<const uint64_t> names);

}  // namespace weft::partition
