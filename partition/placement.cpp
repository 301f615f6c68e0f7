#include "partition/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace weft::partition {
namespace {

using Units = std::span<const port::ComputeUnit>;

// What units have in common, from the machine down to the core.
constexpr size_t whole_machine = 0, levels = 8;
uint32_t groupOf(const port::ComputeUnit& unit, size_t level) {
  constexpr size_t package = 1, first_domain = 2, core = levels - 1;
  static_assert(first_domain + port::domain_kinds == core);
  switch (level) {
    case whole_machine:
      return 0;
    case package:
      return unit.package;
    case core:
      return unit.core;
    default:
      return unit.domains[level - first_domain];
  }
}

// Cuts `set` where the group of a level changes; what has none there stays together.
std::vector<port::UnitSet> groups(Units units, const port::UnitSet& set, size_t level) {
  std::map<uint32_t, size_t> group_of;
  std::vector<port::UnitSet> result;
  for (const uint32_t unit : set) {
    const auto [place, is_new] = group_of.try_emplace(groupOf(units[unit], level), result.size());
    if (is_new) result.emplace_back();
    result[place->second].push_back(unit);
  }
  return result;
}

port::UnitSet all(Units units) {
  port::UnitSet set(units.size());
  std::iota(set.begin(), set.end(), 0u);
  return set;
}

// Units in turn from each package, in each of those from each NUMA node, and so on.
port::UnitSet scattered(Units units, const port::UnitSet& set, size_t level) {
  if (level == levels || set.size() < 2) return set;
  std::vector<port::UnitSet> parts = groups(units, set, level);
  for (port::UnitSet& part : parts) part = scattered(units, part, level + 1);
  port::UnitSet result;
  for (size_t turn = 0; result.size() < set.size(); ++turn)
    for (const port::UnitSet& part : parts)
      if (turn < part.size()) result.push_back(part[turn]);
  return result;
}

std::vector<port::UnitSet> runs(const port::UnitSet& order, std::span<const uint32_t> counts) {
  std::vector<port::UnitSet> sets;
  auto next = order.begin();
  for (const uint32_t count : counts) {
    auto& set = sets.emplace_back(next, next + count);
    std::sort(set.begin(), set.end());
    next += count;
  }
  return sets;
}

// The units to choose from: of each core as few threads as there have to be for `wanted` units.
port::UnitSet fewestThreads(Units units, uint64_t wanted) {
  for (uint32_t threads = 1;; ++threads) {
    std::map<uint32_t, uint32_t> taken;
    port::UnitSet set;
    for (uint32_t i = 0; i < units.size(); ++i)
      if (taken[units[i].core]++ < threads) set.push_back(i);
    if (set.size() >= wanted || set.size() == units.size()) return set;
  }
}

// Faster ones first, neighbours in their order.
void fasterFirst(Units units, port::UnitSet& set) {
  std::stable_sort(set.begin(), set.end(), [&](uint32_t a, uint32_t b) {
    return units[a].performance > units[b].performance;
  });
}

// The best `count` of what is free.
port::UnitSet bestFit(Units units, const port::UnitSet& free, uint32_t count) {
  // The slowest core, the size of what is shared, what would be left there.
  using Cost = std::tuple<int64_t, size_t, size_t>;
  port::UnitSet best;
  Cost least;
  for (size_t level = 0; level < levels; ++level)
    for (port::UnitSet& group : groups(units, free, level)) {
      const bool shares_nothing = groupOf(units[group.front()], level) == port::no_domain;
      if (group.size() < count || shares_nothing) continue;
      const size_t left = group.size() - count;
      group.resize(count);
      const Cost cost{-int64_t{units[group.back()].performance}, levels - level, left};
      if (!best.empty() && cost >= least) continue;
      best = std::move(group);
      least = cost;
    }
  return best;
}

std::vector<port::UnitSet> byCores(Units units, std::span<const uint32_t> counts) {
  port::UnitSet free =
      fewestThreads(units, std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  fasterFirst(units, free);
  // Big ones first: while there are domains that hold them.
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  std::vector<port::UnitSet> sets(counts.size());
  std::vector<bool> taken(units.size());
  for (const size_t i : order) {
    sets[i] = bestFit(units, free, counts[i]);
    for (const uint32_t unit : sets[i]) taken[unit] = true;
    std::erase_if(free, [&](uint32_t unit) { return taken[unit]; });
    std::sort(sets[i].begin(), sets[i].end());
  }
  return sets;
}

}  // namespace

std::vector<port::UnitSet> place(Units units, std::span<const uint32_t> counts,
                                 port::Placement placement) {
  switch (placement) {
    case port::Placement::compact:
      return runs(all(units), counts);
    case port::Placement::scatter:
      return runs(scattered(units, all(units), whole_machine), counts);
    case port::Placement::cores:
      break;
  }
  return byCores(units, counts);
}

}  // namespace weft::partition
