// How many compute units each sub-device gets (specification 4.3). Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.h"

namespace weft::partition {

// What there is to divide.
struct Divisible {
  uint32_t compute_units = 1;
  uint32_t max_sub_devices = 0;
};

// "Split the aggregate device into as many smaller aggregate devices as can be created, each
// containing n compute units. [...] If n does not divide evenly into
// CL_DEVICE_MAX_COMPUTE_UNITS, then the remaining compute units are not used."
// Throws CL_INVALID_VALUE for n == 0, CL_INVALID_DEVICE_PARTITION_COUNT when n is more than there
// are, CL_DEVICE_PARTITION_FAILED when fewer than two sub-devices fit.
std::vector<uint32_t> equally(const Divisible& device, uint64_t units_each);

// One sub-device per count. Throws CL_INVALID_DEVICE_PARTITION_COUNT when there are too many, or
// they want more compute units than there are; CL_INVALID_VALUE when there is none.
std::vector<uint32_t> byCounts(const Divisible& device, std::span<const uint64_t> counts);

}  // namespace weft::partition
