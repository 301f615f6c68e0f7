#include "compiler/gpu/unrolling.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace weft::compiler {
namespace {

constexpr size_t longest_body = 64, short_body = 28;  // instructions

// How many turns to make one of; 1 for long bodies.
unsigned turnsOf(const llvm::Loop& loop) {
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->sizeWithoutDebug();
  return instructions <= short_body ? 8 : instructions <= longest_body ? 4 : 1;
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

}  // namespace

llvm::PreservedAnalyses UnrollShortLoops::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (const unsigned turns = turnsOf(*loop);
        turns > 1 && loop->isInnermost() && !isSpokenFor(*loop))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", turns);
  return llvm::PreservedAnalyses::all();
}

}  // namespace weft::compiler
