// Loops that each lane begins at a number of its own and goes through in the same steps: a window
// around the work-item that is cut off at the edges, from max(0, id - n) to min(size, id + n), or
// in offsets from max(-n, -id) to min(n, size - 1 - id).
//
// The steps are counted apart: lanes whose numbers are neighbours in the first turn are seen to be
// so in all, and what is counted from the beginning is uniform. And there is a second form of the
// loop, for lanes that begin as neighbours, or at the same number, and take as many turns: none of
// the window is cut off. In the first form lanes near each other take their turns together
// (united_turns.h).
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Changes one loop of a lane's code, which must be in simplified form, so that `shapes` does not
// hold any more; false if there is none to change.
bool countStepsApart(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace weft::compiler
