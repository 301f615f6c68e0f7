#include "compiler/passes/wide_products.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

constexpr unsigned half = 32;  // bits of a product

// `left` and `right` are vectors of 32-bit numbers.
struct Halves {
  Instruction* upper = nullptr;
  Instruction* lower = nullptr;
  Value *left, *right;
};

llvm::FixedVectorType* halfType(const Value& value) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  const bool fits =
      type && type->getElementType()->isIntegerTy(half) && type->getNumElements() % 4 == 0;
  return fits ? type : nullptr;
}

// A factor before it was extended without its sign; null if it was not.
Value* extendedFrom(Value* factor, llvm::FixedVectorType* type) {
  Value* from = nullptr;
  if (match(factor, m_ZExt(m_Value(from)))) return from->getType() == type ? from : nullptr;
  auto* constant = llvm::dyn_cast<llvm::Constant>(factor);
  auto* splat =
      constant ? llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getSplatValue()) : nullptr;
  if (!splat || splat->getValue().getActiveBits() > half) return nullptr;
  return llvm::ConstantInt::get(type, splat->getValue().trunc(half));
}

Halves findHalves(Instruction& instruction) {
  Halves result;
  llvm::FixedVectorType* type = halfType(instruction);
  Value *left = nullptr, *right = nullptr;
  if (!type || !match(&instruction,
                      m_Trunc(m_LShr(m_Mul(m_Value(left), m_Value(right)), m_SpecificInt(half)))))
    return result;
  if (left->getType()->getScalarSizeInBits() < 2 * half) return result;
  result.left = extendedFrom(left, type);
  result.right = extendedFrom(right, type);
  if (!result.left || !result.right || llvm::isa<llvm::Constant>(result.left)) return result;
  for (llvm::User* user : result.left->users()) {
    auto* product = llvm::dyn_cast<Instruction>(user);
    if (!product || product->getParent() != instruction.getParent() ||
        !match(product, m_c_Mul(m_Specific(result.left), m_Specific(result.right))))
      continue;
    result.upper = &instruction;
    result.lower = product;
    break;
  }
  return result;
}

// The products of all numbers with an even or an odd place, and then their halves sorted.
void share(const Halves& halves) {
  Instruction* first = halves.lower->comesBefore(halves.upper) ? halves.lower : halves.upper;
  llvm::IRBuilder<> builder(first);
  llvm::FixedVectorType* type = halfType(*halves.left);
  const unsigned width = type->getNumElements();
  auto* wide = llvm::FixedVectorType::get(builder.getInt64Ty(), width / 2);
  // A number that nobody needs may be poison, and is not to spoil the one it is paired with.
  const auto pairs = [&](Value* numbers) {
    if (!llvm::isa<llvm::Constant>(numbers)) numbers = builder.CreateFreeze(numbers);
    return builder.CreateBitCast(numbers, wide);
  };
  Value *left = pairs(halves.left), *right = pairs(halves.right);
  const auto even = [&](Value* pair) { return builder.CreateAnd(pair, UINT32_MAX); };
  const auto odd = [&](Value* pair) { return builder.CreateLShr(pair, half); };
  Value* evens = builder.CreateBitCast(builder.CreateMul(even(left), even(right)), type);
  Value* odds = builder.CreateBitCast(builder.CreateMul(odd(left), odd(right)), type);
  const auto sorted = [&](unsigned half_place) {
    llvm::SmallVector<int> places;
    for (unsigned i = 0; i < width; ++i)
      places.push_back(static_cast<int>(i / 2 * 2 + half_place + (i % 2 == 0 ? 0 : width)));
    return builder.CreateShuffleVector(evens, odds, places);
  };
  halves.lower->replaceAllUsesWith(sorted(0));
  halves.upper->replaceAllUsesWith(sorted(1));
  halves.lower->eraseFromParent();
  halves.upper->eraseFromParent();
}

}  // namespace

void shareWideProducts(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<Instruction*> candidates;
    for (Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<llvm::TruncInst>(instruction)) candidates.push_back(&instruction);
    for (Instruction* candidate : candidates)
      if (const Halves halves = findHalves(*candidate); halves.upper) share(halves);
  }
}

}  // namespace weft::compiler
