// Addresses to which several numbers are added one after the other that differ between lanes, as
// where what stays the same in a loop was taken out of it: the row of an image in one step, the
// column in another. The numbers are added first, so that they are seen to be one index.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Changes a lane's code, so that `shapes` does not hold any more; false if there is nothing to.
bool addIndicesFirst(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace weft::compiler
