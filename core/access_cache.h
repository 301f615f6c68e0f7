// What the last launches of a kernel touched, for launches that are like one of them. A program
// that computes step by step makes the same launch again and again, and to evaluate the records of
// a stencil takes microseconds.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/access_evaluation.h"
#include "core/guarded.h"
#include "core/ref.h"
#include "core/spin_lock.h"

namespace weft {

class AccessCache {
 public:
  struct Touched {
    uint32_t argument = 0;
    TouchedRange range;

    bool operator==(const Touched&) const = default;
  };
  // By argument, of each that has a memory object: at least one, of which nothing is read or
  // written where the launch touches nothing of it.
  using TouchedList = std::vector<Touched>;
  struct Entry final : Object {
    std::vector<uint64_t> key;
    TouchedList touched;
  };

  // The kernel's, which outlives it.
  explicit AccessCache(std::span<const ArgumentInfo> arguments);

  // Of all of the launch's groups. Thread-safe. Throws when there is no memory.
  Ref<const Entry> of(const port::LaunchRecord& launch,
                      std::span<const ArgumentValue> values) const;

 private:
  static constexpr size_t most_entries = 4;
  static constexpr size_t most_words = 96;  // of a key that is kept

  // All that an evaluation looks at.
  class Key;
  TouchedList evaluate(const port::LaunchRecord& launch,
                       std::span<const ArgumentValue> values) const;

  struct Recent {
    std::array<Ref<const Entry>, most_entries> entries;  // the latest first
  };
  const std::span<const ArgumentInfo> arguments_;
  std::vector<AccessStep> read_;  // the arguments' bytes that records use, each once
  mutable Guarded<Recent, SpinLock> recent_;
};

}  // namespace weft
