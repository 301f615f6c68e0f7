// The lane context: what lanes keep in memory between regions. Structure of arrays: a slot of
// `size` bytes per lane lies at offset * capacity + lane * size.
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace weft::compiler {

// The context has room for so many lanes or a multiple.
inline constexpr uint64_t lane_capacity_multiple = 64;

class ContextLayout {
 public:
  // One value per lane. Returns the slot's number.
  unsigned addPerLane(uint64_t size, llvm::Align alignment);
  // An array for each lane, element by element: what lanes have at one index lies side by side, and
  // their next elements elementDistance() times the element's size after it.
  unsigned addSpread(uint64_t count, uint64_t element_bytes);
  // In elements: a little more than the capacity, lest all of one lane share a few places of a
  // cache.
  static llvm::Value* elementDistance(llvm::IRBuilder<>& builder, llvm::Value* capacity);
  // `size` bytes for the whole work-group: used by one lane after the other.
  unsigned addPerGroup(uint64_t size, llvm::Align alignment);
  // Fixes the offsets; no slots may be added afterwards.
  void finish();

  // Bytes for each lane of capacity (a multiple of 64).
  uint64_t bytesPerLane() const { return bytes_; }
  // Bytes that one lane owns.
  uint64_t privateBytes() const;

  // The address of a lane's part of a slot.
  llvm::Value* address(llvm::IRBuilder<>& builder, unsigned slot, llvm::Value* context,
                       llvm::Value* capacity, llvm::Value* lane) const;

 private:
  struct Slot {
    uint64_t size;       // for each lane of capacity
    uint64_t lane_size;  // stride between lanes; 0 for one per group
    llvm::Align alignment;
    uint64_t offset = 0;
  };
  std::vector<Slot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace weft::compiler
