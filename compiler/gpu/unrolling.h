// How far loops are unrolled on GPUs.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::compiler {

// Asks for short innermost loops four times over: what hides the latency of their loads is the next
// turn's, and LLVM's own limit for NVIDIA's GPUs leaves most at two. The driver's compiler may go
// on from there, and makes sixteen turns one where that is still short. What the program says of a
// loop itself counts. To be run before the vectorisers, which come before the unroller.
struct UnrollShortLoops : llvm::PassInfoMixin<UnrollShortLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::compiler
