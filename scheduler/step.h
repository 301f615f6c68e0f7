// Where the protocols of the graph and of residency are between two atomic steps. A test that tries
// all orders of such steps builds the scheduler with WEFT_EXPLORE, and lets other threads go first
// there; in the library there is nothing.
#pragma once

namespace weft::step {

#ifdef WEFT_EXPLORE

void point() noexcept;

// Points passed while a lock is held do not count.
class Quiet {
 public:
  Quiet() noexcept;
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

#else

inline void point() noexcept {}

struct Quiet {
  Quiet() noexcept {}
};

#endif

}  // namespace weft::step
