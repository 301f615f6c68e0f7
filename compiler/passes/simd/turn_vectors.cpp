#include "compiler/passes/simd/turn_vectors.h"

#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/passes/simd/loop_evolution.h"
#include "compiler/passes/simd/vector_report.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Loop;

constexpr unsigned fewest_turns = 16;  // where they are known

class TurnVectors {
 public:
  TurnVectors(llvm::Function& lane, const LaneShapes& shapes) : shapes_(shapes), analyses_(lane) {}

  BlockSet blocks() {
    BlockSet result;
    for (Loop* loop : analyses_.loops.getLoopsInPreorder())
      if (loop->isInnermost() && takesTurnsTogether(*loop) && combinesIntegers(*loop) &&
          loadsRows(*loop))
        result.insert(loop->block_begin(), loop->block_end());
    return result;
  }

 private:
  bool takesTurnsTogether(Loop& loop) {
    llvm::BasicBlock* const latch = loop.getLoopLatch();
    auto* branch = latch ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
    if (!branch || loop.getExitingBlock() != latch || !shapes_.isUniform(branch->getCondition()))
      return false;
    const unsigned count = evolution_.getSmallConstantTripCount(&loop);
    return count == 0 || count >= fewest_turns;
  }

  bool combinesIntegers(Loop& loop) {
    return llvm::all_of(loop.getHeader()->phis(), [&](llvm::PHINode& phi) {
      llvm::InductionDescriptor induction;
      llvm::RecurrenceDescriptor recurrence;
      return phi.getType()->isIntegerTy() &&
             (llvm::InductionDescriptor::isInductionPHI(&phi, &loop, &evolution_, induction) ||
              llvm::RecurrenceDescriptor::isReductionPHI(&phi, &loop, recurrence));
    });
  }

  // And does nothing else with memory?
  bool loadsRows(Loop& loop) {
    bool any = false;
    for (llvm::BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call && !llvm::isTriviallyVectorizable(call->getIntrinsicID())) return false;
        if (!instruction.mayReadOrWriteMemory()) continue;
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (!load || !load->isSimple()) return false;
        const llvm::SCEV* place = evolution_.getSCEV(load->getPointerOperand());
        if (evolution_.isLoopInvariant(place, &loop)) continue;
        if (!isNextElement(*place, *load, loop)) return false;
        any |= !isSideBySide(*load);
      }
    return any;
  }
  bool isNextElement(const llvm::SCEV& place, const llvm::LoadInst& load, const Loop& loop) {
    auto* growing = llvm::dyn_cast<llvm::SCEVAddRecExpr>(&place);
    if (!growing || growing->getLoop() != &loop) return false;
    auto* step = llvm::dyn_cast<llvm::SCEVConstant>(growing->getStepRecurrence(evolution_));
    const uint64_t bytes = load.getDataLayout().getTypeAllocSize(load.getType()).getFixedValue();
    return step && step->getAPInt() == bytes;
  }
  // The lanes' rows, in memory: then all of them together are as fast.
  bool isSideBySide(const llvm::LoadInst& load) const {
    const AccessForm form = accessForm(load, shapes_, /*masked=*/false);
    return form == AccessForm::once || form == AccessForm::vector;
  }

  const LaneShapes& shapes_;
  LoopEvolution analyses_;
  llvm::ScalarEvolution& evolution_ = analyses_.evolution;
};

}  // namespace

BlockSet blocksOfTurnVectors(llvm::Function& lane, const LaneShapes& shapes) {
  return TurnVectors(lane, shapes).blocks();
}

}  // namespace weft::compiler
