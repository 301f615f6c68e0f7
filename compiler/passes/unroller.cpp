#include "compiler/passes/unroller.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace weft::compiler {
namespace {

// Adds a counter that nobody reads. The unroller puts the turns that are left over behind loops
// that begin with a number, where what is known of the first turn's addresses holds for all that
// are made one, and before others, which loops are whose addresses grow.
void countFromZero(llvm::Loop& loop) {
  llvm::BasicBlock *const before = loop.getLoopPreheader(), *const latch = loop.getLoopLatch();
  if (!before || !latch) return;
  llvm::IRBuilder<> builder(&loop.getHeader()->front());
  llvm::PHINode* const counter = builder.CreatePHI(builder.getInt32Ty(), 2);
  builder.SetInsertPoint(latch->getTerminator());
  counter->addIncoming(builder.getInt32(0), before);
  counter->addIncoming(builder.CreateAdd(counter, builder.getInt32(1)), latch);
}

}  // namespace

size_t lengthOf(const llvm::Loop& loop) {
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->sizeWithoutDebug();
  return instructions;
}

bool isSpokenFor(const llvm::Loop& loop) {
  const llvm::MDNode* id = loop.getLoopID();
  if (!id) return false;
  return llvm::any_of(llvm::drop_begin(id->operands()), [](const llvm::MDOperand& operand) {
    const auto* hint = llvm::dyn_cast<llvm::MDNode>(operand);
    const auto* name = hint && hint->getNumOperands() > 0
                           ? llvm::dyn_cast<llvm::MDString>(hint->getOperand(0))
                           : nullptr;
    return name && name->getString().starts_with("llvm.loop.unroll");
  });
}

bool isCooperative(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call && (call->isConvergent() || call->cannotDuplicate());
    });
  });
}

Unroller::Unroller(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
    : loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
      dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
      assumptions_(analyses.getResult<llvm::AssumptionAnalysis>(function)),
      evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
      target_(analyses.getResult<llvm::TargetIRAnalysis>(function)),
      remarks_(&function) {}

bool Unroller::canCountTurns(const llvm::Loop& loop) const {
  return evolution_.hasLoopInvariantBackedgeTakenCount(&loop);
}

bool Unroller::unroll(unsigned count, llvm::function_ref<bool(llvm::Loop&)> is_meant,
                      llvm::function_ref<void(llvm::Loop&)> left) {
  bool any = false;
  for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
    if (isSpokenFor(*loop) || isCooperative(*loop) || !is_meant(*loop)) continue;
    any = true;
    countFromZero(*loop);
    llvm::UnrollLoopOptions options{};
    options.Count = count;
    options.Force = options.Runtime = options.AllowExpensiveTripCount = true;
    options.UnrollRemainder = options.ForgetAllSCEV = true;
    const auto result =
        llvm::UnrollLoop(loop, options, &loops_, &evolution_, &dominators_, &assumptions_, &target_,
                         &remarks_, /*PreserveLCSSA=*/true);
    if (result == llvm::LoopUnrollResult::PartiallyUnrolled) left(*loop);
  }
  return any;
}

}  // namespace weft::compiler
