#include "compiler/passes/simd/vector_support.h"

#include <llvm/IR/Instructions.h>

#include "compiler/passes/simd/upper_halves.h"
#include "compiler/passes/simd/vector_body.h"

namespace weft::compiler {
namespace {

using llvm::Instruction;

// Can lanes not run side by side, whatever they do otherwise?
bool isInOrder(const Instruction& instruction) {
  // Folds of work-group functions: lanes find what those before them left.
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getOrdering() == llvm::AtomicOrdering::Unordered;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return store->getOrdering() == llvm::AtomicOrdering::Unordered;
  return false;
}

bool fillsItsBytes(const Instruction& access, llvm::Type* type) {
  const llvm::DataLayout& layout = access.getDataLayout();
  llvm::Type* element = type->getScalarType();
  return layout.getTypeSizeInBits(element) == layout.getTypeStoreSizeInBits(element);
}

}  // namespace

bool isSupported(const Instruction& instruction) {
  if (isInOrder(instruction)) return false;
  if (upperHalf(instruction) || leadsToUpperHalf(instruction)) return true;
  llvm::Type* type = instruction.getType();
  if (!type->isVoidTy() && partCount(type) == 0) return false;
  if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
    return variable->isStaticAlloca() && llvm::isa<llvm::ConstantInt>(variable->getArraySize()) &&
           llvm::cast<llvm::ConstantInt>(variable->getArraySize())->isOne();
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    return llvm::isa<llvm::CallInst>(call) && !call->hasOperandBundles() &&
           llvm::all_of(call->args(), [](const llvm::Use& use) {
             return use->getType()->isMetadataTy() || partCount(use->getType()) != 0;
           });
  }
  if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    llvm::Type* accessed = store ? store->getValueOperand()->getType() : type;
    return fillsItsBytes(instruction, accessed) && partCount(accessed) != 0;
  }
  return instruction.isTerminator() || llvm::all_of(instruction.operands(), [](const auto& use) {
           return partCount(use->getType()) != 0;
         });
}

}  // namespace weft::compiler
