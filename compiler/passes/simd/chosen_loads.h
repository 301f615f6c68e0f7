// Loads from one of two places, as `c ? a[i] : b[i]` becomes. Of lanes that choose each for
// themselves it is a gather, though they are neighbours in both.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Makes a branch of the choice in a lane's code, so that each way loads whole vectors, for the
// lanes that take it. `shapes` does not hold any more then; false if there is nothing to change.
bool branchToChosenLoads(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace weft::compiler
