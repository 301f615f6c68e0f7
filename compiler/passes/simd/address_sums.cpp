#include "compiler/passes/simd/address_sums.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "compiler/passes/simd/neighbours.h"

namespace weft::compiler {
namespace {

using llvm::GetElementPtrInst;
using llvm::Value;
using namespace llvm::PatternMatch;

// Of an address that is so many elements from another.
GetElementPtrInst* elementAddress(Value* pointer) {
  auto* address = llvm::dyn_cast<GetElementPtrInst>(pointer);
  const bool is_plain = address && address->getNumIndices() == 1 &&
                        address->getType()->isPointerTy() &&
                        address->getOperand(1)->getType()->isIntegerTy(64);
  return is_plain ? address : nullptr;
}

// How many elements of `bytes` a step goes; null where that is no whole number for certain.
Value* elementsOf(GetElementPtrInst& step, uint64_t bytes, llvm::IRBuilder<>& builder) {
  const llvm::DataLayout& layout = step.getDataLayout();
  Value* const index = step.getOperand(1);
  const uint64_t size = layout.getTypeAllocSize(step.getSourceElementType()).getFixedValue();
  if (size == bytes) return index;
  Value* factor = nullptr;
  const llvm::APInt* by = nullptr;
  if (size != 1 || !match(index, m_Mul(m_Value(factor), m_APInt(by))) || by->urem(bytes) != 0)
    return nullptr;
  return builder.CreateMul(factor, builder.getInt64(by->getSExtValue() / int64_t(bytes)));
}

// The steps from an address back to the next one with an index that differs between lanes, which is
// the last of them and goes from a pointer that all have. Empty: there is none.
llvm::SmallVector<GetElementPtrInst*> stepsBack(GetElementPtrInst& address,
                                                const LaneShapes& shapes) {
  llvm::SmallVector<GetElementPtrInst*> steps;
  for (Value* pointer = address.getPointerOperand(); !shapes.isUniform(pointer);) {
    GetElementPtrInst* const step = elementAddress(pointer);
    if (!step) return {};
    steps.push_back(step);
    pointer = step->getPointerOperand();
    if (!shapes.isUniform(step->getOperand(1)))
      return shapes.isUniform(pointer) ? steps : llvm::SmallVector<GetElementPtrInst*>();
  }
  return {};
}

}  // namespace

bool addIndicesFirst(llvm::Function& lane, const LaneShapes& shapes) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&lane))
    for (llvm::Instruction& instruction : *block) {
      GetElementPtrInst* const address = elementAddress(&instruction);
      if (!address || shapes.isUniform(address)) continue;
      const auto steps = stepsBack(*address, shapes);
      if (steps.empty() || !isMadeOfIds(steps.back()->getOperand(1), shapes)) continue;
      // A step of the same for all lanes leaves the one index as it is, but for its unit.
      const bool is_same = shapes.isUniform(address->getOperand(1));
      if (is_same ? address->getSourceElementType() == steps.back()->getSourceElementType()
                  : !isMadeOfIds(address->getOperand(1), shapes))
        continue;
      llvm::IRBuilder<> builder(address);
      const uint64_t bytes = address->getDataLayout()
                                 .getTypeAllocSize(address->getSourceElementType())
                                 .getFixedValue();
      Value* const earlier = elementsOf(*steps.back(), bytes, builder);
      if (!earlier) continue;
      Value* pointer = steps.back()->getPointerOperand();
      for (GetElementPtrInst* step : llvm::reverse(llvm::ArrayRef(steps).drop_back()))
        pointer = builder.CreateGEP(step->getSourceElementType(), pointer, step->getOperand(1));
      Value* const index = builder.CreateAdd(earlier, address->getOperand(1));
      address->replaceAllUsesWith(
          builder.CreateGEP(address->getSourceElementType(), pointer, index));
      address->eraseFromParent();
      return true;
    }
  return false;
}

}  // namespace weft::compiler
