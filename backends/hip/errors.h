// The runtime's statuses as OpenCL's error codes.
#pragma once

#include "backends/hip/api.h"
#include "core/ports/device.h"

namespace weft::hip {

// Of our own: what is asked of a device that was lost before.
inline constexpr Status device_lost = -1;

// Does it say that the runtime will do nothing more on the device?
bool losesDevice(Status status) noexcept;

// What a failed command ends with: always negative for a failure, 0 for success.
port::OperationStatus operationStatus(Status status);

// Throws the code that fits, with the runtime's words, unless `status` is success.
void check(const Api& api, Status status, const char* what);

}  // namespace weft::hip
