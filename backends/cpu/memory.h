// Host memory as the CPU device's memory.
#pragma once

#include <memory>

#include "core/ports/device.h"

namespace weft::cpu {

// Both throw CL_MEM_OBJECT_ALLOCATION_FAILURE. `alignment` is a power of two.
// Allocations of all devices together are kept within physical memory: the system's overcommit
// would turn one too many into a killed process.
std::unique_ptr<port::Memory> allocateMemory(size_t bytes, size_t alignment);
std::unique_ptr<port::Memory> importMemory(void* host, size_t bytes);

}  // namespace weft::cpu
