// Small tables of constants, held in registers: alphabets, boxes of ciphers, weights. What lanes
// take from them at places of their own is one permutation or a few, where memory would be read for
// each lane.
#pragma once

#include <array>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// How long tables of elements of 1, 2, 4 and 8 bytes may be; 0: not held.
using TableLengths = std::array<unsigned, 4>;
TableLengths tableLengths(const llvm::TargetMachine& machine);

// Makes loads from such tables calls that only vectors take for what they are. `shapes` does not
// hold any more then; false if there are none.
bool loadFromTables(llvm::Function& lane, const LaneShapes& shapes, const TableLengths& lengths);

bool isFromTable(const llvm::CallBase& call);

// What such a call gives for a vector of its indices. Those beyond the table give anything.
llvm::Value* takeFromTable(llvm::IRBuilderBase& builder, const llvm::CallBase& call,
                           llvm::Value* indices);

// In instructions, for so many lanes.
double costFromTable(const llvm::CallBase& call, unsigned width);

}  // namespace weft::compiler
