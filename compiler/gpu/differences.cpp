#include "compiler/gpu/differences.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::compiler {
namespace {

using namespace llvm::PatternMatch;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned register_bits = 32;

Value* extend(llvm::IRBuilder<>& builder, Value& number, bool is_signed) {
  return builder.CreateIntCast(&number, builder.getInt32Ty(), is_signed);
}

class Differences {
 public:
  explicit Differences(llvm::Function& function) : function_(function) {}

  void join() {
    for (Instruction& found : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (!found.getType()->isIntegerTy() || found.getType()->getIntegerBitWidth() > register_bits)
        continue;
      if (found.getOpcode() == Instruction::Sub)
        joinDistance(found);
      else if (auto* sum = llvm::dyn_cast<llvm::SaturatingInst>(&found))
        widen(*sum);
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructions(left_over_);
  }

 private:
  void joinDistance(Instruction& difference) {
    Value *a = nullptr, *b = nullptr;
    const bool is_signed =
        match(&difference,
              m_Sub(m_SMax(m_Value(a), m_Value(b)), m_SMin(m_Deferred(a), m_Deferred(b)))) ||
        match(&difference,
              m_Sub(m_SMax(m_Value(a), m_Value(b)), m_SMin(m_Deferred(b), m_Deferred(a))));
    if (!is_signed &&
        !match(&difference,
               m_Sub(m_UMax(m_Value(a), m_Value(b)), m_UMin(m_Deferred(a), m_Deferred(b)))) &&
        !match(&difference,
               m_Sub(m_UMax(m_Value(a), m_Value(b)), m_UMin(m_Deferred(b), m_Deferred(a)))))
      return;
    llvm::IRBuilder<> builder(&difference);
    Value* const first = extend(builder, *a, is_signed);
    Value* const second = extend(builder, *b, is_signed);
    const auto distance = [&](llvm::IRBuilder<>& at, Value& more) {
      return at.CreateIntrinsic(
          is_signed ? llvm::Intrinsic::nvvm_sad_i : llvm::Intrinsic::nvvm_sad_ui, {},
          {first, second, &more});
    };
    Value* const whole = distance(builder, *builder.getInt32(0));
    // What extends it with zeros finds them there.
    for (llvm::User* user : llvm::make_early_inc_range(difference.users()))
      if (auto* wider = llvm::dyn_cast<llvm::ZExtInst>(user)) replaceExtended(*wider, *whole);
    if (!difference.use_empty())
      difference.replaceAllUsesWith(builder.CreateTrunc(whole, difference.getType()));
    left_over_.emplace_back(&difference);
    addToSum(*llvm::cast<Instruction>(whole), distance);
  }

  void replaceExtended(llvm::ZExtInst& wider, Value& whole) {
    llvm::IRBuilder<> builder(&wider);
    wider.replaceAllUsesWith(builder.CreateZExtOrTrunc(&whole, wider.getType()));
    wider.setOperand(0, llvm::PoisonValue::get(wider.getSrcTy()));
    left_over_.emplace_back(&wider);
  }

  template <class Distance>
  void addToSum(Instruction& whole, const Distance& distance) {
    Value* sum = nullptr;
    if (!whole.hasOneUse()) return;
    auto* const addition = llvm::dyn_cast<Instruction>(*whole.user_begin());
    if (!addition || !match(addition, m_c_Add(m_Specific(&whole), m_Value(sum))) || sum == &whole)
      return;
    llvm::IRBuilder<> builder(addition);
    addition->replaceAllUsesWith(distance(builder, *sum));
    left_over_.emplace_back(addition);
  }

  void widen(llvm::SaturatingInst& sum) {
    const unsigned bits = sum.getType()->getIntegerBitWidth();
    if (bits >= register_bits) return;
    llvm::IRBuilder<> builder(&sum);
    const bool is_signed = sum.isSigned();
    Value* const whole =
        builder.CreateBinOp(sum.getBinaryOp(), extend(builder, *sum.getLHS(), is_signed),
                            extend(builder, *sum.getRHS(), is_signed));
    const auto limit = [&](const llvm::APInt& number) {
      return builder.getInt(is_signed ? number.sext(register_bits) : number.zext(register_bits));
    };
    Value* const above = builder.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, whole,
        limit(is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits)));
    Value* const within = builder.CreateBinaryIntrinsic(
        llvm::Intrinsic::smax, above,
        limit(is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits)));
    sum.replaceAllUsesWith(builder.CreateTrunc(within, sum.getType()));
    left_over_.emplace_back(&sum);
  }

  llvm::Function& function_;
  llvm::SmallVector<llvm::WeakTrackingVH> left_over_;
};

}  // namespace

void joinDifferences(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) Differences(function).join();
}

}  // namespace weft::compiler
