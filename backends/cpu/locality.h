// Which work-groups of a launch belong to which NUMA node, by the bytes that access analysis says
// they touch (core/access_evaluation.h). For devices that span nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/memory.h"
#include "core/image.h"
#include "core/ports/device.h"

namespace weft::cpu {

// Work-groups [begin, end) by their linear index in the launch's slice.
struct NodeGroups {
  uint64_t begin = 0;
  uint64_t end = 0;
  size_t node = 0;  // an index of Home::nodes

  bool operator==(const NodeGroups&) const = default;
};

// Memory that has no home yet gets one: where the launch's groups run that use it. Each node is
// thought to run a share of neighbouring groups, by its units; what several of them touch, and what
// is not known, is spread. False when there was no memory to find out by.
bool settleMemory(const port::Launch& launch, const KernelInfo& kernel, const Home& home) noexcept;

// For the groups that most of what they touch is on one node for, that node. Ascending; empty where
// there are none.
std::vector<NodeGroups> groupsByNode(const port::Launch& launch, const KernelInfo& kernel,
                                     const Home& home) noexcept;

}  // namespace weft::cpu
