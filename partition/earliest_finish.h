// Which member runs a command that stays whole: the one that is expected to have done it first.
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::partition {

// What is expected of one member for one command, in nanoseconds.
struct Candidate {
  double free_ns = 0;      // until it has done what it was given before
  double transfer_ns = 0;  // bringing the bytes that it lacks
  double execution_ns = 0;
  bool measured = false;  // and not only estimated
};

// There is at least one. `ready_ns`: until what the command depends on has ended; its bytes cannot
// move before. Of those that are about as early it is the one that lacks least, and of those the
// one at `preferred`.
size_t earliestFinish(std::span<const Candidate> candidates, double ready_ns, size_t preferred);

// Is it as good as free, the fastest, and where all bytes are? What the others lack does not
// matter.
bool cannotBeBeaten(std::span<const Candidate> candidates, double ready_ns, size_t index);

// What a device was given and has not done. Times are those of one clock, in nanoseconds.
class ExpectedLoad {
 public:
  void add(double nanoseconds, uint64_t now);
  // Something that was added has ended, or will never run.
  void remove(double nanoseconds, uint64_t now);
  // How long it still has to work, if what it is at goes on as expected.
  double remaining(uint64_t now) const;

 private:
  double sum_ = 0;
  size_t count_ = 0;
  uint64_t since_ = 0;  // it is at the next one
};

}  // namespace weft::partition
