// What lanes load or store with one instruction of theirs.
#pragma once

#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {

// `count` elements of `element` in a row per lane.
struct VectorBody::Access {
  llvm::Type* element;
  unsigned count;
  uint64_t bytes;  // of an element
  LaneShape shape;
  llvm::Value* pointer;  // of the lane function
  llvm::Align alignment;

  bool inOneBlock() const {
    return shape.kind == LaneShape::linear && shape.stride > 0 &&
           static_cast<uint64_t>(shape.stride) == bytes * count;
  }
  bool reversed() const {
    return shape.kind == LaneShape::linear && count == 1 && shape.stride < 0 &&
           static_cast<uint64_t>(-shape.stride) == bytes;
  }
  bool strided() const {
    return shape.kind == LaneShape::linear && shape.stride > 0 &&
           static_cast<uint64_t>(shape.stride) % bytes == 0 && stride() <= widest_stride &&
           stride() > count;
  }
  uint64_t stride() const { return static_cast<uint64_t>(shape.stride) / bytes; }  // in elements
  // Where nobody knows what lies beside it.
  bool mayReadMore() const {
    constexpr unsigned global_space = 1, constant_space = 2;
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    return space == global_space || space == constant_space;
  }
  NeighbourIndex index(const LaneShapes& shapes) const {
    return neighbourIndex(pointer, bytes * count, shapes);
  }
};

// What is known of an access holds of one that is made of it.
void describeAccess(llvm::Value* made, const llvm::Instruction& from);

}  // namespace weft::compiler
