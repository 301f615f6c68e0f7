// Is a region faster with several lanes at once?
#pragma once

#include <llvm/IR/Function.h>

#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/far_loads.h"
#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// What the code of `width` lanes costs, one lane after the other and all at once, in simple
// instructions; loops of unknown length count as a few turns.
struct VectorCost {
  double lanes = 0;
  double vectors = 0;

  bool pays() const { return vectors * 1.25 < lanes; }
};

// What a vector of addresses costs and what each of its elements does: a load of a word, of less
// than that out of its word, and a store of a word.
struct GatherCost {
  double start, word, from_word, scattered;
  double for_arrays;  // how much faster vectors have to be that gather from private arrays
};
inline constexpr GatherCost slow_gathers{8, 2.5, 2.9, 3, 3};   // as Zen 4's
inline constexpr GatherCost fast_gathers{8, 1.65, 2, 2.2, 2};  // as Emerald Rapids'

inline constexpr double recurrence_latency = 3;  // floating-point arithmetic: waits for a turn

// Which part of the lanes comes to the block, guessed.
double shareOf(const llvm::BasicBlock& block, const ControlLevels& levels);
// Of one instruction, for all lanes of which that part gets there.
VectorCost instructionCost(const llvm::Instruction& instruction, const LaneShapes& shapes,
                           bool masked, double share, unsigned width, const GatherCost& gathers);
// Does a loop's next turn wait for this one's result? A sum, for one.
bool isRecurrence(const llvm::Instruction& instruction, const Level& level);
// How often the level's code runs, guessed.
double turnsOf(const Level& level);

VectorCost vectorCost(llvm::Function& lane, const ControlLevels& levels, const LaneShapes& shapes,
                      const FarLoads& far, unsigned width, const GatherCost& gathers);

// LLVM's loop vectoriser takes lanes that have no loops of their own. Does it fail, or waste what
// masks, divisions or small elements of the source's vectors cost?
bool isBeyondLoopVectoriser(llvm::Function& lane, const ControlLevels& levels,
                            const LaneShapes& shapes, bool slow_masks);

// Is there a loop that unrolling may remove?
bool hasShortLoop(llvm::Function& lane);

}  // namespace weft::compiler
