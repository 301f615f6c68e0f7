// The tests by which lanes find that they have nothing to do: `if (i < n)` around a kernel's code,
// or `if (i == 0)`.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

struct Bound {
  llvm::BranchInst* branch;
  bool inside;  // the condition's value in lanes that go on
};
using Bounds = llvm::SmallVector<Bound, 2>;

// In their order, all before the lane has done anything.
Bounds findBounds(llvm::Function& lane);

// Functions of the lane's parameters, those of the first lane of a row. Null if that cannot be
// told, or not from ids and arguments alone.

// False only if the first `count` lanes of the row, or all of them, are out of bounds. `row_length`
// is the position of the parameter with their number. Their end must not matter to anybody else.
llvm::Function* someInside(llvm::Function& lane, const LaneShapes& shapes,
                           llvm::ArrayRef<Bound> bounds, unsigned count);
llvm::Function* someInsideRow(llvm::Function& lane, const LaneShapes& shapes,
                              llvm::ArrayRef<Bound> bounds, unsigned row_length);
// True only if the first `count` lanes of the row are inside of all of these bounds.
llvm::Function* allInside(llvm::Function& lane, const LaneShapes& shapes,
                          llvm::ArrayRef<Bound> bounds, unsigned count);

// Takes the first `count` bounds out of the code, which is then that of lanes inside of them.
void stayInside(llvm::Function& lane, size_t count);

}  // namespace weft::compiler
