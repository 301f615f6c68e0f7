#include "partition/verdict.h"

#include <algorithm>
#include <utility>

namespace weft::partition {
namespace {

// A trial ends when of the launches that found their data in place another one is not much better
// than the best so far: the first of them still wait for the host, where later ones are submitted
// behind each other. That is nothing beside a long launch. Or it ends after so many.
constexpr unsigned most_trial_launches = 8;
constexpr double much_better = 0.9, long_ns = 2'000'000;
constexpr uint64_t trial_again = 256;
// A launch that data moves for, and two that find it in place.
constexpr unsigned trial_launches = 3;
// More members are kept busy by a wider way, so it has to gain something.
constexpr double margin_part = 0.03, margin_ns = 2000;
// Below that part of what alone is expected to take, nobody needs to try it; but what it takes to
// run a part at all makes too much of expectations of so little.
constexpr double surely_better = 0.85, brief_ns = 60'000;
// And a way of some members is tried where it may take that part of the best way's time.
constexpr double worth_a_trial = 0.95;
// What trials may cost, as a part of all time; and how soon and how late the next one is.
constexpr double trial_part = 0.01;
// What they cost beside the worse way's time: launches that depend on what comes of it wait for it.
constexpr double stall_ns = 100'000;
constexpr double soonest_trial = 64, latest_trial = 1 << 16;
// When together should have been better by far, it gets some more chances soon. Each moves data,
// which a few microseconds do not pay for soon.
constexpr double far_better = 0.85, far_better_ns = 8000, second_chance = 16;
constexpr unsigned most_chances = 3;
constexpr double learned = 0.5;
// One launch by itself is not taken for more than that part of what is known: what came between,
// or a queue that had run empty, says nothing of the way.
constexpr double most_believed = 1.5;

}  // namespace

Verdict::Verdict(size_t members) {
  for (size_t count = std::max<size_t>(members, 2); count > 1; count = (count + 1) / 2)
    ways_.push_back({count});
  ways_.push_back({1});
  last_ = alone();
}

// Of those that are known.
Verdict::Way Verdict::best() const {
  Way best = together;
  bool found = false;
  for (Way way = ways_.size(); way-- > 0;) {
    const Times& wider = ways_[way];
    if (!wider.known()) continue;
    if (!found || wider.ns * (1 + margin_part) + margin_ns < ways_[best].ns) best = way;
    found = true;
  }
  return best;
}

bool Verdict::isWorthATrial(Way way) const {
  if (way == together) return true;
  const double best_ns = ways_[best()].ns;
  if (way != alone()) return ways_[way].expected_ns > 0 && predicted(way) < worth_a_trial * best_ns;
  const double expected_ns = ways_[way].expected_ns;
  return expected_ns < brief_ns || best_ns > surely_better * expected_ns;
}

// What alone takes beyond the kernel's execution, which any other way takes, too. By the parts'
// times that would be too little of a brief kernel, as to run a part at all is much of those.
double Verdict::launchTime() const {
  const Times& one = ways_[alone()];
  const double execution_ns = execution_alone_ns_ > 0 ? execution_alone_ns_ : one.expected_ns;
  return one.known() && execution_ns > 0 ? std::max(one.ns - execution_ns, 0.0) : 0;
}

// As if each further member added as much to what the parts' execution takes.
double Verdict::predicted(Way way) const {
  const Times &all = ways_[together], &some = ways_[way];
  const double more = launchTime();
  const double added = (all.ns - all.expected_ns - more) / static_cast<double>(all.members - 1);
  return some.expected_ns + more + added * static_cast<double>(some.members - 1);
}

void Verdict::tryWay(Way way) {
  way_ = way;
  settled_ = false;
  begun_ = 0;
  Times& mine = ways_[way];
  mine.count = 0;
  mine.tried_ns = 0;
  mine.tried = false;
}

// After a trial.
void Verdict::tryNextOrSettle() {
  for (size_t i = 0; i < ways_.size(); ++i) {
    const Way way = (alone() + i) % ways_.size();  // which says most of what others may gain
    if (!ways_[way].known() && isWorthATrial(way)) return tryWay(way);
  }
  settle(best());
}

void Verdict::settle(Way way) {
  way_ = way;
  settled_ = true;
  const Way before = std::exchange(candidate_, way == alone() ? together : alone());
  for (size_t i = 1; i <= ways_.size(); ++i)
    if (const Way other = (before + i) % ways_.size(); other != way && isWorthATrial(other)) {
      candidate_ = other;
      break;
    }
  const Times &mine = ways_[way], &other = ways_[candidate_];
  double lost_ns = stall_ns + mine.moving_ns + other.moving_ns;
  if (other.known()) lost_ns += trial_launches * (other.ns - mine.ns);
  double launches = mine.known() ? lost_ns / trial_part / mine.ns : 0;
  launches = std::clamp(launches, soonest_trial, latest_trial);
  const double expected_ns = balanced_ns_ + launchTime();
  const bool disappoints = way == alone() && mine.known() && balanced_ns_ > 0 &&
                           expected_ns < std::min(far_better * mine.ns, mine.ns - far_better_ns);
  if (disappoints && disappointments_ < most_chances) {
    candidate_ = together;
    launches = second_chance * static_cast<double>(1u << disappointments_++);
  }
  until_trial_ = static_cast<uint64_t>(launches);
}

bool Verdict::leaveWhole() {
  if (settled_ && way_ == alone()) {
    last_ = alone();
    if (--until_trial_ > 0) return true;
    tryWay(candidate_);
  }
  // What there is to compare is known, so of the launches of a trial no more are needed than it
  // has; unless they came to nothing.
  if (settled_ || way_ == alone() || best() != alone()) return false;
  return begun_++ % trial_again >= most_trial_launches;
}

Verdict::Way Verdict::next() {
  if (settled_ && --until_trial_ == 0) {
    if (isWorthATrial(candidate_))
      tryWay(candidate_);
    else
      settle(way_);
  }
  return way_;
}

// Of a trial.
void Verdict::tookOnTrial(Times& tried, double nanoseconds, bool warm) {
  ++tried.count;
  if (!warm) {
    if (!tried.warm) tried.ns = nanoseconds;
    return;
  }
  const double before = tried.tried_ns;
  tried.tried_ns = before > 0 ? std::min(before, nanoseconds) : nanoseconds;
  tried.tried = nanoseconds > long_ns || (before > 0 && nanoseconds > much_better * before);
  tried.ns = tried.tried_ns;
}

// Of a way that is known.
void Verdict::tookAgain(Times& known, double nanoseconds, bool warm) {
  if (!known.warm)
    known.ns = nanoseconds;
  else if (warm)
    known.ns += learned * (std::min(nanoseconds, most_believed * known.ns) - known.ns);
}

void Verdict::took(Way way, double nanoseconds, bool moved) {
  Times& mine = ways_[way];
  const bool another = std::exchange(last_, way) != way, warm = !another && !moved;
  if (another && mine.known()) mine.moving_ns = std::max(nanoseconds - mine.ns, 0.0);
  // Until the next trial it counts that the first one of all may have loaded code, too.
  if (warm && mine.known() && !mine.warm) mine.moving_ns = std::max(mine.ns - nanoseconds, 0.0);
  if (!settled_ && way == way_)
    tookOnTrial(mine, nanoseconds, warm);
  else
    tookAgain(mine, nanoseconds, warm);
  mine.warm |= warm;
  if (way != way_) return;
  if (settled_) {
    if (best() != way_) settle(best());
  } else if (mine.count >= most_trial_launches || mine.tried) {
    tryNextOrSettle();
  }
}

void Verdict::leftWhole(double nanoseconds) {
  Times& mine = ways_[alone()];
  tookAgain(mine, nanoseconds, true);
  mine.warm = true;
}

void Verdict::refuse() {
  constexpr unsigned most_doublings = 16;
  way_ = alone();
  settled_ = true;
  candidate_ = together;
  until_trial_ = uint64_t{4} << std::min(2 * refusals_++, most_doublings);
}

void Verdict::postpone(uint64_t launches) {
  way_ = alone();
  settled_ = true;
  candidate_ = together;
  until_trial_ = std::max<uint64_t>(launches, 1);
}

}  // namespace weft::partition
