#include "compiler/builtins/widening.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/math_names.h"
#include "compiler/builtins/number_parts.h"

namespace weft::compiler {
namespace {

// Everything else can be done for lanes whose value is not asked for.
bool canDivide(const llvm::Instruction& division) {
  const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(division.getOperand(1));
  return divisor && !divisor->isZero() && !divisor->isMinusOne();
}

// Of as many doubles as two vectors of AVX-512 hold, at an index below that.
constexpr unsigned table_size = 16;
const llvm::ConstantDataArray* tableUnder(const llvm::Instruction& load) {
  if (!llvm::isa<llvm::LoadInst>(load) || !load.getType()->isDoubleTy()) return nullptr;
  const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getOperand(0));
  const auto* global =
      place ? llvm::dyn_cast<llvm::GlobalVariable>(place->getPointerOperand()) : nullptr;
  if (!global || !global->isConstant() || !global->hasInitializer() ||
      place->getNumIndices() != 2 ||
      !llvm::cast<llvm::Constant>(place->getOperand(1))->isNullValue())
    return nullptr;
  const auto* table = llvm::dyn_cast<llvm::ConstantDataArray>(global->getInitializer());
  return table && table->getNumElements() == table_size ? table : nullptr;
}
bool isPlaceInTable(const llvm::Instruction& place) {
  return llvm::isa<llvm::GetElementPtrInst>(place) &&
         llvm::all_of(place.users(), [](const llvm::User* user) {
           return tableUnder(*llvm::cast<llvm::Instruction>(user)) != nullptr;
         });
}

// What a function leaves rare arguments to.
const llvm::Function* ownCalled(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && parseOwnMathName(callee->getName()) ? callee : nullptr;
}

bool canWiden(const llvm::Instruction& instruction) {
  if (instruction.isIntDivRem()) return canDivide(instruction);
  if (isPlaceInTable(instruction) || tableUnder(instruction) || ownCalled(instruction)) return true;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID());
  if (const llvm::Function* part = calledNumberPart(instruction))
    return part->size() == 1 && llvm::all_of(part->front(), canWiden);
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
  Widening(const llvm::Function& scalar, llvm::Function& vector, const Blocks& blocks,
           const llvm::TargetMachine& machine, FormMaker makeForm)
      : module_(*vector.getParent()),
        machine_(machine),
        makeForm_(makeForm),
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

  // By permutations of two vectors, of as many as there are elements.
  llvm::Value* lookUp(const llvm::ConstantDataArray& table, llvm::Value* index) {
    constexpr unsigned at_once = table_size / 2;
    llvm::Value* halves[2];
    for (unsigned half = 0; half < 2; ++half) {
      llvm::SmallVector<double, at_once> values;
      for (unsigned i = 0; i < at_once; ++i)
        values.push_back(table.getElementAsDouble(half * at_once + i));
      halves[half] = llvm::ConstantDataVector::get(builder_.getContext(), values);
    }
    const unsigned width = lanes_.getFixedValue();
    llvm::SmallVector<llvm::Value*> results;
    for (unsigned begin = 0; begin < width; begin += at_once) {
      const unsigned count = std::min(at_once, width - begin);
      llvm::Value* piece = builder_.CreateShuffleVector(
          index, llvm::createSequentialMask(begin, count, at_once - count));
      results.push_back(builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_pd_512, {},
                                                 {halves[0], piece, halves[1]}));
    }
    llvm::Value* all = llvm::concatenateVectors(builder_, results);
    return width % at_once == 0
               ? all
               : builder_.CreateShuffleVector(all, llvm::createSequentialMask(0, width, 0));
  }

  // For all lanes, if there are any that need it.
  llvm::Value* callRarely(const llvm::CallInst& call, const llvm::Function& function) {
    llvm::Function* form = makeForm_(function);
    llvm::SmallVector<llvm::Value*> arguments;
    for (const llvm::Use& argument : call.args()) arguments.push_back(wide(argument.get()));
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::Function& caller = *before->getParent();
    auto* const rare = llvm::BasicBlock::Create(caller.getContext(), "", &caller);
    auto* const after = llvm::BasicBlock::Create(caller.getContext(), "", &caller);
    builder_.CreateCondBr(builder_.CreateOrReduce(lanesOf(call.getParent())), rare, after,
                          llvm::MDBuilder(caller.getContext()).createUnlikelyBranchWeights());
    builder_.SetInsertPoint(rare);
    llvm::Value* const result = builder_.CreateCall(form, arguments);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    llvm::PHINode* const either = builder_.CreatePHI(result->getType(), 2);
    either->addIncoming(llvm::PoisonValue::get(result->getType()), before);
    either->addIncoming(result, rare);
    return either;
  }

  llvm::Value* widenPart(const llvm::Instruction& call, const llvm::Function& part) {
    llvm::SmallVector<llvm::Value*, 3> arguments;
    for (unsigned i = 0; i < part.arg_size(); ++i) arguments.push_back(wide(call.getOperand(i)));
    const llvm::TypeSize bits = arguments[0]->getType()->getPrimitiveSizeInBits();
    if (hasNumberParts(machine_, bits)) return emitNumberPart(builder_, part, arguments);
    for (unsigned i = 0; i < part.arg_size(); ++i) wide_[part.getArg(i)] = arguments[i];
    for (const llvm::Instruction& instruction : part.front())
      if (!instruction.isTerminator()) widen(instruction);
    return wide(llvm::cast<llvm::ReturnInst>(part.front().getTerminator())->getReturnValue());
  }

  void widen(const llvm::Instruction& instruction) {
    if (llvm::isa<llvm::BranchInst, llvm::GetElementPtrInst>(instruction)) return;
    if (const llvm::ConstantDataArray* table = tableUnder(instruction)) {
      const auto* place = llvm::cast<llvm::GetElementPtrInst>(instruction.getOperand(0));
      llvm::Value* const result = lookUp(*table, wide(place->getOperand(2)));
      wide_[&instruction] = result;
      return;
    }
    if (const llvm::Function* function = ownCalled(instruction)) {
      llvm::Value* const result = callRarely(llvm::cast<llvm::CallInst>(instruction), *function);
      wide_[&instruction] = result;
      return;
    }
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
    if (const llvm::Function* part = calledNumberPart(instruction)) {
      llvm::Value* const result = widenPart(instruction, *part);
      wide_[&instruction] = result;
      return;
    }
    llvm::Instruction* clone = instruction.clone();
    clone->mutateType(llvm::VectorType::get(instruction.getType(), lanes_));
    for (llvm::Use& operand : clone->operands()) operand.set(wide(operand.get()));
    wide_[&instruction] = builder_.Insert(clone);
  }

  llvm::Module& module_;
  const llvm::TargetMachine& machine_;
  FormMaker makeForm_;
  llvm::ElementCount lanes_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> wide_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*> masks_;
};

}  // namespace

bool widen(const llvm::Function& scalar, llvm::Function& vector, const llvm::TargetMachine& machine,
           FormMaker makeForm) {
  const Blocks blocks = inOrder(scalar);
  if (blocks.empty()) return false;
  for (const llvm::BasicBlock* block : blocks)
    if (!llvm::all_of(*block, canWiden)) return false;
  Widening(scalar, vector, blocks, machine, makeForm);
  return true;
}

}  // namespace weft::compiler
