#include "partition/affinity.h"

#include <algorithm>
#include <map>

namespace weft::partition {

std::vector<port::UnitSet> byDomain(Units units, port::Domain domain) {
  std::vector<port::UnitSet> sets;
  std::map<uint32_t, size_t> set_of;
  for (uint32_t i = 0; i < units.size(); ++i) {
    const uint32_t number = units[i].in(domain);
    if (number == port::no_domain) continue;
    const auto [place, is_new] = set_of.try_emplace(number, sets.size());
    if (is_new) sets.emplace_back();
    sets[place->second].push_back(i);
  }
  return sets;
}

bool divides(Units units, port::Domain domain) {
  uint32_t first = port::no_domain;
  return std::any_of(units.begin(), units.end(), [&](const port::ComputeUnit& unit) {
    const uint32_t number = unit.in(domain);
    if (number == port::no_domain) return false;
    if (first == port::no_domain) first = number;
    return number != first;
  });
}

std::optional<port::Domain> nextPartitionable(Units units) {
  for (size_t i = 0; i < port::domain_kinds; ++i)
    if (const auto domain = static_cast<port::Domain>(i); divides(units, domain)) return domain;
  return std::nullopt;
}

}  // namespace weft::partition
