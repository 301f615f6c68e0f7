#include "compiler/passes/clamped_sums.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::compiler {
namespace {

using llvm::APInt;
using llvm::Instruction;
using llvm::Value;

// `base` + `number`, without overflow.
struct Sum {
  Value* base = nullptr;
  APInt number;
};

std::optional<Sum> sumOf(Value& value) {
  using namespace llvm::PatternMatch;
  Value* base = nullptr;
  const APInt* number = nullptr;
  if (!match(&value, m_NSWAddLike(m_Value(base), m_APInt(number))) ||
      llvm::isa<llvm::Constant>(base))
    return {};
  return Sum{base, *number};
}

Value* makeSum(llvm::IRBuilder<>& builder, Value& base, const APInt& number) {
  return builder.CreateNSWAdd(&base, llvm::ConstantInt::get(base.getType(), number));
}

// (x + 1) + 2: x + 3. As neither sum overflows, nor does this one.
Value* addUp(Instruction& outer) {
  const auto sum = sumOf(outer);
  const auto inner = sum ? sumOf(*sum->base) : std::nullopt;
  if (!inner) return nullptr;
  bool overflows = false;
  const APInt number = inner->number.sadd_ov(sum->number, overflows);
  if (overflows) return nullptr;
  llvm::IRBuilder<> builder(&outer);
  return number.isZero() ? inner->base : makeSum(builder, *inner->base, number);
}

Value* clampFirst(llvm::MinMaxIntrinsic& clamp) {
  using namespace llvm::PatternMatch;
  const APInt* bound = nullptr;
  if (!clamp.isSigned() || !match(clamp.getRHS(), m_APInt(bound))) return nullptr;
  const auto sum = sumOf(*clamp.getLHS());
  if (!sum) return nullptr;
  bool overflows = false;
  const APInt before = bound->ssub_ov(sum->number, overflows);
  if (overflows) return nullptr;
  llvm::IRBuilder<> builder(&clamp);
  Value* const clamped = builder.CreateBinaryIntrinsic(
      clamp.getIntrinsicID(), sum->base, llvm::ConstantInt::get(clamp.getType(), before));
  return makeSum(builder, *clamped, sum->number);
}

}  // namespace

llvm::PreservedAnalyses ClampBeforeAdding::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager& analyses) {
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  bool any = false;
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function))
    for (Instruction& instruction : *block) {
      auto* const clamp = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
      Value* const other = clamp ? clampFirst(*clamp) : addUp(instruction);
      if (!other) continue;
      any |= clamp != nullptr;
      instruction.replaceAllUsesWith(other);
      replaced.emplace_back(&instruction);
    }
  if (replaced.empty()) return llvm::PreservedAnalyses::all();
  llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced);
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  if (!any) return preserved;
  analyses.invalidate(function, preserved);
  return llvm::EarlyCSEPass(/*UseMemorySSA=*/true).run(function, analyses);
}

void clampBeforeAdding(llvm::PassBuilder& builder) {
  builder.registerScalarOptimizerLateEPCallback(
      [](llvm::FunctionPassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(ClampBeforeAdding());
      });
}

}  // namespace weft::compiler
