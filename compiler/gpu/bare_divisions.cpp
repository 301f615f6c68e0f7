#include "compiler/gpu/bare_divisions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using namespace llvm::PatternMatch;

constexpr unsigned deepest = 8;  // of selects and conditions

// What is known of a division on the way to one of its divisor's values.
struct Facts {
  bool is_zero = false, is_minus_one = false, is_least = false;
};

class Guards {
 public:
  explicit Guards(llvm::BinaryOperator& division)
      : dividend_(division.getOperand(0)),
        is_signed_(division.getOpcode() == llvm::Instruction::SDiv ||
                   division.getOpcode() == llvm::Instruction::SRem) {
    divisor_ = division.getOperand(1);
    while (auto* select = llvm::dyn_cast<llvm::SelectInst>(divisor_))
      divisor_ =
          match(select->getTrueValue(), m_One()) ? select->getFalseValue() : select->getTrueValue();
  }

  Value* divisor() const { return divisor_; }

  // Whether `value` is the divisor itself, or 1 only where dividing by that is unspecified.
  bool guard(Value* value, Facts facts, unsigned depth = 0) const {
    if (value == divisor_) return true;
    if (match(value, m_One()))
      return facts.is_zero || (is_signed_ && facts.is_minus_one && facts.is_least);
    auto* select = llvm::dyn_cast<llvm::SelectInst>(value);
    if (!select || depth == deepest) return false;
    const auto holds = [&](Value* chosen) {
      return [=, this](Facts known) { return guard(chosen, known, depth + 1); };
    };
    return given(select->getCondition(), true, facts, holds(select->getTrueValue()), depth) &&
           given(select->getCondition(), false, facts, holds(select->getFalseValue()), depth);
  }

 private:
  // Whether `holds` for all that may be known where `condition` has that value.
  bool given(Value* condition, bool value, Facts facts, llvm::function_ref<bool(Facts)> holds,
             unsigned depth) const {
    Value *a = nullptr, *b = nullptr;
    if (depth < deepest && (value ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                                  : match(condition, m_LogicalOr(m_Value(a), m_Value(b)))))
      return given(
          a, value, facts, [&](Facts known) { return given(b, value, known, holds, depth + 1); },
          depth + 1);
    if (depth < deepest && (value ? match(condition, m_LogicalOr(m_Value(a), m_Value(b)))
                                  : match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))))
      return given(a, value, facts, holds, depth + 1) && given(b, value, facts, holds, depth + 1);
    return holds(with(facts, condition, value));
  }

  Facts with(Facts facts, Value* condition, bool value) const {
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
    if (!compare ||
        compare->getPredicate() != (value ? llvm::CmpInst::ICMP_EQ : llvm::CmpInst::ICMP_NE))
      return facts;
    Value* const other = compare->getOperand(1);
    if (compare->getOperand(0) == divisor_) {
      facts.is_zero |= match(other, m_Zero());
      facts.is_minus_one |= match(other, m_AllOnes());
    }
    if (compare->getOperand(0) == dividend_) facts.is_least |= match(other, m_SignMask());
    return facts;
  }

  Value* dividend_;
  Value* divisor_;
  bool is_signed_;
};

// "rem.s32 $0, $1, $2;" and so on, which LLVM knows nothing of.
Value* instruction(llvm::BinaryOperator& division, Value* divisor) {
  llvm::IRBuilder<> builder(&division);
  const auto opcode = division.getOpcode();
  const bool is_signed = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
  const bool is_quotient = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::UDiv;
  llvm::Type* const word = builder.getInt32Ty();
  auto* const type = llvm::FunctionType::get(word, {word, word}, false);
  const std::string name = is_quotient ? "div" : "rem";
  auto* const assembly = llvm::InlineAsm::get(
      type, name + (is_signed ? ".s32" : ".u32") + " $0, $1, $2;", "=r,r,r", false);
  Value* const result =
      builder.CreateCall(type, assembly,
                         {builder.CreateIntCast(division.getOperand(0), word, is_signed),
                          builder.CreateIntCast(divisor, word, is_signed)});
  return builder.CreateIntCast(result, division.getType(), is_signed);
}

}  // namespace

void bareDivisions(llvm::Module& module) {
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  for (llvm::Function& function : module)
    for (llvm::Instruction& found : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* division = llvm::dyn_cast<llvm::BinaryOperator>(&found);
      if (!division || !division->isIntDivRem() || division->getType()->isVectorTy() ||
          division->getType()->getIntegerBitWidth() > 32)
        continue;
      const Guards guards(*division);
      Value* const before = division->getOperand(1);
      if (before == guards.divisor() || !guards.guard(before, {})) continue;
      division->replaceAllUsesWith(instruction(*division, guards.divisor()));
      division->eraseFromParent();
      unused.emplace_back(before);
    }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
}

}  // namespace weft::compiler
