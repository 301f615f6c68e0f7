// The composition root: where the platform is put together from concrete backends and the compiler.
#pragma once

#include "core/platform.h"

namespace weft::api {

// The one platform, made on first use and never destroyed. Starts no threads. What it is made of is
// decided by the composition that is linked (composition.cpp for the product).
Platform& platform();

}  // namespace weft::api
