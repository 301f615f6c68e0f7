// Private arrays of all lanes of a vector, element by element: what lanes have at one index lies
// side by side, so that an access at an index that is the same for all of them is a whole vector.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Makes room in the lane's arrays for the elements of `width` lanes, where every access is to a
// whole element. The code is then that of the first lane; the others' elements follow it.
void interleaveArrays(llvm::Function& lane, unsigned width);

// Is it the variable of all lanes at once?
bool isInterleaved(const llvm::AllocaInst& variable);
bool hasInterleavedArrays(llvm::Function& lane);

// Is there an array that lies lane by lane, or that lanes access at different indices? Each access
// to those is a gather or scatter.
bool scattersArrays(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace weft::compiler
