#include "compiler/passes/half_comparisons.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

void compareHalvesAsFloats(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() ||
      !machine.getMCSubtargetInfo()->checkFeatures("+avx512fp16"))
    return;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction);
      if (!comparison || comparison->isCommutative()) continue;
      auto* const type =
          llvm::dyn_cast<llvm::FixedVectorType>(comparison->getOperand(0)->getType());
      if (!type || !type->getElementType()->isHalfTy()) continue;
      llvm::IRBuilder<> builder(comparison);
      auto* const wide = llvm::FixedVectorType::get(builder.getFloatTy(), type->getNumElements());
      for (llvm::Use& operand : comparison->operands())
        operand.set(builder.CreateFPExt(operand.get(), wide));
    }
}

}  // namespace weft::compiler
