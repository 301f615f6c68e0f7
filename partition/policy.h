// Who runs which slice: state machines that know no clock, no thread and no device. The unified
// device drives them with real members, the simulator with invented ones.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "partition/plan.h"
#include "partition/slices.h"

namespace weft::partition {

// Over one launch. Not thread-safe. Every unit is given exactly once.
class Policy {
 public:
  virtual ~Policy() = default;
  // The member can take a slice besides the `in_hand` that it was given and has not finished.
  // nullopt: nothing for it before somebody has finished a slice.
  virtual std::optional<Slice> next(size_t member, double now, unsigned in_hand) = 0;
  // The member took `nanoseconds` to execute the slice, transfers not counted.
  virtual void finished(size_t, const Slice&, double /*now*/, double /*nanoseconds*/) {}
};

// Each member gets its share as one slice.
std::unique_ptr<Policy> staticPolicy(std::vector<uint64_t> shares);

// Whoever is free gets the next `chunk` units.
std::unique_ptr<Policy> dynamicPolicy(uint64_t units, uint64_t chunk);

// Each member has its share as a home of neighbouring units, of which it takes a large part first
// and then ever smaller ones, none below what it runs well. Who is done takes over from the far end
// of the home that would be done last, as much as lets both finish together. Speeds are corrected
// by every slice. `shares` sum up to the units; members with none take no part.
std::unique_ptr<Policy> guidedPolicy(std::vector<MemberModel> members,
                                     std::vector<uint64_t> shares);

}  // namespace weft::partition
