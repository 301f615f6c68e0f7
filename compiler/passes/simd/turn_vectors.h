// Loops that LLVM's vectoriser makes vectors of along their turns, where lanes go on one by one:
// what a lane loads in a turn lies behind what it loaded in the turn before.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

using BlockSet = llvm::SmallPtrSet<const llvm::BasicBlock*, 8>;

// The blocks of innermost loops that count or combine integers, of what lies in rows of each lane's
// own. Sums of floating-point numbers have an order.
BlockSet blocksOfTurnVectors(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace weft::compiler
