// What a device can claim that runs kernels on several others. Pure.
#pragma once

#include <span>

#include "core/ports/capabilities.h"

namespace weft::partition {

// What all of `members` (at least one) can do: the least of their limits, the features that each of
// them has, the sum of their compute units. What belongs to one device alone (its memory space, bus
// address, driver, class) is the first one's.
port::Capabilities common(std::span<const port::Capabilities* const> members);

}  // namespace weft::partition
