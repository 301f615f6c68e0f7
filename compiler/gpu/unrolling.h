// How far loops are unrolled on GPUs.
#pragma once

#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace weft::compiler {

// Makes four turns one of short innermost loops: what hides the latency of their loads is the next
// turn's, and LLVM's own limit for NVIDIA's GPUs leaves most at two. Not of loops that only compute
// and do not know when they begin how many turns they take. What the program says of a loop itself
// counts. Wants loops in their simple forms.
struct UnrollShortLoops : llvm::PassInfoMixin<UnrollShortLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Takes from these loops that they are not to be unrolled further, which is for LLVM's own unroller
// alone: the driver's compiler makes sixteen turns one where that is still short. To be run at the
// end.
struct LetDriverUnroll : llvm::PassInfoMixin<LetDriverUnroll> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Asks for loops of a known number of turns to be unrolled as a whole where that is not too much
// code, and for more of it where they go through private arrays: then their elements become
// registers, and those of tables literals. Such loops may be left before their last turn, as in a
// search. An array that is indexed by a variable lies in the device's memory, which takes a hundred
// times as long. What the program says of a loop itself counts. To be run on each loop before those
// around it, and before the unroller: first in `Where::kernels`, as a function that has grown is
// not put into its callers any more, and in all functions when that is done.
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
