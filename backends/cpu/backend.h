// The CPU backend: one root device over every PU that the process may use.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::cpu {

// Thread-safe. The devices it discovers may outlive it. Read from the environment at discovery:
// WEFT_CPU_MAX_COMPUTE_UNITS (a positive number), WEFT_CPU_PRIVATE_MEMORY (1: each device and
// sub-device has a memory space of its own), WEFT_CPU_MEMORY_LIMIT (MiB that each has at most) and
// WEFT_CPU_PLACEMENT (port::Placement) and WEFT_CPU_NUMA (interleave, or first-touch, the memory of
// devices that span NUMA nodes); and by hwloc, whose HWLOC_* may describe another machine.
std::unique_ptr<port::Backend> makeBackend();

}  // namespace weft::cpu
