#include "partition/homes.h"

#include <algorithm>
#include <numeric>

#include "partition/plan.h"

namespace weft::partition {
namespace {

// Of the longest time: what members may differ by, and what other shares have to gain.
constexpr double balanced = 0.04, worth_moving = 0.02;
// Of members that worked equally long: where each waits for what the other makes, they end by
// turns; of a short launch that much later.
constexpr double balanced_by_turns = 0.15, by_turns_ns = 20'000;
// Of members of one kind: who of those that worked equally long ends later does so for that long
// before it counts.
constexpr unsigned launches_by_turns = 6;
// By the members' own times, while data still moves; unless all were done nearly at once, or
// another one last, because moving data takes that time in each launch.
constexpr double roughly_balanced = 0.06;
// Of the longest time: where all members of one kind have nothing to do for more than that, the
// host takes it, and which of them is done last says nothing.
constexpr double idle = 0.15;
// Work that lies unevenly takes a few steps. When the world changes by that much, it starts again.
constexpr unsigned most_moves = 6;
constexpr double another_world = 1.5;
// Two shares that differ little, and noise, could say anything.
constexpr double steepest = 3;
// Of a share, at first: as from equal ones to those of members of 4:1 speed.
constexpr double most_growth = 1.6;
constexpr double learned = 0.5;

// As long as nobody knows how the work lies.
std::vector<uint64_t> partOfTheWay(std::span<const uint64_t> from, std::span<const uint64_t> to) {
  double part = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto has = static_cast<double>(from[i]), gets = static_cast<double>(to[i]);
    if (gets > most_growth * has) part = std::min(part, (most_growth - 1) * has / (gets - has));
  }
  std::vector<double> weights;
  for (size_t i = 0; i < from.size(); ++i)
    weights.push_back(static_cast<double>(from[i]) +
                      part * (static_cast<double>(to[i]) - static_cast<double>(from[i])));
  return apportion(weights, std::accumulate(from.begin(), from.end(), uint64_t{0}));
}

}  // namespace

// A member takes the time of its share, and for each unit more that of one at its edge.
std::vector<uint64_t> rebalance(std::span<const uint64_t> shares,
                                std::span<const double> nanoseconds,
                                std::span<const double> steepness) {
  std::vector<double> edge_ns(shares.size(), 0), weights(shares.size(), 0);
  double units = 0, rate = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0 || nanoseconds[i] <= 0) continue;
    edge_ns[i] = nanoseconds[i] / static_cast<double>(shares[i]);
    if (!steepness.empty()) edge_ns[i] *= steepness[i];
    units += nanoseconds[i] / edge_ns[i];
    rate += 1 / edge_ns[i];
  }
  if (rate == 0) return {shares.begin(), shares.end()};
  for (size_t i = 0; i < shares.size(); ++i)
    if (edge_ns[i] > 0)
      weights[i] = std::max(
          static_cast<double>(shares[i]) + (units / rate - nanoseconds[i]) / edge_ns[i], 0.0);
  std::vector<uint64_t> fresh =
      apportion(weights, std::accumulate(shares.begin(), shares.end(), uint64_t{0}));
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (shares[i] == 0 || fresh[i] > 0) continue;
    --*std::max_element(fresh.begin(), fresh.end());
    fresh[i] = 1;
  }
  return fresh;
}

void Homes::set(std::vector<uint64_t> shares, bool alike) {
  shares_ = std::move(shares);
  alike_ = alike;
  best_shares_.clear();
  last_.clear();
  before_.clear();
  best_ns_ = 0;
  launches_ = moves_ = 0;
}

void Homes::move(std::vector<uint64_t> shares) {
  shares_ = std::move(shares);
  before_ = last_;
  launches_ = 0;
}

// Of each member's time, how much more a unit at the edge of its share counts than one of its
// average, by what it took for its share before that.
std::vector<double> Homes::steepness() const {
  std::vector<double> result(last_.size(), 1);
  if (before_.size() != last_.size()) return result;
  for (size_t i = 0; i < last_.size(); ++i) {
    const Done &now = last_[i], &before = before_[i];
    if (now.units == 0 || now.units == before.units || now.busy_ns <= 0) continue;
    const double units = static_cast<double>(now.units), more = units - double(before.units);
    const double edge_ns = (now.busy_ns - before.busy_ns) / more;
    result[i] = std::clamp(edge_ns / (now.busy_ns / units), 1 / steepest, steepest);
  }
  return result;
}

// Of the longest of the times, what the shortest of a member with a share falls short.
double Homes::spread(std::span<const double> times) const {
  const double longest = *std::max_element(times.begin(), times.end());
  double shortest = longest;
  for (size_t i = 0; i < times.size(); ++i)
    if (shares_[i] > 0) shortest = std::min(shortest, times[i]);
  return longest > 0 ? 1 - shortest / longest : 0;
}

bool Homes::nobodyIsBusy() const {
  double longest = 0, least_idle = 0;
  for (size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i] == 0) continue;
    const double idle_ns = ends_[i] - busy_[i];
    least_idle = longest > 0 ? std::min(least_idle, idle_ns) : idle_ns;
    longest = std::max(longest, ends_[i]);
  }
  return least_idle > idle * longest;
}

// Moves to shares with which all would be done at once, if they differ by more than the tolerance.
bool Homes::moveFrom(std::span<const double> times, double tolerance) {
  if (moves_ >= most_moves) return false;
  const double difference = spread(times);
  if (difference <= tolerance || difference >= 1) return false;
  std::vector<uint64_t> fresh = rebalance(shares_, times, steepness());
  if (before_.empty()) fresh = partOfTheWay(shares_, fresh);
  if (fresh == shares_) return false;
  ++moves_;
  move(std::move(fresh));
  return true;
}

void Homes::ended(std::span<const Done> members) {
  if (members.size() != shares_.size() || members.empty()) return;
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i].units != shares_[i]) return;  // it was another's plan
  last_.assign(members.begin(), members.end());
  // The first one moves the data.
  if (launches_++ == 0) {
    if (alike_ && moves_ == 0) return;
    std::vector<double> busy, done;
    for (const Done& member : members) busy.push_back(member.busy_ns);
    for (const Done& member : members) done.push_back(member.nanoseconds);
    const auto last = [](const std::vector<double>& times) {
      return std::max_element(times.begin(), times.end()) - times.begin();
    };
    if (last(busy) == last(done) && spread(done) > roughly_balanced)
      moveFrom(busy, roughly_balanced);
    return;
  }
  if (launches_ == 2) {
    ends_.assign(members.size(), 0);
    busy_.assign(members.size(), 0);
  }
  const double part = launches_ == 2 ? 1 : learned;
  for (size_t i = 0; i < members.size(); ++i) {
    ends_[i] += part * (members[i].nanoseconds - ends_[i]);
    busy_[i] += part * (members[i].busy_ns - busy_[i]);
  }
  if (alike_ && nobodyIsBusy()) {
    best_ns_ = 0;
    moveFrom(busy_, roughly_balanced);
    return;
  }
  const double longest = *std::max_element(ends_.begin(), ends_.end());
  if (shares_ != best_shares_ && best_ns_ > 0 && longest > best_ns_ * (1 - worth_moving)) {
    moves_ = most_moves;
    return move(best_shares_);
  }
  if (best_ns_ > 0 && longest > another_world * best_ns_) moves_ = 0;
  best_ns_ = longest;
  best_shares_ = shares_;
  const bool by_turns = busy_.front() > 0 && spread(busy_) <= balanced;
  if (by_turns && alike_ && launches_ < launches_by_turns) return;
  moveFrom(ends_, by_turns ? std::max(balanced_by_turns, by_turns_ns / longest) : balanced);
}

}  // namespace weft::partition
