#include "partition/sub_devices.h"

#include <CL/cl_ext.h>

#include <algorithm>

#include "core/ports/processors.h"
#include "partition/affinity.h"
#include "partition/placement.h"

namespace weft::partition {
namespace {

// "CL_INVALID_VALUE [...] if values specified in properties are valid but not supported by the
// device."
void requireAnyParts(const Divisible& device) {
  require(!device.parts_are_domains, CL_INVALID_VALUE, "only affinity domains divide the device");
}

}  // namespace

Divisible divisible(const port::Capabilities& device) {
  Divisible whole{device.units, device.max_sub_devices, device.placement,
                  port::partsAreDomains(device)};
  if (!whole.units.empty()) return whole;
  whole.units.resize(device.compute_units);
  for (uint32_t i = 0; i < device.compute_units; ++i)
    whole.units[i].processor = whole.units[i].core = i;
  return whole;
}

std::vector<port::UnitSet> equally(const Divisible& device, uint64_t units_each) {
  requireAnyParts(device);
  require(units_each > 0, CL_INVALID_VALUE, "sub-devices without compute units");
  require(units_each <= device.units.size(), CL_INVALID_DEVICE_PARTITION_COUNT,
          "more compute units than the device has");
  const uint64_t fitting = device.units.size() / units_each;
  const uint64_t count = std::min<uint64_t>(fitting, device.max_sub_devices);
  // "CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but
  // in_device could not be further partitioned": one part is no partition.
  require(count > 1, CL_DEVICE_PARTITION_FAILED, "fewer than two sub-devices fit");
  const std::vector<uint32_t> counts(count, static_cast<uint32_t>(units_each));
  return place(device.units, counts, device.placement);
}

std::vector<port::UnitSet> byCounts(const Divisible& device, std::span<const uint64_t> counts) {
  requireAnyParts(device);
  require(!counts.empty(), CL_INVALID_VALUE, "an empty list of counts");
  require(counts.size() <= device.max_sub_devices && counts.size() <= device.units.size(),
          CL_INVALID_DEVICE_PARTITION_COUNT, "too many sub-devices");
  std::vector<uint32_t> sizes;
  uint64_t left = device.units.size();
  for (const uint64_t count : counts) {
    require(count > 0 && count <= left, CL_INVALID_DEVICE_PARTITION_COUNT,
            "more compute units than the device has");
    left -= count;
    sizes.push_back(static_cast<uint32_t>(count));
  }
  return place(device.units, sizes, device.placement);
}

std::vector<port::UnitSet> byAffinity(const Divisible& device, port::Domain domain) {
  require(device.max_sub_devices > 1, CL_DEVICE_PARTITION_FAILED, "there is nothing to divide");
  // "CL_INVALID_VALUE [...] if values specified in properties are valid but not supported by the
  // device."
  require(divides(device.units, domain), CL_INVALID_VALUE, "the domain does not divide the device");
  return byDomain(device.units, domain);
}

port::Domain nextDomain(const Divisible& device) {
  const auto domain = nextPartitionable(device.units);
  require(domain.has_value(), CL_DEVICE_PARTITION_FAILED, "no domain divides the device");
  return *domain;
}

std::vector<port::UnitSet> byNames(const Divisible& device, std::span<const uint64_t> names) {
  requireAnyParts(device);
  require(!names.empty(), CL_INVALID_VALUE, "an empty list of names");
  port::UnitSet set;
  for (const uint64_t name : names) {
    require(name < device.units.size(), CL_INVALID_PARTITION_NAME_EXT,
            "a compute unit that is not there");
    set.push_back(static_cast<uint32_t>(name));
  }
  std::sort(set.begin(), set.end());
  require(std::adjacent_find(set.begin(), set.end()) == set.end(), CL_INVALID_PARTITION_NAME_EXT,
          "a compute unit named twice");
  return {set};
}

}  // namespace weft::partition
