// The device that is several: WEFT_UNIFIED, WEFT_UNIFIED_DEVICES. docs/balancing.md.
#pragma once

#include "core/platform.h"

namespace weft {

// Adds it to the platform if the user wants one and its members can be had; says in the platform's
// report what it is made of or why there is none. Before anybody else has the platform.
void addUnifiedDevice(Platform& platform);

}  // namespace weft
