#include "compiler/passes/simd/upper_halves.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/DivisionByConstantInfo.h>

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;
using Factor = UpperHalf::Factor;

constexpr unsigned bits = 64, long_bits = 2 * bits, half_bits = bits / 2;

bool isLong(const Value& value) { return value.getType()->isIntegerTy(long_bits); }

// Without a value if it has more bits.
Factor factorOf(Value* extended) {
  Value* from;
  if (match(extended, m_ZExt(m_Value(from))) && from->getType()->getIntegerBitWidth() <= bits)
    return {from, llvm::cast<Instruction>(extended)->hasNonNeg()};
  if (match(extended, m_SExt(m_Value(from))) && from->getType()->getIntegerBitWidth() <= bits)
    return {from, true};
  const llvm::APInt* number;
  if (!match(extended, m_APInt(number))) return {};
  const auto constant = [&] {
    return llvm::ConstantInt::get(extended->getContext(), number->trunc(bits));
  };
  if (number->isIntN(bits)) return {constant(), false};
  if (number->isSignedIntN(bits)) return {constant(), true};
  return {};
}

std::optional<UpperHalf> factorsOf(const Value& product) {
  Value *left, *right;
  if (!isLong(product) || !match(&product, m_Mul(m_Value(left), m_Value(right))))
    return std::nullopt;
  const UpperHalf result{factorOf(left), factorOf(right)};
  if (!result.left.value || !result.right.value) return std::nullopt;
  return result;
}

Value* quotientOf(llvm::IRBuilder<>& builder, Value* number, const llvm::APInt& divisor,
                  bool is_signed) {
  llvm::Type* const wide = builder.getIntNTy(long_bits);
  const auto upper = [&](Value* value, const llvm::APInt& magic) {
    Value* const extended =
        is_signed ? builder.CreateSExt(value, wide) : builder.CreateZExt(value, wide);
    const llvm::APInt factor = is_signed ? magic.sext(long_bits) : magic.zext(long_bits);
    Value* const product = builder.CreateMul(extended, builder.getInt(factor));
    return builder.CreateTrunc(builder.CreateLShr(product, bits), value->getType());
  };
  if (!is_signed) {
    const auto info = llvm::UnsignedDivisionByConstantInfo::get(divisor);
    Value* quotient = upper(builder.CreateLShr(number, info.PreShift), info.Magic);
    if (info.IsAdd) {
      Value* const rest = builder.CreateLShr(builder.CreateSub(number, quotient), 1);
      quotient = builder.CreateAdd(rest, quotient);
    }
    return builder.CreateLShr(quotient, info.PostShift);
  }
  const auto info = llvm::SignedDivisionByConstantInfo::get(divisor);
  Value* quotient = upper(number, info.Magic);
  if (divisor.isStrictlyPositive() && info.Magic.isNegative())
    quotient = builder.CreateAdd(quotient, number);
  if (divisor.isNegative() && info.Magic.isStrictlyPositive())
    quotient = builder.CreateSub(quotient, number);
  quotient = builder.CreateAShr(quotient, info.ShiftAmount);
  return builder.CreateAdd(quotient, builder.CreateLShr(quotient, bits - 1));
}

// Others are shifts.
bool needsProduct(const llvm::APInt& divisor) { return !divisor.abs().isPowerOf2(); }

}  // namespace

std::optional<UpperHalf> upperHalf(const Instruction& instruction) {
  Value* product;
  if (!instruction.getType()->isIntegerTy(bits) ||
      !match(&instruction, m_Trunc(m_Shr(m_Value(product), m_SpecificInt(bits)))))
    return std::nullopt;
  return factorsOf(*product);
}

bool leadsToUpperHalf(const Instruction& instruction) {
  if (!isLong(instruction)) return false;
  const bool is_known = llvm::isa<llvm::ZExtInst, llvm::SExtInst>(instruction) ||
                        match(&instruction, m_Shr(m_Value(), m_SpecificInt(bits))) ||
                        factorsOf(instruction);
  return is_known && llvm::all_of(instruction.users(), [](const llvm::User* user) {
           const auto& next = *llvm::cast<Instruction>(user);
           return upperHalf(next) || leadsToUpperHalf(next);
         });
}

Value* makeUpperHalf(llvm::IRBuilderBase& builder, const UpperHalf& half, Value* left,
                     Value* right) {
  llvm::Type* const type = left->getType()->getWithNewBitWidth(bits);
  left = builder.CreateIntCast(left, type, half.left.is_signed);
  right = builder.CreateIntCast(right, type, half.right.is_signed);
  const auto lower = [&](Value* value) { return builder.CreateAnd(value, UINT32_MAX); };
  const auto upper = [&](Value* value) { return builder.CreateLShr(value, half_bits); };
  Value *const a = lower(left), *const b = upper(left);
  Value *const c = lower(right), *const d = upper(right);
  Value* const middle = builder.CreateAdd(builder.CreateMul(b, c), upper(builder.CreateMul(a, c)));
  Value* const carried = builder.CreateAdd(builder.CreateMul(a, d), lower(middle));
  Value* result = builder.CreateAdd(builder.CreateMul(b, d), upper(middle));
  result = builder.CreateAdd(result, upper(carried));
  // A negative number is less by 2^64 than what it was taken for.
  const auto correct = [&](const Factor& factor, Value* value, Value* other) {
    if (!factor.is_signed) return;
    Value* const sign = builder.CreateAShr(value, bits - 1);
    result = builder.CreateSub(result, builder.CreateAnd(sign, other));
  };
  correct(half.left, left, right);
  correct(half.right, right, left);
  return result;
}

void divideByProducts(llvm::Function& lane) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane))) {
    const llvm::APInt* divisor;
    if (!instruction.isIntDivRem() || !instruction.getType()->isIntegerTy(bits) ||
        !match(instruction.getOperand(1), m_APInt(divisor)) || !needsProduct(*divisor))
      continue;
    const unsigned opcode = instruction.getOpcode();
    const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
    llvm::IRBuilder<> builder(&instruction);
    Value* const number = builder.CreateFreeze(instruction.getOperand(0));
    Value* result = quotientOf(builder, number, *divisor, is_signed);
    if (opcode == Instruction::SRem || opcode == Instruction::URem)
      result = builder.CreateSub(number, builder.CreateMul(result, instruction.getOperand(1)));
    instruction.replaceAllUsesWith(result);
    instruction.eraseFromParent();
  }
}

}  // namespace weft::compiler
