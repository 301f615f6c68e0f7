// Does it pay to divide a kernel, and among how many? Predictions leave out what nobody has a
// number for: what a launch costs on the host, which each further part adds to, how members get in
// each other's way, what the kernels before and after make of where the bytes are. So the ways are
// tried, rarely, and their times compared. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft::partition {

// Of one kernel at one size. Not thread-safe.
class Verdict {
 public:
  // Which members run it: all together, the faster half of them, half of those, and so on; the last
  // way is the best one alone.
  using Way = size_t;
  static constexpr Way together = 0;

  explicit Verdict(size_t members = 2);

  Way alone() const { return ways_.size() - 1; }
  size_t ways() const { return ways_.size(); }
  // Who may take part.
  size_t members(Way way) const { return ways_[way].members; }

  // Of a launch that is about to be enqueued: it is best left whole, and nothing is to be learned
  // from it. next() is called for the others, when they begin.
  bool leaveWhole();
  Way next();
  // That launch took so long from when it could begin, the host's work included. `moved`: its parts
  // were not where those of the one before it were, so data moved that will not move again.
  void took(Way way, double nanoseconds, bool moved = false);
  // A launch on the best member alone executed for so long.
  void executedAlone(double nanoseconds) { execution_alone_ns_ = nanoseconds; }
  // A launch that was left whole took so long.
  void leftWhole(double nanoseconds);
  // It cannot be divided, for a reason that later ones are likely to share.
  void refuse();
  // Dividing it pays only if it is launched often, so that is not tried before so many more
  // launches.
  void postpone(uint64_t launches);
  // What a way would take if nothing but the parts' execution took time, by the speeds of parts
  // that ran. 0: there is no such way, as fewer take part in those that are wider.
  void expect(Way way, double nanoseconds) { ways_[way].expected_ns = nanoseconds; }

  // Are all ways known, or known not to be worth a trial?
  bool settled() const { return settled_; }
  // The best one, or the one that is tried.
  Way way() const { return way_; }
  // Launches of a trial that may be under way while nobody knows yet what comes of it: of short
  // ones as many as are tried, so that they follow each other as they will later.
  unsigned launchesAtOnce() const;

 private:
  struct Times {
    size_t members = 0;
    double expected_ns = 0;
    double ns = 0;
    double moving_ns = 0;       // more, of a launch after those of another way
    bool warm = false;          // of launches that found their data in place
    std::vector<double> tried;  // what such launches of this trial took
    unsigned count = 0;         // of this trial

    bool known() const { return ns > 0; }
  };

  Way best() const;
  bool isWorthATrial(Way way) const;
  double launchTime() const;
  double predicted(Way way) const;
  std::optional<Way> untried() const;
  void tryWay(Way way);
  static unsigned launchesToTry(double nanoseconds);
  bool tookOnTrial(Times& tried, double nanoseconds, bool warm) const;
  static void tookAgain(Times& known, double nanoseconds, bool warm);
  void settle(Way way);

  std::vector<Times> ways_;
  Way way_ = together, last_;
  Way candidate_ = together;  // when settled: what is tried next
  bool settled_ = false;
  uint64_t until_trial_ = 0;       // launches, when settled
  uint64_t begun_ = 0;             // of a trial
  double execution_alone_ns_ = 0;  // 0: it never ran alone
  unsigned refusals_ = 0;
};

}  // namespace weft::partition
