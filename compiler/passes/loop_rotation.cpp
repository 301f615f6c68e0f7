#include "compiler/passes/loop_rotation.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopRotationUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace weft::compiler {
namespace {

constexpr size_t many_loops = 100;
// Instructions of a header that may be copied, as in LLVM's pass.
constexpr unsigned most_copied = 16;

struct RotateManyLoops : llvm::PassInfoMixin<RotateManyLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (loops.getLoopsInPreorder().size() < many_loops) return llvm::PreservedAnalyses::all();
    auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
    const auto& costs = analyses.getResult<llvm::TargetIRAnalysis>(function);
    const llvm::SimplifyQuery query(function.getDataLayout(), nullptr, &tree, &assumptions);
    for (llvm::Loop* loop : loops) {
      llvm::simplifyLoop(loop, &tree, &loops, nullptr, &assumptions, nullptr, false);
      llvm::formLCSSARecursively(*loop, tree, &loops, nullptr);
    }
    const auto outer_first = loops.getLoopsInPreorder();
    for (llvm::Loop* loop : llvm::reverse(outer_first))
      llvm::LoopRotation(loop, &loops, &costs, &assumptions, &tree, nullptr, nullptr, query,
                         /*RotationOnly=*/false, most_copied, /*IsUtilMode=*/false);
    llvm::PreservedAnalyses preserved;
    preserved.preserve<llvm::DominatorTreeAnalysis>();
    preserved.preserve<llvm::LoopAnalysis>();
    return preserved;
  }
};

}  // namespace

void rotateManyLoops(llvm::PassBuilder& builder) {
  builder.registerPeepholeEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(RotateManyLoops());
      });
}

}  // namespace weft::compiler
