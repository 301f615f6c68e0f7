// What to give port::Device::partition() when only numbers of compute units matter.
#pragma once

#include <span>
#include <vector>

#include "core/ports/topology.h"

namespace weft::test {

// One run of units per count, from the first unit on.
inline std::vector<port::UnitSet> consecutive(std::span<const uint32_t> counts) {
  std::vector<port::UnitSet> sets;
  uint32_t next = 0;
  for (const uint32_t count : counts) {
    auto& set = sets.emplace_back();
    for (uint32_t i = 0; i < count; ++i) set.push_back(next++);
  }
  return sets;
}

inline std::vector<port::UnitSet> consecutive(std::initializer_list<uint32_t> counts) {
  return consecutive(std::span(counts.begin(), counts.size()));
}

// Each of so many units alone.
inline std::vector<port::UnitSet> singles(uint32_t units) {
  return consecutive(std::vector<uint32_t>(units, 1));
}

}  // namespace weft::test
