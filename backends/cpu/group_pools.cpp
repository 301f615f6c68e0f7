#include "backends/cpu/group_pools.h"

#include <algorithm>

namespace weft::cpu {

void GroupPools::Pool::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  runs.push_back({size, begin, end});
  size += end - begin;
}

void GroupPools::fill(std::span<const NodeGroups> groups, uint64_t begin, uint64_t end) {
  for (Pool& pool : pools_) {
    pool.runs.clear();
    pool.size = 0;
    pool.next.store(0, std::memory_order_relaxed);
  }
  uint64_t at = begin;
  for (const NodeGroups& own : groups) {
    pools_.back().add(at, std::min(own.begin, end));
    pools_[own.node].add(std::max(own.begin, begin), std::min(own.end, end));
    at = std::max(at, own.end);
  }
  pools_.back().add(at, end);
  filled_ = true;
}

GroupPools::Pool& GroupPools::choose(size_t node) noexcept {
  const size_t nobody = pools_.size() - 1;
  for (const size_t own : {std::min(node, nobody), nobody})
    if (pools_[own].left() != 0) return pools_[own];
  return *std::max_element(pools_.begin(), pools_.end(),
                           [](const Pool& a, const Pool& b) { return a.left() < b.left(); });
}

}  // namespace weft::cpu
