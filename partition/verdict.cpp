#include "partition/verdict.h"

#include <algorithm>
#include <utility>

namespace weft::partition {
namespace {

using Mode = Verdict::Mode;

// A trial ends with the first launch that found its data in place, which is the second one unless
// parts move, or after so many.
constexpr unsigned most_trial_launches = 5;
constexpr uint64_t trial_again = 256;
// A launch and one that it moves data for, when data is known to move.
constexpr unsigned trial_launches = 2;
// Dividing keeps all members busy, so it has to gain something.
constexpr double margin_part = 0.03, margin_ns = 2000;
// Below that part of what the best member alone is expected to take, nobody needs to try; but what
// it takes to run a part at all makes too much of expectations of so little.
constexpr double surely_better = 0.85, brief_ns = 60'000;
// What trials may cost, as a part of all time; and how soon and how late the next one is.
constexpr double trial_part = 0.01;
// What they cost beside the worse way's time: launches that depend on what comes of it wait for it.
constexpr double stall_ns = 100'000;
constexpr double soonest_trial = 64, latest_trial = 1 << 16;
// When together should have been better by far, it gets some more chances soon.
constexpr double far_better = 0.75, second_chance = 16;
constexpr unsigned most_chances = 3;
constexpr double learned = 0.5;

constexpr Mode other(Mode mode) { return mode == Mode::together ? Mode::alone : Mode::together; }

}  // namespace

bool Verdict::aloneIsWorthATrial() const {
  return expected_alone_ < brief_ns || together_.ns > surely_better * expected_alone_;
}

bool Verdict::pays() const { return together_.ns * (1 + margin_part) + margin_ns < alone_.ns; }

void Verdict::tryMode(Mode mode) {
  mode_ = mode;
  settled_ = false;
  begun_ = 0;
  times(mode).count = 0;
  times(mode).tried = false;
}

void Verdict::settle(Mode mode) {
  mode_ = mode;
  settled_ = true;
  const Times &mine = times(mode), &others = times(other(mode));
  const double lost = others.known() && mine.known() ? others.ns / mine.ns - 1 : 0;
  const double stall = mine.known() ? stall_ns / mine.ns : 0;
  double launches =
      std::clamp((trial_launches * lost + stall) / trial_part, soonest_trial, latest_trial);
  const bool disappoints = mode == Mode::alone && mine.known() && expected_together_ > 0 &&
                           expected_together_ < far_better * mine.ns;
  if (disappoints && disappointments_ < most_chances)
    launches = second_chance * static_cast<double>(1u << disappointments_++);
  until_trial_ = static_cast<uint64_t>(launches);
}

bool Verdict::leaveWhole() {
  if (settled_ && mode_ == Mode::alone) {
    last_ = Mode::alone;
    if (--until_trial_ > 0) return true;
    tryMode(Mode::together);
  }
  // Both ways are known, so of the launches of a trial no more are needed than it has; unless they
  // came to nothing.
  if (settled_ || mode_ == Mode::alone || !alone_.known()) return false;
  return begun_++ % trial_again >= most_trial_launches;
}

Mode Verdict::next() {
  if (settled_ && mode_ == Mode::together && --until_trial_ == 0) {
    if (aloneIsWorthATrial())
      tryMode(Mode::alone);
    else
      settle(Mode::together);
  }
  return mode_;
}

void Verdict::took(Mode mode, double nanoseconds, bool moved) {
  Times& mine = times(mode);
  const bool warm = std::exchange(last_, mode) == mode && !moved;
  if (!mine.known() || (warm && (!mine.warm || !settled_)) || (!warm && !mine.warm))
    mine.ns = nanoseconds;
  else if (warm)
    mine.ns += learned * (nanoseconds - mine.ns);
  mine.warm |= warm;
  mine.tried |= warm;
  if (mode != mode_) return;
  const bool over = ++mine.count >= most_trial_launches || mine.tried;
  if (settled_) {
    if (mode == Mode::together && alone_.known() && !pays()) settle(Mode::alone);
    return;
  }
  if (mode == Mode::together && !alone_.known()) {
    if (!over) return;
    if (aloneIsWorthATrial())
      tryMode(Mode::alone);
    else
      settle(Mode::together);
    return;
  }
  if (over) settle(pays() ? Mode::together : Mode::alone);
}

void Verdict::leftWhole(double nanoseconds) {
  if (alone_.known()) alone_.ns += learned * (nanoseconds - alone_.ns);
}

void Verdict::refuse() {
  constexpr unsigned most_doublings = 16;
  mode_ = Mode::alone;
  settled_ = true;
  until_trial_ = uint64_t{4} << std::min(2 * refusals_++, most_doublings);
}

}  // namespace weft::partition
