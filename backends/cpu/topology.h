// The machine as hwloc sees it: the PUs this process may use, their caches, binding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cpu {

struct Caches {
  uint64_t l1_bytes = 32 << 10;  // smallest of the PUs asked for; typical values where unknown
  uint64_t l2_bytes = 256 << 10;
  uint64_t last_level_bytes = 1 << 20;  // the largest level that any of the PUs sees
  uint32_t line_bytes = 64;
};

struct ProcessorInfo {
  std::string model;   // e.g. "Intel(R) Xeon(R) Processor @ 2.50GHz"
  std::string vendor;  // e.g. "GenuineIntel"
  uint32_t max_clock_mhz = 0;
};

// Thread-safe. One per process, made on first use and never destroyed: worker threads may use it
// while the process exits.
class Topology {
 public:
  // Throws Error when hwloc cannot read the machine.
  static const Topology& get();

  // OS indices of the PUs that the process may run on, in hwloc's logical order.
  const std::vector<unsigned>& pus() const { return pus_; }
  Caches caches(const std::vector<unsigned>& pus) const;
  // Binds the calling thread; false where the system does not allow it.
  bool bindThread(unsigned pu) const noexcept;

 private:
  Topology();
  void* topology_;  // hwloc_topology_t
  std::vector<unsigned> pus_;
};

ProcessorInfo processorInfo();

// Physical memory that this process may use: the machine's, or its control group's limit.
uint64_t physicalMemoryBytes();
// What of it is free now.
uint64_t availableMemoryBytes();

}  // namespace weft::cpu
