// Intel's GPUs, through the Level Zero loader.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::level_zero {

// Where the headers were missing when it was built, a backend that finds no device and says so.
std::unique_ptr<port::Backend> makeBackend();
// Over a library with the loader's entry points, whatever the system shows.
std::unique_ptr<port::Backend> makeBackend(const std::string& library);

}  // namespace weft::level_zero
