#include "compiler/passes/simd/row_steps.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

namespace weft::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

constexpr unsigned address_bits = 64, index_bits = 32;

bool isWide(const Value* value) {
  return value->getType()->isIntegerTy(address_bits) || value->getType()->isPointerTy();
}

// Sums, differences and products, which in 32 bits must not wrap.
bool isExact(const Instruction& instruction) {
  if (auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction))
    return either->isDisjoint();
  auto* operation = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&instruction);
  return operation &&
         (instruction.getType()->isIntegerTy(address_bits) ||
          (instruction.getType()->isIntegerTy(index_bits) && operation->hasNoSignedWrap()));
}

Value* product(llvm::IRBuilder<>& builder, Value* a, Value* b) {
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(a); number && number->isOne()) return b;
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(b); number && number->isOne()) return a;
  return builder.CreateMul(a, b);
}

}  // namespace

RowSteps::RowSteps(llvm::Function& lane, const RowParameters& parameters, Question differs,
                   Question known_before)
    : parameters_(parameters) {
  for (llvm::Argument& argument : lane.args())
    if (!differs(&argument)) kinds_[&argument] = Kind::same;
  kinds_[lane.getArg(parameters.local_id)] = Kind::grows;
  kinds_[lane.getArg(parameters.lane)] = Kind::grows;
  for (const Instruction& instruction : llvm::instructions(lane))
    if (!differs(&instruction)) kinds_[&instruction] = Kind::same;
  // What is behind a loop's phi is not known yet when it is asked for, and so is anything.
  for (const Instruction& instruction : llvm::instructions(lane))
    if (differs(&instruction)) kinds_[&instruction] = find(instruction, known_before);
}

RowSteps::Kind RowSteps::kindOf(const Value* value) const {
  if (llvm::isa<llvm::Constant>(value)) return Kind::same;
  auto found = kinds_.find(value);
  return found == kinds_.end() ? Kind::other : found->second;
}

RowSteps::Kind RowSteps::ofNarrowed(const llvm::TruncInst& cast, Question known_before) {
  const Value* wide = cast.getOperand(0);
  if (!cast.getType()->isIntegerTy(index_bits) || !wide->getType()->isIntegerTy(address_bits))
    return Kind::other;
  auto* argument = llvm::dyn_cast<llvm::Argument>(wide);
  if (argument && argument->getArgNo() == parameters_.local_id) return Kind::grows;
  // An id: a local one and what is added to it.
  auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(wide);
  if (!sum || sum->getOpcode() != Instruction::Add || !known_before(wide)) return Kind::other;
  const auto isLocalId = [&](const Value* value) {
    auto* id = llvm::dyn_cast<llvm::Argument>(value);
    return id && id->getArgNo() == parameters_.local_id;
  };
  for (unsigned i = 0; i < 2; ++i)
    if (isLocalId(sum->getOperand(i)) && kindOf(sum->getOperand(1 - i)) == Kind::same) {
      narrowed_.insert(wide);
      return Kind::grows;
    }
  return Kind::other;
}

RowSteps::Kind RowSteps::find(const Instruction& instruction, Question known_before) {
  const auto is = [&](unsigned operand, Kind kind) {
    return kindOf(instruction.getOperand(operand)) == kind;
  };
  switch (instruction.getOpcode()) {
    case Instruction::Trunc:
      return ofNarrowed(llvm::cast<llvm::TruncInst>(instruction), known_before);
    case Instruction::ZExt:
      if (!instruction.hasNonNeg()) return Kind::other;
      [[fallthrough]];
    case Instruction::SExt:
      return instruction.getType()->isIntegerTy(address_bits) &&
                     instruction.getOperand(0)->getType()->isIntegerTy(index_bits)
                 ? kindOf(instruction.getOperand(0))
                 : Kind::other;
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Or:
      return isExact(instruction) && !is(0, Kind::other) && !is(1, Kind::other) ? Kind::grows
                                                                                : Kind::other;
    case Instruction::Mul:
      return isExact(instruction) && (is(0, Kind::same) || is(1, Kind::same)) &&
                     !is(0, Kind::other) && !is(1, Kind::other)
                 ? Kind::grows
                 : Kind::other;
    case Instruction::Shl:
      return isExact(instruction) && llvm::isa<llvm::ConstantInt>(instruction.getOperand(1))
                 ? kindOf(instruction.getOperand(0))
                 : Kind::other;
    case Instruction::GetElementPtr:
      return instruction.getType()->isPointerTy() &&
                     llvm::all_of(instruction.operands(),
                                  [&](const llvm::Use& use) {
                                    return kindOf(use) != Kind::other &&
                                           (llvm::isa<llvm::Constant>(use) || isWide(use));
                                  })
                 ? Kind::grows
                 : Kind::other;
    default:
      return Kind::other;
  }
}

Value* RowSteps::step(llvm::IRBuilder<>& builder, const Value* value,
                      llvm::function_ref<Value*(const Value*)> place) const {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return argument->getArgNo() == parameters_.lane
               ? place(argument->getParent()->getArg(parameters_.row_length))
               : builder.getInt64(1);
  auto& instruction = *llvm::cast<Instruction>(value);
  // Of an operand that is the same in all rows, in 64 bits.
  const auto same = [&](const Value* operand) {
    return builder.CreateSExt(place(operand), builder.getInt64Ty());
  };
  Value* sum = nullptr;
  const auto add = [&](const Value* operand, Value* factor, bool negative = false) {
    if (kindOf(operand) == Kind::same) return;
    Value* more = step(builder, operand, place);
    if (factor) more = product(builder, more, factor);
    if (!sum)
      sum = negative ? builder.CreateNeg(more) : more;
    else
      sum = negative ? builder.CreateSub(sum, more) : builder.CreateAdd(sum, more);
  };
  switch (instruction.getOpcode()) {
    case Instruction::Mul: {
      const unsigned factor = kindOf(instruction.getOperand(0)) == Kind::same ? 0 : 1;
      add(instruction.getOperand(1 - factor), same(instruction.getOperand(factor)));
      return sum;
    }
    case Instruction::Shl: {
      const auto* bits = llvm::cast<llvm::ConstantInt>(instruction.getOperand(1));
      return builder.CreateShl(step(builder, instruction.getOperand(0), place),
                               bits->getZExtValue());
    }
    case Instruction::GetElementPtr: {
      const llvm::DataLayout& layout = instruction.getDataLayout();
      add(instruction.getOperand(0), nullptr);
      for (auto it = llvm::gep_type_begin(instruction), end = llvm::gep_type_end(instruction);
           it != end; ++it)
        if (!llvm::isa<llvm::Constant>(it.getOperand()))
          add(it.getOperand(),
              builder.getInt64(it.getSequentialElementStride(layout).getFixedValue()));
      return sum;
    }
    default:
      for (unsigned i = 0; i < instruction.getNumOperands(); ++i)
        add(instruction.getOperand(i), nullptr,
            i == 1 && instruction.getOpcode() == Instruction::Sub);
      return sum;
  }
}

}  // namespace weft::compiler
