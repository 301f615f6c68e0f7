// How much of a kernel each member gets, from what is predicted of them. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::partition {

// What is predicted of one member for one launch.
struct MemberModel {
  double unit_ns = 1;        // execution of a unit, of many
  double transfer_ns = 0;    // moving a unit's bytes to and from where it is, beyond what is there
  double slice_ns = 0;       // fixed cost of each slice
  double start_ns = 0;       // before it can begin: earlier work, bytes that every slice needs
  uint64_t least_units = 1;  // smaller slices do not make full use of it
  double wave_units = 0;     // that run side by side and end together: a slice takes whole waves
  double spread = 0;         // of unit_ns, as a part of it
  bool measured = false;     // or estimated
  // Transfers of one slice hide behind the execution of another, so the slower of the two counts.
  double costOfUnit() const { return unit_ns > transfer_ns ? unit_ns : transfer_ns; }
  double timeOf(uint64_t units) const;
};

// What splitting has to gain: a part of the time, and some time.
struct SplitMargin {
  double part = 0.05;
  double nanoseconds = 2000;
};

struct Plan {
  std::vector<uint64_t> shares;  // units of each member
  double split_ns = 0;           // predicted with the best split
  double single_ns = 0;          // and on the best member alone
  size_t best = 0;               // that member

  bool split() const;
};

// Shares that let all members finish together; all of the work on the best one where splitting does
// not pay. There is at least one member. `merge_ns`: what has to be done after the parts.
Plan plan(std::span<const MemberModel> members, uint64_t units, const SplitMargin& margin = {},
          double merge_ns = 0);

// For members that were not measured: a unit's time from `estimates`, which are right about nothing
// but the members' speeds to each other. Members that are alike are all of the same speed.
void guessUnmeasured(std::span<MemberModel> members, std::span<const double> estimates, bool alike);

// Some of the members, who begin and end together.
struct Team {
  std::vector<uint64_t> shares;  // of all members; none for those who are not in it
  double nanoseconds = 0;
};

// The `count` that do a unit fastest, of equals the first. `unit_ns`: 0 where it is not known.
// Nobody and 0 where there are not more than so many of whom it is.
Team fastest(std::span<const double> unit_ns, size_t count, uint64_t units);

// Units in proportion to the weights, of which one is positive; sums up to `units`.
std::vector<uint64_t> apportion(std::span<const double> weights, uint64_t units);

}  // namespace weft::partition
