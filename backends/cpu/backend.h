// The CPU backend: one root device over every PU that the process may use.
#pragma once

#include <memory>

#include "core/ports/code_maker.h"
#include "core/ports/device.h"

namespace weft::cpu {

// Thread-safe. The devices it discovers may outlive it. Read from the environment at discovery:
// WEFT_CPU_MAX_COMPUTE_UNITS (a positive number), WEFT_CPU_PRIVATE_MEMORY (1: each device and
// sub-device has a memory space of its own), WEFT_CPU_MEMORY_LIMIT (MiB that each has at most),
// WEFT_CPU_PLACEMENT (port::Placement), WEFT_CPU_NUMA (Spread, with a hyphen) and WEFT_CPU_BINDING
// (pu, or none: threads are not bound); and by hwloc, whose HWLOC_* may describe another machine.
// `code` makes what images leave for later (core/deferred_code.h); without it none may.
std::unique_ptr<port::Backend> makeBackend(std::shared_ptr<const port::CodeMaker> code = nullptr);

}  // namespace weft::cpu
