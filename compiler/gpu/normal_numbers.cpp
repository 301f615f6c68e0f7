#include "compiler/gpu/normal_numbers.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace weft::compiler {
namespace {

using llvm::Value;
using namespace llvm::PatternMatch;

constexpr unsigned deepest = 6;

enum class Least : uint8_t { zero, normal };  // or NaN

bool isAtLeast(const Value& number, Least least, unsigned depth);

bool isConstantAtLeast(const Value& number, Least least) {
  const llvm::APFloat* value = nullptr;
  if (!match(&number, m_APFloat(value)) || value->isNegative() || value->isNaN()) return false;
  return least == Least::zero || !(value->isZero() || value->isDenormal());
}

// What a call computes, of its arguments in their order, perhaps by a function of the library that
// is not inlined yet.
llvm::Intrinsic::ID operationOf(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || callee->isDeclaration()) return call.getIntrinsicID();
  const auto* body = llvm::dyn_cast<llvm::IntrinsicInst>(&callee->getEntryBlock().front());
  const auto* end = llvm::dyn_cast<llvm::ReturnInst>(callee->getEntryBlock().getTerminator());
  const bool is_body = body && end && end->getReturnValue() == body &&
                       body->arg_size() == callee->arg_size() &&
                       llvm::all_of(callee->args(), [&](const llvm::Argument& argument) {
                         return body->getArgOperand(argument.getArgNo()) == &argument;
                       });
  return is_body ? body->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
}

bool isProductPositive(const Value& a, const Value& b, unsigned depth) {
  return &a == &b || (isAtLeast(a, Least::zero, depth) && isAtLeast(b, Least::zero, depth));
}

bool isCallAtLeast(const llvm::CallBase& call, Least least, unsigned depth) {
  const auto argument = [&](unsigned i) -> const Value& { return *call.getArgOperand(i); };
  switch (operationOf(call)) {
    case llvm::Intrinsic::fabs:
      return least == Least::zero;
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
      return isProductPositive(argument(0), argument(1), depth) &&
             isAtLeast(argument(2), least, depth);
    case llvm::Intrinsic::maxnum:  // of NaN the other
      return isConstantAtLeast(argument(0), least) || isConstantAtLeast(argument(1), least) ||
             (isAtLeast(argument(0), least, depth) && isAtLeast(argument(1), least, depth));
    default:
      return false;
  }
}

bool isAtLeast(const Value& number, Least least, unsigned depth) {
  if (isConstantAtLeast(number, least)) return true;
  if (depth == deepest) return false;
  ++depth;
  Value *a = nullptr, *b = nullptr;
  if (match(&number, m_FAdd(m_Value(a), m_Value(b))))
    return (isAtLeast(*a, least, depth) && isAtLeast(*b, Least::zero, depth)) ||
           (isAtLeast(*b, least, depth) && isAtLeast(*a, Least::zero, depth));
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&number))
    return isCallAtLeast(*call, least, depth);
  return least == Least::zero && match(&number, m_FMul(m_Value(a), m_Value(b))) &&
         isProductPositive(*a, *b, depth);
}

}  // namespace

bool isNormalAndPositive(const Value& number) { return isAtLeast(number, Least::normal, 0); }

}  // namespace weft::compiler
