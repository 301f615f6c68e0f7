// Intel's GPUs, through the Level Zero loader.
#pragma once

#include <memory>

#include "core/ports/binary_cache.h"
#include "core/ports/device.h"

namespace weft::level_zero {

// Keeps what drivers make of programs; nullptr for nobody.
using Binaries = std::shared_ptr<const port::BinaryCache>;

// Where the headers were missing when it was built, a backend that finds no device and says so.
std::unique_ptr<port::Backend> makeBackend(Binaries binaries);
// Over a library with the loader's entry points, whatever the system shows.
std::unique_ptr<port::Backend> makeBackend(const std::string& library, Binaries binaries);

}  // namespace weft::level_zero
