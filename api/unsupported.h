// The codes that the specification gives for optional features which no device has. Each function
// takes what had to be valid before the feature is looked at.
#pragma once

#include "api/checks.h"

namespace weft::api {

// "CL_INVALID_OPERATION if no devices in context support pipes."
[[noreturn]] inline void noPipes(const Context&) {
  throw Error(CL_INVALID_OPERATION, "no device of the context supports pipes");
}

}  // namespace weft::api
