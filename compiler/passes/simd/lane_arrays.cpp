#include "compiler/passes/simd/lane_arrays.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "compiler/passes/element_arrays.h"

namespace weft::compiler {
namespace {

using llvm::AllocaInst;
using llvm::Instruction;
using llvm::Value;

constexpr const char* interleaved = "weft.interleaved";

void interleave(AllocaInst& variable, ElementArray& array, unsigned width) {
  llvm::IRBuilder<> builder(&variable);
  auto* row = llvm::ArrayType::get(array.element(), width);  // what all lanes have at one index
  AllocaInst* all =
      builder.CreateAlloca(llvm::ArrayType::get(row, array.count()), nullptr, variable.getName());
  all->setAlignment(std::max(variable.getAlign(), llvm::Align(64)));
  all->setMetadata(interleaved, llvm::MDNode::get(variable.getContext(), {}));
  // The address of the first lane's element.
  array.move(all, all->getAlign(), [&](llvm::IRBuilder<>& at, Value* base, Value* index) {
    return at.CreateGEP(row, base, index);
  });
}

llvm::SmallVector<AllocaInst*> arraysIn(llvm::Function& lane) {
  llvm::SmallVector<AllocaInst*> arrays;
  for (Instruction& instruction : llvm::instructions(lane))
    if (auto* variable = llvm::dyn_cast<AllocaInst>(&instruction);
        variable && variable->getAllocatedType()->isArrayTy())
      arrays.push_back(variable);
  return arrays;
}

}  // namespace

void interleaveArrays(llvm::Function& lane, unsigned width) {
  for (AllocaInst* variable : arraysIn(lane))
    if (ElementArray array(*variable); array.isByElements()) interleave(*variable, array, width);
}

bool isInterleaved(const AllocaInst& variable) { return variable.hasMetadata(interleaved); }

bool hasInterleavedArrays(llvm::Function& lane) {
  return llvm::any_of(arraysIn(lane), [](AllocaInst* array) { return isInterleaved(*array); });
}

bool scattersArrays(llvm::Function& lane, const LaneShapes& shapes) {
  return llvm::any_of(arraysIn(lane), [&](AllocaInst* variable) {
    if (!isInterleaved(*variable)) return true;
    llvm::SmallVector<Value*> open{variable};
    while (!open.empty())
      for (llvm::User* user : open.pop_back_val()->users()) {
        if (!llvm::isa<llvm::GetElementPtrInst>(user)) continue;
        if (shapes.isVarying(user)) return true;
        open.push_back(user);
      }
    return false;
  });
}

}  // namespace weft::compiler
