// Elements that a lane stores one by one and that lie side by side, as the fields of a record or
// the bytes of a pixel: one store of a vector, where the lanes' records follow each other. Then
// those of all lanes are a block, in place of a scatter for each field.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Changes a lane's code, so that `shapes` does not hold any more; false if there is nothing to.
bool joinStoresOfRecords(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace weft::compiler
