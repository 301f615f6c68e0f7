// Which devices a cl_device_type selects.
#pragma once

#include <vector>

#include "core/platform.h"

namespace weft::api {

// Throws CL_INVALID_DEVICE_TYPE, or CL_DEVICE_NOT_FOUND when there is none.
std::vector<Ref<Device>> devicesOfType(const Platform& platform, cl_device_type type);

}  // namespace weft::api
