// Copies for what all threads of a launch would write at once.
//
// Where all that a kernel does to a small buffer are atomics whose results nobody looks at
// (ArgumentInfo::combination), such as a histogram's, threads that share a launch would mostly wait
// for each other's cache lines. So each of them works on a copy of its own, and what it has made of
// that is combined with the buffer when it leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/scratch.h"
#include "core/image.h"
#include "core/ports/device.h"

namespace weft::cpu {

// An argument of a launch of which each thread may have a copy.
struct CombinedArgument {
  size_t argument = 0;
  Combination combination = Combination::none;
  uint8_t element = 0;  // bytes of an integer, 4 or 8
  std::byte* target = nullptr;
  size_t bytes = 0;  // whole integers
};

// Could launches of the kernel have any?
bool hasCombinedArguments(const KernelInfo& kernel) noexcept;
// Those of this one, which has no other argument to the same memory; none where they are large.
// Returns their bytes.
size_t findCombinedArguments(const port::Launch& launch, const KernelInfo& kernel,
                             std::vector<CombinedArgument>& found);

// One thread's, for a part of one launch. Used by that thread alone, and not after the launch.
class OwnCopies {
 public:
  // `arguments` are the launch's. Without memory for copies there are none. `first` tells threads
  // apart: they begin at different places, so as not to meet.
  OwnCopies(std::span<const CombinedArgument> combined, std::span<const void* const> arguments,
            ScratchBlock& block, size_t first) noexcept;
  OwnCopies(const OwnCopies&) = delete;
  OwnCopies& operator=(const OwnCopies&) = delete;

  // What the kernel is to be given; null: the launch's own.
  const void* const* arguments() const noexcept { return arguments_; }
  // Brings what was made of the copies to where it belongs; then they are as new.
  void combine() noexcept;

 private:
  std::span<const CombinedArgument> combined_;
  const void** arguments_ = nullptr;
  std::byte* copies_ = nullptr;
  size_t first_ = 0;
};

}  // namespace weft::cpu
