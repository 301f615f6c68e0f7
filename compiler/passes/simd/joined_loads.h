// Loads of each lane that lie side by side while lanes are far from each other: fields of a record,
// elements of a block, a[id * 16 + 0], a[id * 16 + 1], ... They become one load of a vector, which
// each lane loads whole, where each by itself would be a gather.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// Is it an address of memory that no private variable is in?
bool isOutside(const llvm::Value& pointer);

// As far as can be told, do lanes load a number each from places far from each other?
bool isApart(const llvm::LoadInst& load, const LaneShapes& shapes);

// One load for those of `row`, which have one type and are in the order of their addresses. It
// comes where `first` is, the first of them to run, whose address is `bytes` after the lowest.
void joinLoads(llvm::ArrayRef<llvm::LoadInst*> row, llvm::LoadInst& first, int64_t bytes);

// Changes the code of a lane, one of `width`, so that `shapes` does not hold any more; false if
// there is nothing to change.
bool joinLoadsSideBySide(llvm::Function& lane, const LaneShapes& shapes, unsigned width);

}  // namespace weft::compiler
