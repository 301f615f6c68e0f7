// pow(x, n) with a known n: products where that is a small whole number, and roots.
#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"

namespace weft::compiler {
namespace {

// Each squaring doubles the error: an eighth power is off by 5 units in the last place. So is the
// inverse of a fourth, as the reciprocal is rounded first.
constexpr int least = -4, most = 8;

// "_Z3powDv4_fS_"
bool isPower(const llvm::Function& function) {
  const llvm::Type* type = function.getReturnType()->getScalarType();
  return function.isDeclaration() && function.getName().starts_with("_Z3pow") &&
         function.arg_size() == 2 && (type->isFloatTy() || type->isDoubleTy());
}

// The exponent that all elements have.
const llvm::ConstantFP* exponentOf(const llvm::CallInst& call) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(call.getArgOperand(1));
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
}

llvm::Value* product(llvm::IRBuilder<>& builder, llvm::Value* x, int n) {
  llvm::Value* const one = llvm::ConstantFP::get(x->getType(), 1);
  if (n == 0) return one;
  // Inverted first, as a product may overflow whose inverse does not vanish.
  llvm::Value* square = n < 0 ? builder.CreateFDiv(one, x) : x;
  llvm::Value* result = nullptr;
  for (int left = std::abs(n); left != 0; left >>= 1) {
    if (left & 1) result = result ? builder.CreateFMul(result, square) : square;
    if (left > 1) square = builder.CreateFMul(square, square);
  }
  return result;
}

// By sqrt or rsqrt, with what is said of `power` as a whole: but no power of zero is negative, and
// infinity has one on both sides.
llvm::Value* root(llvm::IRBuilder<>& builder, const llvm::CallInst& call, bool inverse) {
  llvm::Function& power = *call.getCalledFunction();
  const auto ofFunction = [&](const llvm::AttributeList& attributes) {
    llvm::LLVMContext& context = call.getContext();
    return llvm::AttributeList::get(context, attributes.getFnAttrs(), {}, {});
  };
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Type* const type = x->getType();
  // "_Z3powff" and "_Z3powDv4_fS_" name one type.
  llvm::StringRef types = power.getName().drop_front(llvm::StringRef("_Z3pow").size());
  if (!types.consume_back("S_")) types = types.drop_back();
  llvm::FunctionCallee function = power.getParent()->getOrInsertFunction(
      ((inverse ? "_Z5rsqrt" : "_Z4sqrt") + types).str(),
      llvm::FunctionType::get(type, {type}, false), ofFunction(power.getAttributes()));
  auto& declared = *llvm::cast<llvm::Function>(function.getCallee());
  declared.setCallingConv(power.getCallingConv());
  llvm::Value* const zero = llvm::ConstantFP::getZero(type);
  llvm::CallInst* const result = builder.CreateCall(function, {builder.CreateFAdd(x, zero)});
  result->setCallingConv(call.getCallingConv());
  result->setAttributes(ofFunction(call.getAttributes()));
  llvm::Value* const is_infinite =
      builder.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(type, true));
  return builder.CreateSelect(is_infinite, inverse ? zero : llvm::ConstantFP::getInfinity(type),
                              result);
}

// Null if it stays.
llvm::Value* expanded(llvm::IRBuilder<>& builder, const llvm::CallInst& call) {
  const llvm::ConstantFP* exponent = exponentOf(call);
  if (!exponent) return nullptr;
  for (int n = least; n <= most; ++n)
    if (exponent->isExactlyValue(n) || (n == 0 && exponent->isZero()))
      return product(builder, call.getArgOperand(0), n);
  if (exponent->isExactlyValue(0.5)) return root(builder, call, false);
  return exponent->isExactlyValue(-0.5) ? root(builder, call, true) : nullptr;
}

}  // namespace

void expandPowers(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!isPower(function)) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != &function) continue;
      llvm::IRBuilder<> builder(call);
      builder.setFastMathFlags(call->getFastMathFlags());
      llvm::Value* const result = expanded(builder, *call);
      if (!result) continue;
      call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
  }
}

}  // namespace weft::compiler
