// Loops whose lanes begin and end at numbers of their own, but near each other's: the turns of all
// of them are taken together, from the least number that one begins with to the greatest that one
// ends with, and each lane takes part in its own. So the number is the same for all lanes, or grows
// from lane to lane as it does where no window is cut off, and what is loaded by it is a vector.
#pragma once

#include <optional>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>

#include "compiler/passes/simd/lane_shapes.h"

namespace weft::compiler {

// A number that a loop counts, as start + steps.
struct CountedSteps {
  llvm::Value* start;
  llvm::Value* step;
  llvm::WeakVH sum;          // of the start and, null where nobody needs it,
  llvm::PHINode* steps;      // what was counted before this turn
  llvm::Instruction* taken;  // steps + step
};

// From which number to which each lane counts, by one.
struct LaneTurns {
  llvm::WeakTrackingVH start;
  llvm::WeakTrackingVH bound;
  llvm::CmpInst::Predicate goes_on;  // while the next number compares so with the bound
  // What start is a choice of, with something uniform: it grows by one from lane to lane, and all
  // numbers are counted from it. Null: they are nearly the same for all lanes.
  llvm::WeakTrackingVH base;
};

// Those of a loop that ends at its latch, after `test` with the bound as that operand of it; none
// where lanes may begin or end far from each other. `next` is what the number becomes.
std::optional<LaneTurns> nearTurns(const llvm::Loop& loop, llvm::Value* start,
                                   const llvm::BinaryOperator& next, const llvm::ICmpInst& test,
                                   unsigned bound, bool are_neighbours, const LaneShapes& shapes);

// Changes the loop, all numbers of which that begin differently are `counted`, the first one so.
// Analyses of it are not kept.
void uniteTurns(llvm::Loop& loop, const LaneTurns& turns, llvm::ArrayRef<CountedSteps> counted);

}  // namespace weft::compiler
