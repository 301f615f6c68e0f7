// Loops in which each lane goes through memory of its own, one element after the other:
// a[id * n + k]. So many turns are taken at a time that each lane loads its elements as one vector,
// a row. Element by element they would be gathers, each of which fetches a cache line per lane.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Changes the code of a lane, one of `width`, which must be in simplified form, so that `shapes`
// and `levels` do not hold any more; false if there is nothing to change.
bool loadLoopsByRows(llvm::Function& lane, const LaneShapes& shapes, const ControlLevels& levels,
                     llvm::TargetMachine& machine, unsigned width);

}  // namespace weft::compiler
