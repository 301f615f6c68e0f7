#include "partition/earliest_finish.h"

#include <algorithm>

namespace weft::partition {
namespace {

// What another member has to gain: commands that depend on each other over devices wait longer for
// each other than those of one stream, and predictions are no better than that.
constexpr double margin_ns = 10'000, margin_part = 0.05;
// Of a member that never ran it.
constexpr double pessimism = 2;

double needed(const Candidate& nearest) { return margin_ns + margin_part * nearest.execution_ns; }

double executionOf(const Candidate& candidate) {
  return candidate.execution_ns * (candidate.measured ? 1 : pessimism);
}

double finishOf(const Candidate& candidate, double ready_ns) {
  const double begin = std::max(candidate.free_ns, ready_ns + candidate.transfer_ns);
  return begin + executionOf(candidate);
}

// Who would have to move least.
size_t nearest(std::span<const Candidate> candidates, size_t preferred) {
  size_t best = preferred;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].transfer_ns < candidates[best].transfer_ns) best = i;
  return best;
}

}  // namespace

size_t earliestFinish(std::span<const Candidate> candidates, double ready_ns, size_t preferred) {
  size_t best = nearest(candidates, preferred);
  double earliest = finishOf(candidates[best], ready_ns);
  double margin = needed(candidates[best]);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double finish = finishOf(candidates[i], ready_ns);
    if (finish + margin >= earliest) continue;
    best = i;
    earliest = finish;
    margin = 0;  // it only counts against who is nearest
  }
  return best;
}

bool cannotBeBeaten(std::span<const Candidate> candidates, double ready_ns, size_t index) {
  const Candidate& one = candidates[index];
  return one.transfer_ns == 0 && one.free_ns <= ready_ns + needed(one) &&
         std::ranges::all_of(candidates, [&](const Candidate& other) {
           return executionOf(one) <= executionOf(other);
         });
}

void ExpectedLoad::add(double nanoseconds, uint64_t now) {
  if (count_++ == 0) since_ = now;
  sum_ += nanoseconds;
}

void ExpectedLoad::remove(double nanoseconds, uint64_t now) {
  since_ = now;
  sum_ = --count_ == 0 ? 0 : std::max(sum_ - nanoseconds, 0.0);
}

// Of n of them the one that it is at counts as done when it is late.
double ExpectedLoad::remaining(uint64_t now) const {
  if (count_ == 0) return 0;
  const auto n = static_cast<double>(count_);
  const double passed = now > since_ ? static_cast<double>(now - since_) : 0;
  return std::max(sum_ - passed, sum_ * (n - 1) / n);
}

}  // namespace weft::partition
