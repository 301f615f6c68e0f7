#include "compiler/gpu/magnitudes.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using namespace llvm::PatternMatch;

// Else nobody may ask for the least number's, or nobody can.
bool mayBeOfLeast(const llvm::IntrinsicInst& magnitude, const llvm::DataLayout& layout) {
  return match(magnitude.getArgOperand(1), m_Zero()) &&
         llvm::ComputeNumSignBits(magnitude.getArgOperand(0), layout) == 1;
}

}  // namespace

void exactMagnitudes(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& found : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* const magnitude = llvm::dyn_cast<llvm::IntrinsicInst>(&found);
      if (!magnitude || magnitude->getIntrinsicID() != llvm::Intrinsic::abs ||
          !mayBeOfLeast(*magnitude, module.getDataLayout()))
        continue;
      llvm::IRBuilder<> builder(magnitude);
      llvm::Value* const number = magnitude->getArgOperand(0);
      magnitude->replaceAllUsesWith(
          builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, number, builder.CreateNeg(number)));
      magnitude->eraseFromParent();
    }
}

}  // namespace weft::compiler
