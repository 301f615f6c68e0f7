#include "compiler/gpu/float_atomics.h"

#include <llvm/CodeGen/AtomicExpandUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cmath>

#include "core/ports/spirv_target.h"

namespace weft::compiler {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;

constexpr unsigned global_space = 1, local_space = 3;
constexpr double large_enough = 0x1p-100;

bool isLarge(const Value& addend) {
  const auto* const constant = llvm::dyn_cast<llvm::ConstantFP>(&addend);
  return constant && std::abs(constant->getValueAPF().convertToFloat()) >= large_enough;
}

bool mayFlush(const AtomicRMWInst& operation) {
  return operation.getOperation() == AtomicRMWInst::FAdd && operation.getType()->isFloatTy() &&
         operation.getPointerAddressSpace() != local_space && !isLarge(*operation.getValOperand());
}

void exchange(llvm::IRBuilderBase& builder, Value* address, Value* loaded, Value* next,
              llvm::Align alignment, llvm::AtomicOrdering order, llvm::SyncScope::ID scope,
              Value*& success, Value*& new_loaded) {
  llvm::Type* bits = builder.getIntNTy(loaded->getType()->getScalarSizeInBits());
  Value* pair = builder.CreateAtomicCmpXchg(
      address, builder.CreateBitCast(loaded, bits), builder.CreateBitCast(next, bits), alignment,
      order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scope);
  success = builder.CreateExtractValue(pair, 1);
  new_loaded = builder.CreateBitCast(builder.CreateExtractValue(pair, 0), loaded->getType());
}

void split(AtomicRMWInst& add) {
  llvm::IRBuilder<> builder(&add);
  Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, add.getValOperand());
  Value* small = builder.CreateFCmpOLT(size, llvm::ConstantFP::get(add.getType(), large_enough));
  llvm::Instruction* small_end = nullptr;
  llvm::Instruction* large_end = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(small, &add, &small_end, &large_end);
  auto* exact = llvm::cast<AtomicRMWInst>(add.clone());
  exact->insertBefore(small_end);
  llvm::Instruction* direct = add.clone();
  direct->insertBefore(large_end);
  builder.SetInsertPoint(&add);
  llvm::PHINode* result = builder.CreatePHI(add.getType(), 2);
  result->addIncoming(exact, small_end->getParent());
  result->addIncoming(direct, large_end->getParent());
  add.replaceAllUsesWith(result);
  add.eraseFromParent();
  llvm::expandAtomicRMWToCmpXchg(exact, exchange);
}

bool isOnFloats(const AtomicRMWInst& operation) {
  return operation.isFloatingPointOperation() && operation.getOperation() != AtomicRMWInst::Xchg;
}

bool isNative(const AtomicRMWInst& operation, llvm::StringRef features) {
  if (operation.getOperation() != AtomicRMWInst::FAdd || !operation.getType()->isFloatTy())
    return false;
  const unsigned space = operation.getPointerAddressSpace();
  return (space == global_space && features.contains(port::spirv_global_float_sums)) ||
         (space == local_space && features.contains(port::spirv_local_float_sums));
}

template <class Wanted>
llvm::SmallVector<AtomicRMWInst*> operations(llvm::Module& module, Wanted&& wanted) {
  llvm::SmallVector<AtomicRMWInst*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* operation = llvm::dyn_cast<AtomicRMWInst>(&instruction);
          operation && wanted(*operation))
        found.push_back(operation);
  return found;
}

}  // namespace

void keepSubnormalSums(llvm::Module& module) {
  for (AtomicRMWInst* add : operations(module, mayFlush)) split(*add);
}

void exchangeFloats(llvm::Module& module, const port::Target& target) {
  for (AtomicRMWInst* operation : operations(module, isOnFloats))
    if (!isNative(*operation, target.features)) llvm::expandAtomicRMWToCmpXchg(operation, exchange);
}

}  // namespace weft::compiler
