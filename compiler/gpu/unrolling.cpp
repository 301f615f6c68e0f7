#include "compiler/gpu/unrolling.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace weft::compiler {
namespace {

constexpr unsigned turns = 4;
constexpr size_t longest_body = 64;  // instructions

bool isShort(const llvm::Loop& loop) {
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->sizeWithoutDebug();
  return instructions <= longest_body;
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
    if (loop->isInnermost() && isShort(*loop) && !isSpokenFor(*loop))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", turns);
  return llvm::PreservedAnalyses::all();
}

}  // namespace weft::compiler
