// Does it pay to divide a kernel? Predictions leave out what nobody has a number for: what a launch
// costs on the host, how members get in each other's way, what the kernels before and after make of
// where the bytes are. So both ways are tried, rarely, and their times compared. Pure.
#pragma once

#include <cstdint>

namespace weft::partition {

// Of one kernel at one size. Not thread-safe.
class Verdict {
 public:
  enum class Mode : uint8_t { together, alone };

  // Of a launch that is about to be enqueued: it is best left whole, and nothing is to be learned
  // from it. next() is called for the others, when they begin.
  bool leaveWhole();
  Mode next();
  // That launch took so long from when it could begin, the host's work included. `moved`: its parts
  // were not where those of the one before it were, so data moved that will not move again.
  void took(Mode mode, double nanoseconds, bool moved = false);
  // A launch that was left whole took so long.
  void leftWhole(double nanoseconds);
  // It cannot be divided, for a reason that later ones are likely to share.
  void refuse();
  // What the best member alone would take, by the speed of its part.
  void expectAlone(double nanoseconds) { expected_alone_ = nanoseconds; }
  // What together would take if nothing but the parts' execution took time.
  void expectTogether(double nanoseconds) { expected_together_ = nanoseconds; }

  // Are both ways known, or one of them to be better for sure?
  bool settled() const { return settled_; }
  Mode mode() const { return mode_; }

 private:
  struct Times {
    double ns = 0;
    bool warm = false;   // of a launch that found its data in place
    bool tried = false;  // so in this trial
    unsigned count = 0;  // of this trial

    bool known() const { return ns > 0; }
  };

  Times& times(Mode mode) { return mode == Mode::together ? together_ : alone_; }
  bool aloneIsWorthATrial() const;
  bool pays() const;
  void tryMode(Mode mode);
  void settle(Mode mode);

  Times together_, alone_;
  double expected_alone_ = 0, expected_together_ = 0;
  Mode mode_ = Mode::together, last_ = Mode::alone;
  bool settled_ = false;
  uint64_t until_trial_ = 0;  // launches, when settled
  uint64_t begun_ = 0;        // of a trial
  unsigned refusals_ = 0, disappointments_ = 0;
};

}  // namespace weft::partition
