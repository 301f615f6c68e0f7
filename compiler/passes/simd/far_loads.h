// Loads that lanes do side by side while a loop takes each of them far through memory: in[i * n +
// id]. One lane after the other they read a cache line for one element each, and the lines of many
// turns are gone before the next lane comes; all lanes at once they read it whole.
#pragma once

#include <optional>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

using FarLoads = llvm::SmallPtrSet<const llvm::Instruction*, 8>;

FarLoads findFarLoads(llvm::Function& lane, const LaneShapes& shapes, llvm::DominatorTree& tree,
                      llvm::LoopInfo& loops);

// How many vectors a turn of such a loop should take at once, so that lines beside each other are
// read together and sums do not wait for each other: 1, 2 or 4, as far as `registers` go. Two where
// no loop goes far but one waits for what its turn before computed, or where there is much
// arithmetic in one piece.
unsigned vectorsAtOnce(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                       const FarLoads& far, unsigned registers);

// Is it much arithmetic without loops, and little memory?
bool isLongArithmetic(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes);

// What the instruction keeps in registers for one vector, in a loop; nothing if it is not for
// several at once.
std::optional<unsigned> registersFor(const llvm::Instruction& instruction, const LaneShapes& shapes,
                                     bool masked);

}  // namespace weft::compiler
