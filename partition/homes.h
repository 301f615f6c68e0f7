// Who has which part of a kernel launch after launch: parts stay where they are, so that their
// bytes do, and move only where that gains something. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::partition {

// Of one kernel at one size. Not thread-safe.
class Homes {
 public:
  // What a member did of a launch: so many units, all done so long after the launch could begin, of
  // which it was busy so long.
  struct Done {
    uint64_t units = 0;
    double nanoseconds = 0;
    double busy_ns = 0;
  };

  // Units of each member; empty before there are any.
  const std::vector<uint64_t>& shares() const { return shares_; }
  // The next launch is the first one with these shares.
  bool moved() const { return launches_ == 0; }
  // Begins anew with these. `alike`: the members are of one kind, so that if the first launch takes
  // them differently long that is what beginning took, as to load the kernel's code.
  void set(std::vector<uint64_t> shares, bool alike = false);
  // A launch with these shares has ended.
  void ended(std::span<const Done> members);

 private:
  void move(std::vector<uint64_t> shares);
  double spread(std::span<const double> times) const;
  bool nobodyIsBusy() const;
  std::vector<double> steepness() const;
  bool moveFrom(std::span<const double> times, double tolerance);

  std::vector<uint64_t> shares_, best_shares_;
  std::vector<Done> last_, before_;  // with these shares, and with those before them
  std::vector<double> ends_, busy_;  // means over the launches with these shares
  double best_ns_ = 0;               // the longest of them, with the best shares
  unsigned launches_ = 0;            // with these shares
  unsigned moves_ = 0;
  bool alike_ = false;
};

// Shares with which members that took `nanoseconds` for their units would all take the same time;
// nobody who had units is left without. `shares` are what they were. `steepness`: how much more a
// unit at the edge of a member's share takes than one of its average; none: as much.
std::vector<uint64_t> rebalance(std::span<const uint64_t> shares,
                                std::span<const double> nanoseconds,
                                std::span<const double> steepness = {});

}  // namespace weft::partition
