// What the system says about processor and memory beyond their topology.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

struct ProcessorInfo {
  std::string model;   // e.g. "Intel(R) Xeon(R) Processor @ 2.50GHz"
  std::string vendor;  // e.g. "GenuineIntel"
  uint32_t max_clock_mhz = 0;
};

ProcessorInfo processorInfo();

// Physical memory that this process may use: the machine's, or its control group's limit.
uint64_t physicalMemoryBytes();
// What of it is free now.
uint64_t availableMemoryBytes();

}  // namespace weft
