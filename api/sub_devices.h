// What the ways to partition a device are called, in OpenCL and in cl_ext_device_fission.
#pragma once

#include <CL/cl_ext.h>

#include <vector>

#include "core/device.h"

namespace weft::api {

using PartitionProperties = std::vector<cl_device_partition_property>;
using FissionProperties = std::vector<cl_device_partition_property_ext>;

// The domains that divide the device, along with CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE; 0
// when there is none.
cl_device_affinity_domain affinityDomains(const Device& device);
// The ways to partition it; {0} when there is none.
PartitionProperties partitionSchemes(const Device& device);
// How it was made; {0} for a root device.
PartitionProperties partitionType(const Device& device);

// The same in the extension's terms.
FissionProperties fissionDomains(const Device& device);
FissionProperties fissionSchemes(const Device& device);
FissionProperties fissionStyle(const Device& device);

}  // namespace weft::api
