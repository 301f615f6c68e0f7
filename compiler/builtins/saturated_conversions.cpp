#include "compiler/builtins/saturated_conversions.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

namespace weft::compiler {
namespace {

using llvm::Value;

// The least and the greatest number of `type`, each rounded towards zero to what `from` can hold.
struct Range {
  llvm::APInt least, greatest;
  llvm::APFloat low, high;
  bool is_exact;
};
Range rangeOf(unsigned bits, bool is_signed, const llvm::fltSemantics& from) {
  Range range{is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits),
              is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits),
              llvm::APFloat(from), llvm::APFloat(from), true};
  const auto zero = llvm::APFloat::rmTowardZero;
  const auto low = range.low.convertFromAPInt(range.least, is_signed, zero);
  const auto high = range.high.convertFromAPInt(range.greatest, is_signed, zero);
  range.is_exact = ((low | high) & llvm::APFloat::opInexact) == 0;
  return range;
}

// Not a number becomes zero, as the language wants it.
Value* lowered(llvm::IntrinsicInst& call) {
  constexpr unsigned least_bits = 32;  // that processors convert to
  llvm::IRBuilder<> builder(&call);
  Value* x = call.getArgOperand(0);
  if (x->getType()->getScalarType()->isHalfTy())
    x = builder.CreateFPExt(x, x->getType()->getWithNewType(builder.getFloatTy()));
  llvm::Type* const type = call.getType();
  const unsigned bits = type->getScalarSizeInBits();
  const bool is_signed = call.getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
  const Range range = rangeOf(bits, is_signed, x->getType()->getScalarType()->getFltSemantics());
  Value* const low = llvm::ConstantFP::get(x->getType(), range.low);
  Value* const high = llvm::ConstantFP::get(x->getType(), range.high);
  Value* inside = builder.CreateSelect(builder.CreateFCmpOGT(x, low), x, low);
  inside = builder.CreateSelect(builder.CreateFCmpOLT(inside, high), inside, high);
  llvm::Type* const wide = type->getWithNewBitWidth(std::max(bits, least_bits));
  Value* result = is_signed || bits < least_bits ? builder.CreateFPToSI(inside, wide)
                                                 : builder.CreateFPToUI(inside, wide);
  result = builder.CreateTrunc(result, type);
  if (!range.is_exact)
    result = builder.CreateSelect(builder.CreateFCmpOGT(x, high),
                                  llvm::ConstantInt::get(type, range.greatest), result);
  return is_signed ? builder.CreateSelect(builder.CreateFCmpUNO(x, x),
                                          llvm::Constant::getNullValue(type), result)
                   : result;
}

}  // namespace

void lowerSaturatedConversions(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const llvm::Intrinsic::ID intrinsic = function.getIntrinsicID();
    if (intrinsic != llvm::Intrinsic::fptosi_sat && intrinsic != llvm::Intrinsic::fptoui_sat)
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto& call = *llvm::cast<llvm::IntrinsicInst>(user);
      call.replaceAllUsesWith(lowered(call));
      call.eraseFromParent();
    }
    function.eraseFromParent();
  }
}

}  // namespace weft::compiler
