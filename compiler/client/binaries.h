// Drivers' binaries in the disk cache of compile results.
#pragma once

#include <memory>

#include "core/ports/binary_cache.h"

namespace weft {

// Touches no file before it is first asked.
std::shared_ptr<const port::BinaryCache> makeBinaryCache();

}  // namespace weft
