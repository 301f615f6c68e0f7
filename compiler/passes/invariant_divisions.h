// Divisions under a condition in loops, of numbers that the loop does not change.
#pragma once

#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

namespace weft::compiler {

// Divides before the loop, by 1 where a division would not be defined, which is harmless. LLVM 19's
// loop vectoriser divides only where the first of several turns does, and has the others use that
// quotient in an address all the same. Wants loops in their simple forms.
class HoistInvariantDivisions : public llvm::PassInfoMixin<HoistInvariantDivisions> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Does so right before the loop vectoriser.
void hoistInvariantDivisions(llvm::PassBuilder& builder);

}  // namespace weft::compiler
