#include "partition/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::partition {
namespace {

// The time at which the members in use, all finishing together, have done all the units.
double levelOf(std::span<const MemberModel> members, const std::vector<bool>& used,
               uint64_t units) {
  double rate = 0, begun = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!used[i]) continue;
    const double speed = 1 / members[i].costOfUnit();
    rate += speed;
    begun += speed * (members[i].start_ns + members[i].slice_ns);
  }
  return (static_cast<double>(units) + begun) / rate;
}

double shareAt(const MemberModel& member, double level) {
  return (level - member.start_ns - member.slice_ns) / member.costOfUnit();
}

// Leaves out, one after the other, who would get less than it can run well.
double fill(std::span<const MemberModel> members, std::vector<bool>& used, uint64_t units) {
  for (;;) {
    const double level = levelOf(members, used, units);
    if (std::count(used.begin(), used.end(), true) == 1) return level;
    size_t worst = members.size();
    double worst_part = 1;
    for (size_t i = 0; i < members.size(); ++i) {
      if (!used[i]) continue;
      const double part = shareAt(members[i], level) / static_cast<double>(members[i].least_units);
      if (part < worst_part) {
        worst_part = part;
        worst = i;
      }
    }
    if (worst == members.size()) return level;
    used[worst] = false;
  }
}

size_t bestSingle(std::span<const MemberModel> members, uint64_t units) {
  size_t best = 0;
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i].timeOf(units) < members[best].timeOf(units)) best = i;
  return best;
}

}  // namespace

double MemberModel::timeOf(uint64_t units) const {
  return start_ns + slice_ns + costOfUnit() * static_cast<double>(std::max(units, least_units));
}

bool Plan::split() const {
  return std::count_if(shares.begin(), shares.end(), [](uint64_t n) { return n > 0; }) > 1;
}

std::vector<uint64_t> apportion(std::span<const double> weights, uint64_t units) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<uint64_t> shares;
  double seen = 0;
  uint64_t given = 0;
  // Rounded sums rather than summed rounding: no unit is lost or given twice.
  for (const double weight : weights) {
    seen += weight;
    const auto upto = std::min(
        static_cast<uint64_t>(std::llround(static_cast<double>(units) * (seen / sum))), units);
    shares.push_back(std::max(upto, given) - given);
    given = std::max(upto, given);
  }
  const auto last = std::find_if(weights.rbegin(), weights.rend(), [](double w) { return w > 0; });
  shares[static_cast<size_t>(weights.rend() - last) - 1] += units - given;
  return shares;
}

Plan plan(std::span<const MemberModel> members, uint64_t units, const SplitMargin& margin) {
  Plan result;
  result.best = bestSingle(members, units);
  result.single_ns = members[result.best].timeOf(units);
  result.shares.assign(members.size(), 0);
  std::vector<bool> used(members.size(), true);
  result.split_ns = fill(members, used, units);
  const bool pays = std::count(used.begin(), used.end(), true) > 1 &&
                    result.split_ns < result.single_ns * (1 - margin.part) - margin.nanoseconds;
  if (!pays) {
    result.shares[result.best] = units;
    return result;
  }
  std::vector<double> weights(members.size(), 0);
  for (size_t i = 0; i < members.size(); ++i)
    if (used[i]) weights[i] = shareAt(members[i], result.split_ns);
  result.shares = apportion(weights, units);
  return result;
}

std::vector<uint64_t> keepHomes(std::span<const uint64_t> before, std::vector<uint64_t> fresh,
                                double tolerance) {
  if (before.size() != fresh.size()) return fresh;
  const auto sum = [](const auto& shares) {
    return std::accumulate(shares.begin(), shares.end(), uint64_t{0});
  };
  const uint64_t units = sum(fresh);
  if (sum(before) != units) return fresh;
  for (size_t i = 0; i < fresh.size(); ++i) {
    const double change = std::abs(static_cast<double>(before[i]) - static_cast<double>(fresh[i]));
    if (change > tolerance * static_cast<double>(units) || (before[i] == 0) != (fresh[i] == 0))
      return fresh;
  }
  return {before.begin(), before.end()};
}

}  // namespace weft::partition
