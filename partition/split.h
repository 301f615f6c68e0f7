// May a launch be split over devices, and what does each part of it touch? docs/balancing.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/access_evaluation.h"
#include "core/kernel.h"
#include "partition/slices.h"

namespace weft::partition {

enum class SplitClass : uint8_t {
  exact,  // what each part writes is known, and no other part reads or writes it
  whole,  // one device runs all of it
};

// What an argument is bound to.
struct BoundArgument {
  const void* storage = nullptr;  // the bytes of the root object; null: no memory object
  size_t origin = 0;              // of the object in it
  size_t size = 0;
  bool may_write = true;       // the object's flags allow it
  bool shared_memory = false;  // an address in place of an object
};

// Bytes [begin, end) of the storage behind an argument. `writes` without `reads`: all are
// overwritten.
struct PartAccess {
  size_t argument = 0;
  size_t begin = 0;
  size_t end = 0;
  bool reads = false;
  bool writes = false;
};

// Blocks of work-groups, cut along one dimension, are the units in which a launch is divided.
// Slices are runs of blocks. The same for all launches of one kernel over one range, of arguments
// of equal values that are bound to the same bytes.
class Split {
 public:
  // Cuts into `most_blocks` at most, and finds out. `values` and `bound` are all the arguments,
  // set.
  Split(const KernelInfo& kernel, const port::LaunchRecord& launch,
        std::span<const ArgumentValue> values, std::span<const BoundArgument> bound,
        uint64_t most_blocks);

  SplitClass splitClass() const { return class_; }
  // Of `whole`, for people.
  const std::string& reason() const { return reason_; }

  uint64_t blocks() const { return blocks_; }
  // The work-groups of a run of blocks.
  port::GroupBox box(const Slice& blocks) const;
  // Appends what these touch, neighbouring bytes together. Of `exact` ones only.
  void accesses(const Slice& blocks, std::vector<PartAccess>& list) const;

 private:
  struct BlockAccess : PartAccess {
    const void* storage = nullptr;
    uint64_t block = 0;
  };

  void refuse(std::string reason);
  bool hazards(const KernelInfo& kernel);
  bool known(const KernelInfo& kernel, std::span<const BoundArgument> bound);
  void evaluate(const KernelInfo& kernel, const port::LaunchRecord& launch,
                std::span<const ArgumentValue> values, std::span<const BoundArgument> bound);
  bool disjoint() const;

  port::GroupBox whole_;
  unsigned dimension_ = 0;
  uint64_t blocks_ = 1;
  SplitClass class_ = SplitClass::exact;
  std::string reason_;
  std::vector<BlockAccess> accesses_;  // by block
};

}  // namespace weft::partition
