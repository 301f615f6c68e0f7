// The one clock of the CPU backend: CLOCK_MONOTONIC, which is also the host's.
#pragma once

#include "core/ports/device.h"

namespace weft::cpu {

port::Nanoseconds now() noexcept;

}  // namespace weft::cpu
