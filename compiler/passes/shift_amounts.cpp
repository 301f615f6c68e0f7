#include "compiler/passes/shift_amounts.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

// The same for amounts that are all in bounds.
llvm::Constant* bounded(llvm::Constant& amounts) {
  auto* const type = llvm::cast<llvm::FixedVectorType>(amounts.getType());
  const unsigned bits = type->getScalarSizeInBits();
  llvm::SmallVector<llvm::Constant*> elements;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Constant* const amount = amounts.getAggregateElement(i);
    if (!amount) return &amounts;
    auto* const number = llvm::dyn_cast<llvm::ConstantInt>(amount);
    const bool beyond = number && number->getValue().uge(bits);
    elements.push_back(beyond ? llvm::Constant::getNullValue(type->getElementType()) : amount);
  }
  return llvm::ConstantVector::get(elements);
}

}  // namespace

void boundShiftAmounts(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.isShift() || !llvm::isa<llvm::FixedVectorType>(instruction.getType()))
        continue;
      if (auto* amounts = llvm::dyn_cast<llvm::Constant>(instruction.getOperand(1)))
        instruction.setOperand(1, bounded(*amounts));
    }
}

}  // namespace weft::compiler
