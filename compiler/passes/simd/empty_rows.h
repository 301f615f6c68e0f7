// Rows of lanes none of which has anything to do: `if (i < n)` beyond n, or `if (i == 0)`.
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// A function of the lane's parameters, those of the first lane of a row, that is false only if all
// lanes of the row leave at the first branch without having done anything. `row_length` is the
// position of the parameter with their number. Null if that cannot be told, or not from ids and
// arguments alone. The row's end must not matter to anybody else.
llvm::Function* rowTest(llvm::Function& lane, const LaneShapes& shapes, unsigned row_length);

}  // namespace weft::compiler
