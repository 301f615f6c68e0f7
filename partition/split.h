// May a launch be split over devices, and what does each part of it touch? docs/balancing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/access_evaluation.h"
#include "core/kernel.h"
#include "partition/slices.h"

namespace weft::partition {

enum class SplitClass : uint8_t {
  exact,  // what each part writes is known, and no other part reads or writes it
  merge,  // parts that work in memories of their own write into copies of some objects, which are
          // merged in the end, or if they cannot be, all of it runs on one device after all
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

// Bytes [begin, end) of a storage that nobody knows to be written by one part alone. What the parts
// made of their copies becomes one by `combination`, of integers of `bytes` bytes; without one, of
// each `bytes` bytes, which are written together, those that a part changed are as it left them.
// Of `exclusive` ones no two parts may have changed the same.
struct MergedBytes {
  const void* storage = nullptr;
  size_t begin = 0;
  size_t end = 0;
  Combination combination = Combination::none;
  uint8_t bytes = 1;
  bool exclusive = false;
};

// Blocks of work-groups, cut along one dimension, are the units in which a launch is divided.
// Slices are runs of blocks. The same for all launches of one kernel over one range, of arguments
// of equal values that are bound to the same bytes.
class Split {
 public:
  // Cuts into `most_blocks` at most, and finds out. `values` and `bound` are all the arguments,
  // set. `one_memory`: all members are processors of one coherent memory.
  Split(const KernelInfo& kernel, const port::LaunchRecord& launch,
        std::span<const ArgumentValue> values, std::span<const BoundArgument> bound,
        uint64_t most_blocks, bool one_memory = false);

  SplitClass splitClass() const { return class_; }
  // Why it is not exact, for people.
  const std::string& reason() const { return reason_; }

  uint64_t blocks() const { return blocks_; }
  // That it is cut along. Launches over one range that are cut along the same one have equal
  // blocks.
  unsigned dimension() const { return dimension_; }
  // The work-groups of a run of blocks.
  port::GroupBox box(const Slice& blocks) const;
  // Of `merge`: the members' memory is one, so nothing is copied, and any part may touch anything.
  bool inPlace() const { return in_place_; }
  // Of `merge`, by storage. accesses() says nothing of these. Where some are exclusive they are all
  // that the launch writes: nothing has changed yet when it shows whether they can be merged.
  const std::vector<MergedBytes>& merged() const { return merged_; }
  // Appends what these touch, neighbouring bytes together. Not of `whole` ones, nor in place.
  void accesses(const Slice& blocks, std::vector<PartAccess>& list) const;

 private:
  struct BlockAccess : PartAccess {
    const void* storage = nullptr;
    uint64_t block = 0;
    size_t limit = 0;  // the end of what the argument is bound to
  };
  // One way to cut.
  struct Cut {
    unsigned dimension = 0;
    uint64_t blocks = 1;
    std::vector<BlockAccess> accesses;
    std::vector<const void*> shared;  // storages that blocks are not known to have apart
    size_t pieces = 0;                // that those which they have apart fall into

    void joinPieces();
    size_t joinPieces(std::span<BlockAccess*> of_storage);
  };
  struct Launch {
    const KernelInfo& kernel;
    const port::LaunchRecord& record;
    std::span<const ArgumentValue> values;
    std::span<const BoundArgument> bound;

    bool writes(size_t argument) const;
    bool hasAtomics() const;  // whose results are used
    bool mayBindTwice() const;
    bool isImage(const void* storage) const;  // to one of the arguments
    uint8_t unitOf(const void* storage) const;
    std::optional<Combination> combinationOf(const void* storage) const;
  };

  void refuse(std::string reason);
  bool hazards(const Launch& launch, bool one_memory);
  bool separateMemory(const Launch& launch);
  void explain(std::string reason);
  std::vector<const void*> choose(const Launch& launch, uint64_t most_blocks, bool one_memory);
  void take(Cut&& cut);
  Cut cutAlong(const Launch& launch, unsigned dimension, uint64_t most_blocks, unsigned runs) const;
  void takeMerged(const Launch& launch, std::vector<const void*> shared);
  std::optional<MergedBytes> mergedBytes(const Launch& launch, const void* storage, bool exclusive);
  port::GroupBox boxOf(unsigned dimension, uint64_t blocks, const Slice& slice) const;

  port::GroupBox whole_;
  unsigned dimension_ = 0;
  uint64_t blocks_ = 1;
  SplitClass class_ = SplitClass::exact;
  std::string reason_;
  bool in_place_ = false;
  std::vector<MergedBytes> merged_;
  std::vector<BlockAccess> accesses_;  // by argument and place
};

}  // namespace weft::partition
