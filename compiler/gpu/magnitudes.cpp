#include "compiler/gpu/magnitudes.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
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

// The distance from 0.
llvm::Value* exactMagnitude(llvm::IRBuilder<>& builder, llvm::Value& number) {
  constexpr unsigned register_bits = 32;
  llvm::Type* const type = number.getType();
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > register_bits)
    return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, &number,
                                         builder.CreateNeg(&number));
  llvm::Value* const zero = builder.getInt32(0);
  llvm::Value* const whole =
      builder.CreateIntrinsic(llvm::Intrinsic::nvvm_sad_i, {},
                              {builder.CreateSExt(&number, builder.getInt32Ty()), zero, zero});
  return builder.CreateTrunc(whole, type);
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
      magnitude->replaceAllUsesWith(exactMagnitude(builder, *magnitude->getArgOperand(0)));
      magnitude->eraseFromParent();
    }
}

}  // namespace weft::compiler
