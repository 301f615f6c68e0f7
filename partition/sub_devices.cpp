#include "partition/sub_devices.h"

#include <algorithm>

namespace weft::partition {

std::vector<uint32_t> equally(const Divisible& device, uint64_t units_each) {
  require(units_each > 0, CL_INVALID_VALUE, "sub-devices without compute units");
  require(units_each <= device.compute_units, CL_INVALID_DEVICE_PARTITION_COUNT,
          "more compute units than the device has");
  const uint64_t fitting = device.compute_units / units_each;
  const uint64_t count = std::min<uint64_t>(fitting, device.max_sub_devices);
  // "CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but
  // in_device could not be further partitioned": one part is no partition.
  require(count > 1, CL_DEVICE_PARTITION_FAILED, "fewer than two sub-devices fit");
  return std::vector<uint32_t>(count, static_cast<uint32_t>(units_each));
}

std::vector<uint32_t> byCounts(const Divisible& device, std::span<const uint64_t> counts) {
  require(!counts.empty(), CL_INVALID_VALUE, "an empty list of counts");
  require(counts.size() <= device.max_sub_devices && counts.size() <= device.compute_units,
          CL_INVALID_DEVICE_PARTITION_COUNT, "too many sub-devices");
  std::vector<uint32_t> result;
  uint64_t left = device.compute_units;
  for (const uint64_t count : counts) {
    require(count > 0 && count <= left, CL_INVALID_DEVICE_PARTITION_COUNT,
            "more compute units than the device has");
    left -= count;
    result.push_back(static_cast<uint32_t>(count));
  }
  return result;
}

}  // namespace weft::partition
