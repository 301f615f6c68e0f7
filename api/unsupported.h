// The codes that the specification gives for optional features which no device has. Each function
// takes what had to be valid before the feature is looked at.
#pragma once

#include "api/checks.h"

namespace weft::api {

// "CL_INVALID_OPERATION if the device associated with command_queue does not support SVM."
[[noreturn]] inline void noSvm(const Queue&) {
  throw Error(CL_INVALID_OPERATION, "the device does not support shared virtual memory");
}
// "CL_INVALID_OPERATION if no devices in context support pipes."
[[noreturn]] inline void noPipes(const Context&) {
  throw Error(CL_INVALID_OPERATION, "no device of the context supports pipes");
}

}  // namespace weft::api
