// Which launches of a kernel are measured: that costs something, and while nothing changes a few of
// them tell as much as all.
#pragma once

namespace weft::partition {

// Of one kernel at one size: the first 32 launches, and then the first four of each 128. Not
// thread-safe.
class Sampling {
 public:
  struct Choice {
    bool measured;
    bool behind_measured;  // so was the one before it
  };

  // Of the next launch, which is measured in any case if it is `wanted`.
  Choice next(bool wanted);
  // What comes now is not like what was measured.
  void startOver() { launches_ = 0; }

 private:
  unsigned launches_ = 0;  // since then
  bool last_ = true;       // was measured
};

}  // namespace weft::partition
