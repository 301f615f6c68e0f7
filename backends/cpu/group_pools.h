// Hands out a launch's work-groups by NUMA node.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/locality.h"

namespace weft::cpu {

class GroupPools {
 public:
  // Takers of this node have no groups of their own.
  static constexpr size_t no_node = ~size_t{0};

  explicit GroupPools(size_t nodes) : pools_(nodes + 1) {}

  // All groups from `begin` to `end`: those of `groups`, and those that belong nowhere. Not while
  // somebody takes.
  void fill(std::span<const NodeGroups> groups, uint64_t begin, uint64_t end);
  void clear() noexcept { filled_ = false; }
  bool filled() const noexcept { return filled_; }

  // visit(begin, end) for runs of groups, `count` in all: the node's own, then those of nobody,
  // then of the node that has most left. Each group is given once; callers want no more than there
  // are. Thread-safe.
  template <class Visit>
  void take(size_t node, uint64_t count, Visit&& visit) {
    while (count != 0) {
      Pool& pool = choose(node);
      const uint64_t at = pool.next.fetch_add(count, std::memory_order_relaxed);
      const uint64_t got = at < pool.size ? std::min(count, pool.size - at) : 0;
      pool.forEachRun(at, at + got, visit);
      count -= got;
    }
  }

 private:
  struct Run {
    uint64_t at = 0;  // in the pool
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  struct Pool {
    std::vector<Run> runs;
    uint64_t size = 0;
    // Apart from those of other nodes: each is written by the threads of one.
    alignas(64) std::atomic<uint64_t> next{0};

    void add(uint64_t begin, uint64_t end);
    uint64_t left() const noexcept {
      const uint64_t at = next.load(std::memory_order_relaxed);
      return at < size ? size - at : 0;
    }
    template <class Visit>
    void forEachRun(uint64_t from, uint64_t to, Visit&& visit) const {
      for (const Run& run : runs) {
        const uint64_t length = run.end - run.begin;
        const uint64_t first = std::max(from, run.at), last = std::min(to, run.at + length);
        if (first < last) visit(run.begin + (first - run.at), run.begin + (last - run.at));
      }
    }
  };

  Pool& choose(size_t node) noexcept;

  std::vector<Pool> pools_;  // the last one is nobody's
  bool filled_ = false;
};

}  // namespace weft::cpu
