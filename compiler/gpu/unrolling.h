// How far loops are unrolled on GPUs.
#pragma once

#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace weft::compiler {

// Asks for short innermost loops four times over: what hides the latency of their loads is the next
// turn's, and LLVM's own limit for NVIDIA's GPUs leaves most at two. The driver's compiler may go
// on from there, and makes sixteen turns one where that is still short. What the program says of a
// loop itself counts. To be run before the vectorisers, which come before the unroller.
struct UnrollShortLoops : llvm::PassInfoMixin<UnrollShortLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Asks for loops of a known number of turns to be unrolled as a whole where that is not too much
// code, and for more of it where they go through private arrays: then their elements become
// registers, and those of tables literals. An array that is indexed by a variable lies in the
// device's memory, which takes a hundred times as long. What the program says of a loop itself
// counts. To be run on each loop before those around it, and before the unroller: first in
// `Where::kernels`, as a function that has grown is not put into its callers any more, and in all
// functions when that is done.
struct UnrollKnownLoops : llvm::PassInfoMixin<UnrollKnownLoops> {
  enum class Where { kernels, everywhere };
  explicit UnrollKnownLoops(Where where) : where_(where) {}
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& standard,
                              llvm::LPMUpdater& updater);

 private:
  Where where_;
};

// Makes two turns one of loops that exchange two private arrays by their pointers: then each
// pointer is one array's, and an array whose elements are all known can become registers. Wants
// loops in their simple forms.
struct UnrollExchanges : llvm::PassInfoMixin<UnrollExchanges> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::compiler
