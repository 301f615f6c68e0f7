#include "compiler/builtins/widening.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {
namespace {

// Everything else can be done for lanes whose value is not asked for.
bool canDivide(const llvm::Instruction& division) {
  const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(division.getOperand(1));
  return divisor && !divisor->isZero() && !divisor->isMinusOne();
}

bool canWiden(const llvm::Instruction& instruction) {
  if (instruction.isIntDivRem()) return canDivide(instruction);
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID());
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst, llvm::CastInst,
                   llvm::SelectInst, llvm::FreezeInst, llvm::PHINode, llvm::BranchInst,
                   llvm::ReturnInst>(instruction);
}

// All of its blocks, each after those that lead to it. Empty if there are loops.
using Blocks = llvm::SmallVector<const llvm::BasicBlock*>;
Blocks inOrder(const llvm::Function& function) {
  Blocks order;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> placed;
  for (const llvm::BasicBlock* block : llvm::ReversePostOrderTraversal(&function)) {
    for (const llvm::BasicBlock* before : llvm::predecessors(block))
      if (!placed.contains(before)) return {};
    placed.insert(block);
    order.push_back(block);
  }
  return order;
}

// Branches become selections.
class Widening {
 public:
  Widening(const llvm::Function& scalar, llvm::Function& vector, const Blocks& blocks)
      : module_(*vector.getParent()),
        lanes_(llvm::cast<llvm::VectorType>(vector.getReturnType())->getElementCount()),
        builder_(llvm::BasicBlock::Create(vector.getContext(), "", &vector)) {
    for (unsigned i = 0; i < scalar.arg_size(); ++i) wide_[scalar.getArg(i)] = vector.getArg(i);
    for (const llvm::BasicBlock* block : blocks)
      for (const llvm::Instruction& instruction : *block) widen(instruction);
  }

 private:
  llvm::Value* wide(llvm::Value* value) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(value))
      return llvm::ConstantVector::getSplat(lanes_, constant);
    return wide_.at(value);
  }

  // Which lanes come to `block`, and which from `from`. A constant where all do.
  llvm::Value* lanesOf(const llvm::BasicBlock* block) {
    if (block->isEntryBlock()) return wide(builder_.getTrue());
    if (llvm::Value* known = masks_.lookup(block)) return known;
    llvm::Value* all = wide(builder_.getFalse());
    for (const llvm::BasicBlock* from : llvm::predecessors(block))
      all = builder_.CreateOr(all, lanesOf(from, block));
    return masks_[block] = all;
  }
  llvm::Value* lanesOf(const llvm::BasicBlock* from, const llvm::BasicBlock* block) {
    const auto* branch = llvm::cast<llvm::BranchInst>(from->getTerminator());
    llvm::Value* lanes = lanesOf(from);
    if (branch->isUnconditional()) return lanes;
    llvm::Value* condition = wide(branch->getCondition());
    if (branch->getSuccessor(0) != block) condition = builder_.CreateNot(condition);
    return builder_.CreateAnd(lanes, condition);
  }
  llvm::Value* select(const llvm::PHINode& phi) {
    llvm::Value* result = wide(phi.getIncomingValue(0));
    for (unsigned i = 1; i < phi.getNumIncomingValues(); ++i)
      result = builder_.CreateSelect(lanesOf(phi.getIncomingBlock(i), phi.getParent()),
                                     wide(phi.getIncomingValue(i)), result);
    return result;
  }

  llvm::Value* widenCall(const llvm::IntrinsicInst& call) {
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    llvm::SmallVector<llvm::Type*> types;
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1))
      types.push_back(llvm::VectorType::get(call.getType(), lanes_));
    llvm::SmallVector<llvm::Value*> arguments;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      llvm::Value* argument = call.getArgOperand(i);
      const bool is_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
      arguments.push_back(is_scalar ? argument : wide(argument));
      if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i)))
        types.push_back(arguments.back()->getType());
    }
    llvm::Function* function = llvm::Intrinsic::getDeclaration(&module_, id, types);
    llvm::CallInst* result = builder_.CreateCall(function, arguments);
    result->copyIRFlags(&call);
    return result;
  }

  void widen(const llvm::Instruction& instruction) {
    if (llvm::isa<llvm::BranchInst>(instruction)) return;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      wide_[phi] = select(*phi);
      return;
    }
    if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) {
      builder_.CreateRet(wide(end->getReturnValue()));
      return;
    }
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
      wide_[&instruction] = widenCall(*call);
      return;
    }
    llvm::Instruction* clone = instruction.clone();
    clone->mutateType(llvm::VectorType::get(instruction.getType(), lanes_));
    for (llvm::Use& operand : clone->operands()) operand.set(wide(operand.get()));
    wide_[&instruction] = builder_.Insert(clone);
  }

  llvm::Module& module_;
  llvm::ElementCount lanes_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> wide_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*> masks_;
};

}  // namespace

bool widen(const llvm::Function& scalar, llvm::Function& vector) {
  const Blocks blocks = inOrder(scalar);
  if (blocks.empty()) return false;
  for (const llvm::BasicBlock* block : blocks)
    if (!llvm::all_of(*block, canWiden)) return false;
  Widening(scalar, vector, blocks);
  return true;
}

}  // namespace weft::compiler
