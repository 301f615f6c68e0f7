#include "compiler/passes/scalarise_lanes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace weft::compiler {
namespace {

bool isOverLanes(const llvm::Loop& loop) {
  return llvm::findOptionMDForLoop(&loop, "llvm.loop.parallel_accesses") != nullptr;
}

bool onlyLanesLoop(const llvm::LoopInfo& loops) {
  bool any = false;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    if (!isOverLanes(*loop)) return false;
    any = true;
  }
  return any;
}

class ScalariseLanes : public llvm::PassInfoMixin<ScalariseLanes> {
 public:
  ScalariseLanes() {
    llvm::ScalarizerPassOptions options;
    options.ScalarizeLoadStore = true;
    passes_.addPass(llvm::ScalarizerPass(options));
    passes_.addPass(llvm::InstCombinePass());
    passes_.addPass(llvm::EarlyCSEPass(true));
  }

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    return onlyLanesLoop(analyses.getResult<llvm::LoopAnalysis>(function))
               ? passes_.run(function, analyses)
               : llvm::PreservedAnalyses::all();
  }

 private:
  llvm::FunctionPassManager passes_;
};

}  // namespace

void scalariseLanes(llvm::PassBuilder& builder) {
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(ScalariseLanes());
      });
}

}  // namespace weft::compiler
