// Is a region faster with several lanes at once?
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// What the code of `width` lanes costs, one lane after the other and all at once, in simple
// instructions; loops of unknown length count as a few turns.
struct VectorCost {
  double lanes = 0;
  double vectors = 0;

  bool pays() const { return vectors * 1.25 < lanes; }
};

VectorCost vectorCost(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                      unsigned width);

// Is there a loop that is not gone once short loops are unrolled? Without one LLVM's loop
// vectoriser takes the loop over lanes.
bool hasLongLoop(llvm::Function& lane);

}  // namespace weft::compiler
