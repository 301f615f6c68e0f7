// A machine as hwloc sees it: the PUs this process may use, what they share, binding.
//
// hwloc's own variables (HWLOC_SYNTHETIC, HWLOC_XMLFILE, HWLOC_COMPONENTS) may describe another
// machine than this one. Then threads and memory stay where the system puts them; what they would
// be bound to is remembered, and answered.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ports/topology.h"

struct hwloc_topology;
struct hwloc_obj;

namespace weft::cpu {

struct Caches {
  uint64_t l1_bytes = 32 << 10;  // smallest of the units asked for; typical values where unknown
  uint64_t l2_bytes = 256 << 10;
  uint64_t last_level_bytes = 1 << 20;  // of all caches of the last level that the units have
  uint32_t line_bytes = 64;
};

// The system's numbers of NUMA nodes, ascending.
using NodeSet = std::vector<unsigned>;

// Thread-safe; immutable.
class Topology {
 public:
  using Units = std::span<const port::ComputeUnit>;

  // These throw Error when hwloc cannot read the machine or no PU is left to use.
  static std::shared_ptr<const Topology> ofThisProcess();
  static std::shared_ptr<const Topology> synthetic(const std::string& description);
  static std::shared_ptr<const Topology> fromXml(const std::string& xml);
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  // The PUs that the process may run on, in hwloc's logical order.
  const std::vector<port::ComputeUnit>& units() const { return units_; }
  Caches caches(Units units) const;
  // The nodes that hold the memory of these units: their own, or the nearest with memory.
  NodeSet nodes(Units units) const;
  // The memory of these nodes; 0 when unknown.
  uint64_t memoryBytes(const NodeSet& nodes) const;
  // How many nodes have memory at all.
  size_t memoryNodes() const { return memory_nodes_; }

  // Not this machine, so nothing is bound.
  bool isDescribed() const { return described_; }
  // Binds the calling thread; false where the system does not allow it.
  bool bindThread(unsigned processor) const noexcept;
  // It may run on all units.
  bool unbindThread() const noexcept;
  // What the calling thread is bound to.
  std::vector<unsigned> boundProcessors() const;

  // Pages of the area that exist move to the nodes, and new ones are made there: on the only node
  // while it has memory, or in turn on several. False where the system refuses.
  bool placeMemory(void* address, size_t bytes, const NodeSet& nodes) const noexcept;

 private:
  explicit Topology(hwloc_topology* loaded);

  port::ComputeUnit describe(hwloc_obj* pu) const;
  void addUnits();

  hwloc_topology* topology_;
  bool described_;
  size_t memory_nodes_ = 0;
  std::vector<port::ComputeUnit> units_;
};

}  // namespace weft::cpu
