// Host memory as the CPU device's memory.
#pragma once

#include <memory>

#include "backends/cpu/topology.h"
#include "core/ports/device.h"

namespace weft::cpu {

// How memory is spread over the nodes of a device that spans several.
enum class Spread : uint8_t {
  interleave,   // page by page
  blocks,       // a run of neighbouring pages on each
  first_touch,  // as the system does it
};

// The NUMA nodes that a device keeps its memory on; none where there is nothing to choose.
struct Home {
  std::shared_ptr<const Topology> topology;
  NodeSet nodes;
  std::vector<uint32_t> units;  // how many compute units each of the nodes has
  Spread spread = Spread::interleave;
};

// Bytes [begin, end) that are on one node, by the system's number.
struct NodeRun {
  size_t begin = 0;
  size_t end = 0;
  unsigned node = 0;

  bool operator==(const NodeRun&) const = default;
};
// Ascending; what lies between is spread over all nodes of the device.
using Layout = std::vector<NodeRun>;

// Where memory's pages come from, and go to in the end: other memory that was released and keeps
// them (mappings.h), or the system. Used again they stay on the nodes they were on, and are touched
// by who allocates, so where there are several nodes they are fresh.
enum class Pages : uint8_t { used_again, fresh };

// Both throw CL_MEM_OBJECT_ALLOCATION_FAILURE. `alignment` is a power of two.
// Allocations of all devices together are kept within physical memory: the system's overcommit
// would turn one too many into a killed process.
std::unique_ptr<port::Memory> allocateMemory(size_t bytes, size_t alignment,
                                             Pages pages = Pages::used_again);
std::unique_ptr<port::Memory> importMemory(void* host, size_t bytes);

// An allocation of whole pages belongs where it is used first: what is there already moves, and the
// rest will be made there. No effect later, on other memory, and where the home has no nodes.
void settle(port::Memory& memory, const Home& home) noexcept;
// The same for memory that has another home.
void moveHome(port::Memory& memory, const Home& home) noexcept;
// Would settleAs() settle it? Memory that transfers have spread before any launch used it moves
// once it has proved to be used by many launches: moving costs about as much as a hundred of them
// gain.
bool awaitsLayout(port::Memory& memory) noexcept;
void settleAs(port::Memory& memory, const Home& home, const Layout& layout) noexcept;

// The nodes that it was last placed on; empty when it was left to the system.
NodeSet homeOf(const port::Memory& memory);
// What of it is on one node of several; empty when nothing is, or all is on one.
Layout layoutOf(const port::Memory& memory);

// The allocation of whole pages that holds the byte at an address, or null.
port::Memory* memoryAt(uint64_t address) noexcept;

}  // namespace weft::cpu
