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

// Smaller slices take a member as long as those that make full use of it. Half as large ones may
// gain all the same; whether they do, launches tell.
constexpr double least_part = 0.5;

// Leaves out, one after the other, who would get much less than it can run well.
double fill(std::span<const MemberModel> members, std::vector<bool>& used, uint64_t units) {
  for (;;) {
    const double level = levelOf(members, used, units);
    if (std::count(used.begin(), used.end(), true) == 1) return level;
    size_t worst = members.size();
    double worst_part = least_part;
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

double inWaves(uint64_t units, double wave) {
  // Of many waves the groups get out of step, and nobody waits for the last one.
  constexpr double in_step = 16;
  const double waves = wave > 0 ? static_cast<double>(units) / wave : in_step;
  return waves < in_step ? std::ceil(waves) * wave : static_cast<double>(units);
}

// Where the last wave of whoever would be done last is nearly empty, others take what is in it if
// they have room in theirs.
void fillWaves(std::span<const MemberModel> members, std::vector<uint64_t>& shares) {
  const auto time = [&](size_t i, uint64_t units) {
    return units > 0 ? members[i].timeOf(units) : 0;
  };
  for (size_t round = 0; round < 2 * members.size(); ++round) {
    size_t last = 0;
    for (size_t i = 1; i < members.size(); ++i)
      if (time(i, shares[i]) > time(last, shares[last])) last = i;
    const MemberModel& slow = members[last];
    if (slow.wave_units <= 1) return;
    const double waves = std::ceil(static_cast<double>(shares[last]) / slow.wave_units) - 1;
    const auto kept = static_cast<uint64_t>(waves * slow.wave_units);
    if (kept < slow.least_units) return;
    const double level = time(last, shares[last]);
    std::vector<uint64_t> fresh = shares;
    fresh[last] = kept;
    uint64_t left = shares[last] - kept;
    for (size_t i = 0; i < members.size() && left > 0; ++i)
      while (i != last && shares[i] > 0 && left > 0 && time(i, fresh[i] + 1) < level) {
        ++fresh[i];
        --left;
      }
    if (left > 0) return;
    shares = std::move(fresh);
  }
}

}  // namespace

double MemberModel::timeOf(uint64_t units) const {
  return start_ns + slice_ns + costOfUnit() * inWaves(std::max(units, least_units), wave_units);
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

void guessUnmeasured(std::span<MemberModel> members, std::span<const double> estimates,
                     bool alike) {
  double sum = 0, measured = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i].measured) continue;
    sum += members[i].unit_ns / estimates[i];
    ++measured;
  }
  const double factor = measured > 0 ? sum / measured : 1;
  for (size_t i = 0; i < members.size(); ++i)
    if (alike || !members[i].measured) members[i].unit_ns = factor * estimates[i];
}

Team fastest(std::span<const double> unit_ns, size_t count, uint64_t units) {
  std::vector<size_t> order;
  for (size_t i = 0; i < unit_ns.size(); ++i)
    if (unit_ns[i] > 0) order.push_back(i);
  if (order.size() <= count) return {};
  std::ranges::stable_sort(order, {}, [&](size_t member) { return unit_ns[member]; });
  std::vector<double> speeds(unit_ns.size(), 0);
  for (const size_t member : std::span(order).first(count)) speeds[member] = 1 / unit_ns[member];
  const double speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return {apportion(speeds, units), static_cast<double>(units) / speed};
}

Plan plan(std::span<const MemberModel> members, uint64_t units, const SplitMargin& margin,
          double merge_ns) {
  Plan result;
  result.best = bestSingle(members, units);
  result.single_ns = members[result.best].timeOf(units);
  result.shares.assign(members.size(), 0);
  std::vector<bool> used(members.size(), true);
  const double level = fill(members, used, units);
  std::vector<double> weights(members.size(), 0);
  for (size_t i = 0; i < members.size(); ++i)
    if (used[i]) weights[i] = shareAt(members[i], level);
  result.shares = apportion(weights, units);
  fillWaves(members, result.shares);
  for (size_t i = 0; i < members.size(); ++i)
    if (result.shares[i] > 0)
      result.split_ns = std::max(result.split_ns, members[i].timeOf(result.shares[i]));
  result.split_ns += merge_ns;
  const bool pays =
      result.split() && result.split_ns < result.single_ns * (1 - margin.part) - margin.nanoseconds;
  if (!pays) {
    result.shares.assign(members.size(), 0);
    result.shares[result.best] = units;
  }
  return result;
}

}  // namespace weft::partition
