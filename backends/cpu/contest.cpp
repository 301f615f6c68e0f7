#include "backends/cpu/contest.h"

#include <algorithm>

namespace weft::cpu {
namespace {

// The first turns bring code into the caches.
constexpr unsigned not_counted = 1;
// A turn that takes so many times what others took was interrupted.
constexpr unsigned enough_to_tell = 4;
constexpr double interrupted = 16;
// How many turns of each it takes to see that one is so many times as fast as the other.
struct Verdict {
  unsigned turns;
  double ratio;
};
constexpr Verdict verdicts[] = {{4, 3}, {8, 1.5}, {24, 1}};
// Long turns end with the first that takes so many times as long.
constexpr double long_turn_ns = 250'000, far_slower = 8;
// The other form has to be that much faster.
constexpr double worth_a_change = 1.05;

}  // namespace

void Contest::Times::add(const Turn& turn) noexcept {
  if (longest.items == 0 || turn.each() > longest.each()) longest = turn;
  all.ns += turn.ns;
  all.items += turn.items;
}

double Contest::Times::each() const noexcept {
  return (all.ns - longest.ns) / (all.items - longest.items);
}

void Contest::record(Side side, port::Nanoseconds elapsed, uint64_t items) noexcept {
  if (items == 0) return;
  const double amount = static_cast<double>(items), expected = usual_ns_ * amount;
  double ns = static_cast<double>(elapsed) + 1;
  auto times = times_.lock();
  Times& own = (*times)[side];
  if (!isOpen()) return;
  if (side == other && expected > long_turn_ns && ns > far_slower * expected) return close(usual);
  if (own.count++ < not_counted) return;
  if (own.count > enough_to_tell + not_counted)
    ns = std::min(ns, interrupted * own.each() * amount);
  own.add({ns, amount});
  const auto& [a, b] = *times;
  const unsigned turns = std::min(a.count, b.count);
  if (turns < verdicts[0].turns + not_counted) return;
  const double gain = a.each() / b.each();
  for (const Verdict& verdict : verdicts) {
    if (turns < verdict.turns + not_counted || std::max(gain, 1 / gain) < verdict.ratio) continue;
    return close(gain > worth_a_change ? other : usual);
  }
}

}  // namespace weft::cpu
