// Host memory as the CPU device's memory.
#pragma once

#include <memory>

#include "backends/cpu/topology.h"
#include "core/ports/device.h"

namespace weft::cpu {

// The NUMA nodes that a device keeps its memory on; none where there is nothing to choose.
struct Home {
  std::shared_ptr<const Topology> topology;
  NodeSet nodes;
};

// Both throw CL_MEM_OBJECT_ALLOCATION_FAILURE. `alignment` is a power of two.
// Allocations of all devices together are kept within physical memory: the system's overcommit
// would turn one too many into a killed process.
std::unique_ptr<port::Memory> allocateMemory(size_t bytes, size_t alignment);
std::unique_ptr<port::Memory> importMemory(void* host, size_t bytes);

// An allocation of whole pages belongs where it is used first: what is there already moves, and the
// rest will be made there. No effect later, on other memory, and where the home has no nodes.
void settle(port::Memory& memory, const Home& home) noexcept;
// The same for memory that has another home.
void moveHome(port::Memory& memory, const Home& home) noexcept;
// Where it was last placed; empty when it was left to the system.
NodeSet homeOf(const port::Memory& memory);

}  // namespace weft::cpu
