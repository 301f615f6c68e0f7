// Where the compute units of a device are in the machine: plain numbers, from which partition/
// chooses those of sub-devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::port {

// What compute units may share, the most of them first: the order in which
// CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE looks for a way to divide a device.
enum class Domain : uint8_t { numa, l4_cache, l3_cache, l2_cache, l1_cache };
inline constexpr size_t domain_kinds = 5;
// A unit may lack a domain: not every machine has caches of the fourth level, and not every core of
// one machine has to have those of the third.
inline constexpr uint32_t no_domain = ~uint32_t{0};

struct ComputeUnit {
  uint32_t processor = 0;    // the system's number of the PU
  uint32_t package = 0;      // this number and those below tell equal from different, no more
  uint32_t core = 0;         // units of one core are its hardware threads
  uint32_t performance = 0;  // of the kind of core: a greater number is a faster kind
  std::array<uint32_t, domain_kinds> domains{no_domain, no_domain, no_domain, no_domain, no_domain};

  uint32_t in(Domain domain) const { return domains[static_cast<size_t>(domain)]; }
};

// Indices of compute units of one device, ascending.
using UnitSet = std::vector<uint32_t>;

// Which compute units sub-devices get when only their number is given.
enum class Placement : uint8_t {
  cores,    // neighbours, and a core's second thread only where there are not enough cores
  compact,  // neighbours, with all threads of a core
  scatter,  // as far from each other as possible
};

}  // namespace weft::port
