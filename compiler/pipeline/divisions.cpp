#include "compiler/pipeline/divisions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using llvm::BinaryOperator;
using llvm::Constant;
using llvm::Instruction;
using llvm::Value;

bool isSigned(const BinaryOperator& division) {
  return division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
}

// Every element of `divisor` is known, not zero and, in a signed division, not -1.
bool isHarmless(const BinaryOperator& division) {
  auto* divisor = llvm::dyn_cast<Constant>(division.getOperand(1));
  if (!divisor) return false;
  const auto harmless = [&](const Constant* element) {
    auto* value = llvm::dyn_cast_or_null<llvm::ConstantInt>(element);
    return value && !value->isZero() && !(isSigned(division) && value->isMinusOne());
  };
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(divisor->getType());
  if (!vector) return harmless(divisor);
  return llvm::all_of(llvm::seq(vector->getNumElements()),
                      [&](unsigned i) { return harmless(divisor->getAggregateElement(i)); });
}

// Divides by 1 instead, without a branch.
void define(BinaryOperator& division) {
  llvm::IRBuilder<> builder(&division);
  Value* dividend = division.getOperand(0);
  Value* divisor = division.getOperand(1);
  llvm::Type* type = division.getType();
  Value* undefined = builder.CreateICmpEQ(divisor, Constant::getNullValue(type));
  if (isSigned(division)) {
    const unsigned bits = type->getScalarSizeInBits();
    Value* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    Value* overflows =
        builder.CreateAnd(builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)),
                          builder.CreateICmpEQ(dividend, least));
    undefined = builder.CreateOr(undefined, overflows);
  }
  division.setOperand(1, builder.CreateSelect(undefined, llvm::ConstantInt::get(type, 1), divisor));
}

// The same constant with zero where it was poison.
Constant* withoutPoison(Constant* constant) {
  if (llvm::isa<llvm::PoisonValue>(constant)) return Constant::getNullValue(constant->getType());
  if (!llvm::isa<llvm::ConstantVector>(constant) || !constant->containsPoisonElement())
    return constant;
  llvm::SmallVector<Constant*> elements;
  for (llvm::Use& element : constant->operands())
    elements.push_back(withoutPoison(llvm::cast<Constant>(element)));
  return llvm::ConstantVector::get(elements);
}

// Where poison only says that a vector is not there yet, or that it is not looked at.
bool isPlaceholder(const llvm::Use& use) {
  const llvm::User* user = use.getUser();
  if (llvm::isa<llvm::InsertElementInst, llvm::InsertValueInst>(user))
    return use.getOperandNo() == 0;
  auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
  if (!shuffle || use.getOperandNo() != 1) return false;
  auto* type = llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
  const int width = static_cast<int>(type->getNumElements());
  return llvm::none_of(shuffle->getShuffleMask(), [&](int element) { return element >= width; });
}

// The front end folds divisions of constants while it writes instructions; what is undefined
// becomes poison there.
void replacePoison(Instruction& instruction) {
  for (llvm::Use& use : instruction.operands()) {
    auto* constant = llvm::dyn_cast<Constant>(use.get());
    if (constant && !isPlaceholder(use)) use.set(withoutPoison(constant));
  }
}

}  // namespace

void defineDivisions(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (Instruction& instruction : llvm::instructions(function)) {
      replacePoison(instruction);
      auto* operation = llvm::dyn_cast<BinaryOperator>(&instruction);
      if (operation && operation->isIntDivRem() && !isHarmless(*operation)) define(*operation);
    }
}

}  // namespace weft::compiler
