// From a kernel's access records to the bytes that one launch touches.
#pragma once

#include <span>
#include <vector>

#include "core/argument.h"
#include "core/ports/launch.h"

namespace weft {

// `writes` without `reads`: every byte is overwritten.
struct TouchedRange {
  size_t begin = 0;
  size_t end = 0;
  bool reads = false;
  bool writes = false;

  bool operator==(const TouchedRange&) const = default;
};

// Evaluates the records of arguments of one launch. `values` are all its arguments, set.
class AccessEvaluation {
 public:
  AccessEvaluation(const port::LaunchRecord& launch, std::span<const ArgumentValue> values)
      : AccessEvaluation(
            launch, values,
            {{0, 0, 0}, {launch.group_count[0], launch.group_count[1], launch.group_count[2]}}) {}
  // Of the launch's groups in `box` only.
  AccessEvaluation(const port::LaunchRecord& launch, std::span<const ArgumentValue> values,
                   const port::GroupBox& box)
      : launch_(launch), values_(values), box_(box) {}

  // More separate runs of what one access touches are joined over the gaps: whoever keeps account
  // of ranges does so one by one.
  static constexpr unsigned few_runs = 32;

  // Appends what the groups may touch of the `size` bytes behind an argument: disjoint ranges in
  // their order, outside of which nothing is read or written.
  void touched(const ArgumentInfo& argument, size_t size, std::vector<TouchedRange>& ranges,
               unsigned max_runs = few_runs) const;

 private:
  const port::LaunchRecord& launch_;
  std::span<const ArgumentValue> values_;
  port::GroupBox box_;
};

}  // namespace weft
