// Intel's GPUs, through the Level Zero loader.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::level_zero {

// Where the headers were missing when it was built, a backend that finds no device and says so.
std::unique_ptr<port::Backend> makeBackend();

}  // namespace weft::level_zero
