#include "compiler/passes/inverse_roots.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace weft::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

// Units in the last place that rsqrt may be off (OpenCL C, 7.4): what a mark has to allow.
constexpr float allowed = 2;

enum class Kind { none, root, loose_root, inverse_root };

// "_Z4sqrtDv4_f" -> "sqrt". Of double only what may err: its roots and quotients are exact.
Kind kindOf(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  size_t length = 0;
  if (!function.isDeclaration() || !name.consume_front("_Z") || name.consumeInteger(10, length))
    return Kind::none;
  if (function.arg_size() != 1) return Kind::none;
  const llvm::Type* const type = function.getReturnType()->getScalarType();
  if (type->isDoubleTy())
    return name.take_front(length) == "rsqrt" ? Kind::inverse_root : Kind::none;
  if (!type->isFloatTy()) return Kind::none;
  return llvm::StringSwitch<Kind>(name.take_front(length))
      .Case("sqrt", Kind::root)
      .Cases("half_sqrt", "native_sqrt", Kind::loose_root)
      .Cases("rsqrt", "half_rsqrt", "native_rsqrt", Kind::inverse_root)
      .Default(Kind::none);
}

void replace(llvm::CallInst& call, Kind kind) {
  Builder builder(&call);
  builder.setFastMathFlags(call.getFastMathFlags());
  llvm::MDNode* mark = call.getMetadata(llvm::LLVMContext::MD_fpmath);
  if (kind != Kind::root) mark = llvm::MDBuilder(call.getContext()).createFPMath(allowed);
  auto* result = llvm::cast<Instruction>(
      builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, call.getArgOperand(0)));
  result->setMetadata(llvm::LLVMContext::MD_fpmath, mark);
  if (kind == Kind::inverse_root)
    result = llvm::cast<Instruction>(
        builder.CreateFDiv(llvm::ConstantFP::get(call.getType(), 1), result, "", mark));
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

bool isMarked(const Value* value) {
  return llvm::cast<llvm::FPMathOperator>(value)->getFPAccuracy() >= allowed;
}

// What the quotient of 1 and a root has under it; null if it is none.
llvm::IntrinsicInst* rootUnder(const Value* value) {
  using namespace llvm::PatternMatch;
  const llvm::Type* const type = value->getType()->getScalarType();
  if ((!type->isFloatTy() && !type->isDoubleTy()) ||
      !match(value, m_FDiv(m_SpecificFP(1), m_Value())))
    return nullptr;
  auto* root = llvm::dyn_cast<llvm::IntrinsicInst>(llvm::cast<Instruction>(value)->getOperand(1));
  return root && root->getIntrinsicID() == llvm::Intrinsic::sqrt ? root : nullptr;
}

bool isInexact(const Value* quotient) {
  const llvm::IntrinsicInst* root = rootUnder(quotient);
  return root && isMarked(quotient) && isMarked(root);
}

Value* estimateOfVector(Builder& builder, Value* x, unsigned width) {
  const auto make = [&](llvm::Intrinsic::ID id) {
    Value* every = llvm::Constant::getAllOnesValue(builder.getIntNTy(std::max(width, 8u)));
    return builder.CreateIntrinsic(id, {}, {x, llvm::Constant::getNullValue(x->getType()), every});
  };
  if (x->getType()->getScalarType()->isDoubleTy()) {
    if (width == 2) return make(llvm::Intrinsic::x86_avx512_rsqrt14_pd_128);
    if (width == 4) return make(llvm::Intrinsic::x86_avx512_rsqrt14_pd_256);
    return make(llvm::Intrinsic::x86_avx512_rsqrt14_pd_512);
  }
  if (width == 4) return make(llvm::Intrinsic::x86_avx512_rsqrt14_ps_128);
  if (width == 8) return make(llvm::Intrinsic::x86_avx512_rsqrt14_ps_256);
  return make(llvm::Intrinsic::x86_avx512_rsqrt14_ps_512);
}

// To 14 bits, in vectors as the processor has them.
Value* estimate(Builder& builder, Value* x) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const unsigned width = type ? type->getNumElements() : 1;
  const unsigned bits = x->getType()->getScalarSizeInBits(), least = 128 / bits;
  unsigned at_once = 512 / bits;
  while (at_once > least && width <= at_once / 2) at_once /= 2;
  if (!type)
    x = builder.CreateInsertElement(
        llvm::PoisonValue::get(llvm::FixedVectorType::get(x->getType(), at_once)), x, uint64_t{0});
  llvm::SmallVector<Value*> results;
  for (unsigned begin = 0; begin < width; begin += at_once) {
    const unsigned count = type ? std::min(at_once, width - begin) : at_once;
    Value* piece = width == at_once || !type
                       ? x
                       : builder.CreateShuffleVector(
                             x, llvm::createSequentialMask(begin, count, at_once - count));
    results.push_back(estimateOfVector(builder, piece, at_once));
  }
  Value* all = llvm::concatenateVectors(builder, results);
  if (!type) return builder.CreateExtractElement(all, uint64_t{0});
  if (width % at_once == 0) return all;
  return builder.CreateShuffleVector(all, llvm::createSequentialMask(0, width, 0));
}

// Of zero and infinity, whose inverse roots are what they are estimated at, the step would make
// NaN.
Value* inverseRoot(Builder& builder, Value* x) {
  llvm::Type* type = x->getType();
  const auto fma = [&](Value* a, Value* b, Value* c) {
    return builder.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, b, c});
  };
  Value* const half = llvm::ConstantFP::get(type, 0.5);
  Value* const guess = estimate(builder, x);
  Value* const root = builder.CreateFMul(x, guess);
  const auto better = [&](Value* inverse, Value* of_it) {
    Value* const step = fma(builder.CreateFNeg(of_it), builder.CreateFMul(inverse, half), half);
    return fma(inverse, step, inverse);
  };
  Value* result = better(guess, root);
  if (type->getScalarType()->isDoubleTy()) result = better(result, builder.CreateFMul(x, result));
  return builder.CreateSelect(builder.CreateFCmpORD(root, root), result, guess);
}

}  // namespace

void markInverseRoots(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const Kind kind = kindOf(function);
    if (kind == Kind::none) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != &function) continue;
      if (kind != Kind::root || call->hasMetadata(llvm::LLVMContext::MD_fpmath))
        replace(*call, kind);
    }
  }
}

void allowEstimates(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (Instruction& instruction : llvm::instructions(function)) {
      // A root that is wanted for more has to be computed in any case.
      if (isInexact(&instruction) && llvm::all_of(rootUnder(&instruction)->users(), isInexact))
        instruction.setHasApproxFunc(true);
    }
}

void estimateInverseRoots(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() ||
      !machine.getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512vl"))
    return;
  for (llvm::Function& function : module) {
    llvm::SmallVector<Instruction*> found;
    for (Instruction& instruction : llvm::instructions(function))
      if (rootUnder(&instruction) && instruction.hasApproxFunc()) found.push_back(&instruction);
    for (Instruction* quotient : found) {
      llvm::IntrinsicInst* root = rootUnder(quotient);
      Builder builder(quotient);
      quotient->replaceAllUsesWith(inverseRoot(builder, root->getArgOperand(0)));
      quotient->eraseFromParent();
      if (root->use_empty()) root->eraseFromParent();
    }
  }
}

}  // namespace weft::compiler
