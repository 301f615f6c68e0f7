// Values that are chosen by a number: `k == 0 ? x : k == 1 ? y : z`.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::compiler {

// Makes selections of such values, which are all there. LLVM makes a switch of them, whose cases do
// nothing: on GPUs, and for lanes of a vector, that many branches.
class ChooseValues : public llvm::PassInfoMixin<ChooseValues> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::compiler
