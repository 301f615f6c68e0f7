#include "compiler/gpu/bit_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using namespace llvm::PatternMatch;

constexpr unsigned bits = 64, half_bits = 32;

struct Bit {
  llvm::Value* number = nullptr;
  uint64_t place = 0;
};

// The bit that all bits of the number are.
std::optional<Bit> maskOf(llvm::Instruction& instruction) {
  Bit bit;
  if (match(&instruction,
            m_Neg(m_And(m_LShr(m_Value(bit.number), m_ConstantInt(bit.place)), m_One()))))
    return bit.place < bits ? std::optional(bit) : std::nullopt;
  if (match(&instruction, m_Neg(m_And(m_Value(bit.number), m_One())))) return Bit{bit.number, 0};
  uint64_t left = 0;
  if (match(&instruction,
            m_AShr(m_Shl(m_Value(bit.number), m_ConstantInt(left)), m_SpecificInt(bits - 1))) &&
      left < bits)
    return Bit{bit.number, bits - 1 - left};
  return {};
}

// A number where a bit is set, else 0.
struct Choice {
  Bit bit;
  llvm::Value* value = nullptr;
};

std::optional<Choice> choiceOf(llvm::Instruction& instruction) {
  llvm::Value *number = nullptr, *value = nullptr;
  const llvm::APInt* bit = nullptr;
  llvm::ICmpInst::Predicate predicate{};
  const auto test = m_ICmp(predicate, m_And(m_Value(number), m_Power2(bit)), m_Zero());
  const bool is_clear = match(&instruction, m_Select(test, m_Zero(), m_Value(value))) &&
                        predicate == llvm::ICmpInst::ICMP_EQ;
  const bool is_set = !is_clear && match(&instruction, m_Select(test, m_Value(value), m_Zero())) &&
                      predicate == llvm::ICmpInst::ICMP_NE;
  if ((!is_clear && !is_set) || !number->getType()->isIntegerTy(bits)) return {};
  return Choice{{number, unsigned(bit->logBase2())}, value};
}

llvm::Value* makeMask(const Bit& bit, llvm::IRBuilder<>& builder) {
  llvm::Value* half = bit.number;
  if (bit.place >= half_bits) half = builder.CreateLShr(half, half_bits);
  half = builder.CreateTrunc(half, builder.getInt32Ty());
  half = builder.CreateShl(half, half_bits - 1 - bit.place % half_bits);
  half = builder.CreateAShr(half, half_bits - 1);
  llvm::Value* const low = builder.CreateZExt(half, builder.getInt64Ty());
  return builder.CreateOr(low, builder.CreateShl(low, half_bits));
}

llvm::Value* replacement(llvm::Instruction& found) {
  llvm::IRBuilder<> builder(&found);
  if (const auto bit = maskOf(found)) return makeMask(*bit, builder);
  const auto choice = choiceOf(found);
  return choice ? builder.CreateAnd(makeMask(choice->bit, builder),
                                    builder.CreateFreeze(choice->value))
                : nullptr;
}

}  // namespace

void makeMasksOfHalves(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& found : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!found.getType()->isIntegerTy(bits)) continue;
      llvm::Value* const other = replacement(found);
      if (!other) continue;
      found.replaceAllUsesWith(other);
      found.eraseFromParent();
    }
}

}  // namespace weft::compiler
