#include "partition/verdict.h"

#include <algorithm>
#include <utility>

namespace weft::partition {
namespace {

// A trial is of so many launches that find their data in place, and the later half of them counts:
// the first wait for the host, or hurry after what they waited for, and only later ones keep the
// pace of launches that are submitted behind each other. Of long launches one tells, but not that a
// way is worse: it may have made what later ones find made. It ends after some more, too, if parts
// keep moving.
constexpr double launches_of_ns = 1'000'000;
constexpr unsigned least_lost = 2;
constexpr unsigned most_tried = 8, most_moving = 4;
// Fewer tell that a way is much worse than another one.
constexpr unsigned least_tried = 3;
constexpr double much_worse = 2;
constexpr uint64_t trial_again = 256;
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
constexpr double learned = 0.25;
// One launch by itself is not taken for more than that part of what is known: what came between,
// or a queue that had run empty, says nothing of the way.
constexpr double most_believed = 1.5;

}  // namespace

Verdict::Verdict(size_t members) {
  for (size_t count = std::max<size_t>(members, 2); count > 1; count = (count + 1) / 2)
    ways_.emplace_back().members = count;
  ways_.emplace_back().members = 1;
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

// As if each further member added as much to what the parts' execution takes; or as if the host,
// which is busy for as long with each of them, were all that counts.
double Verdict::predicted(Way way) const {
  const Times &all = ways_[together], &some = ways_[way];
  const double more = launchTime(), execution_ns = some.expected_ns + more;
  const double added = (all.ns - all.expected_ns - more) / static_cast<double>(all.members - 1);
  const double host_ns =
      all.ns * static_cast<double>(some.members) / static_cast<double>(all.members);
  return std::min(execution_ns + added * static_cast<double>(some.members - 1),
                  std::max(execution_ns, host_ns));
}

void Verdict::tryWay(Way way) {
  way_ = way;
  settled_ = false;
  begun_ = 0;
  Times& mine = ways_[way];
  mine.count = 0;
  mine.tried.clear();
}

// One that was never tried and may be better than those that were.
std::optional<Verdict::Way> Verdict::untried() const {
  for (size_t i = 0; i < ways_.size(); ++i) {
    const Way way = (alone() + i) % ways_.size();  // which says most of what others may gain
    if (!ways_[way].known() && isWorthATrial(way)) return way;
  }
  return std::nullopt;
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
  // One more is what data moves for.
  if (other.known())
    lost_ns += (1 + std::max(launchesToTry(other.ns), least_lost)) * (other.ns - mine.ns);
  double launches = mine.known() ? lost_ns / trial_part / mine.ns : 0;
  launches = std::clamp(launches, soonest_trial, latest_trial);
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
  if (settled_ || way_ == alone() || best() != alone() || !ways_[together].known()) return false;
  return begun_++ % trial_again >= launchesToTry(ways_[best()].ns) + most_moving;
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

unsigned Verdict::launchesToTry(double nanoseconds) {
  return static_cast<unsigned>(std::clamp(launches_of_ns / nanoseconds, 1.0, double{most_tried}));
}

unsigned Verdict::launchesAtOnce() const {
  constexpr double at_once_ns = 4'000'000, least = 2, most = 32;
  const Times& mine = ways_[way_];
  const double known_ns = mine.known() ? mine.ns : ways_[best()].ns;
  return static_cast<unsigned>(known_ns > 0 ? std::clamp(at_once_ns / known_ns, least, most)
                                            : least);
}

// Of a trial; true when enough is known.
bool Verdict::tookOnTrial(Times& tried, double nanoseconds, bool warm) const {
  ++tried.count;
  if (warm) {
    tried.tried.push_back(nanoseconds);
    std::vector<double> later(tried.tried.begin() + static_cast<ptrdiff_t>(tried.tried.size() / 2),
                              tried.tried.end());
    const auto middle = later.begin() + static_cast<ptrdiff_t>((later.size() - 1) / 2);
    std::ranges::nth_element(later, middle);
    tried.ns = *middle;
  } else if (!tried.warm) {
    tried.ns = nanoseconds;
  }
  const double least = tried.tried.empty() ? nanoseconds : *std::ranges::min_element(tried.tried);
  const Times& best = ways_[this->best()];
  const bool hopeless = &best != &tried && least > much_worse * best.ns;
  const bool loses = &best != &tried && tried.ns > best.ns;
  const unsigned wanted = std::max(
      std::min(launchesToTry(least), hopeless ? least_tried : most_tried), loses ? least_lost : 1);
  return tried.tried.size() >= wanted || tried.count >= wanted + most_moving;
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
  const bool on_trial = !settled_ && way == way_;
  bool tried = false;
  if (on_trial)
    tried = tookOnTrial(mine, nanoseconds, warm);
  else
    tookAgain(mine, nanoseconds, warm);
  mine.warm |= warm;
  if (!tried && !(settled_ && way == way_)) return;
  if (const auto next = untried())
    tryWay(*next);
  else if (tried || best() != way_)
    settle(best());
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
