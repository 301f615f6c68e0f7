#include "compiler/passes/invariant_divisions.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace weft::compiler {
namespace {

using llvm::BinaryOperator;
using llvm::Constant;
using llvm::Value;

// Operands may be undefined where nobody divides, but one way for all who look at them.
void move(BinaryOperator& division, llvm::Instruction& place) {
  llvm::IRBuilder<> builder(&place);
  llvm::Type* const type = division.getType();
  Value* const dividend = builder.CreateFreeze(division.getOperand(0));
  Value* const divisor = builder.CreateFreeze(division.getOperand(1));
  Value* undefined = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  if (division.getOpcode() == llvm::Instruction::SDiv ||
      division.getOpcode() == llvm::Instruction::SRem) {
    const llvm::APInt least = llvm::APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value* const overflows =
        builder.CreateAnd(builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)),
                          builder.CreateICmpEQ(dividend, llvm::ConstantInt::get(type, least)));
    undefined = builder.CreateOr(undefined, overflows);
  }
  division.setOperand(0, dividend);
  division.setOperand(1, builder.CreateSelect(undefined, llvm::ConstantInt::get(type, 1), divisor));
  division.dropPoisonGeneratingFlags();
  division.moveBefore(&place);
}

bool hoist(llvm::Loop& loop, const llvm::DominatorTree& dominators) {
  llvm::BasicBlock* const before = loop.getLoopPreheader();
  const llvm::BasicBlock* const latch = loop.getLoopLatch();
  if (!before || !latch) return false;
  bool any = false;
  for (llvm::BasicBlock* block : loop.blocks()) {
    if (dominators.dominates(block, latch)) continue;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* const division = llvm::dyn_cast<BinaryOperator>(&instruction);
      if (!division || !division->isIntDivRem() || !loop.hasLoopInvariantOperands(division))
        continue;
      move(*division, *before->getTerminator());
      any = true;
    }
  }
  return any;
}

}  // namespace

llvm::PreservedAnalyses HoistInvariantDivisions::run(llvm::Function& function,
                                                     llvm::FunctionAnalysisManager& analyses) {
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool any = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost()) any |= hoist(*loop, dominators);
  if (!any) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

void hoistInvariantDivisions(llvm::PassBuilder& builder) {
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(llvm::LoopSimplifyPass());
        manager.addPass(llvm::LCSSAPass());
        manager.addPass(HoistInvariantDivisions());
      });
}

}  // namespace weft::compiler
