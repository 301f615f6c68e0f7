// Sums that are clamped: `max(x + 2, 0)`, as the coordinates of a pixel's neighbours are.
#pragma once

#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

namespace weft::compiler {

// Clamps first and adds then, `max(x, -2) + 2`, and adds numbers up: so neighbours that several
// turns of unrolled loops over a window have in common become one value, and what is loaded for
// them one load. Of sums that do not overflow.
class ClampBeforeAdding : public llvm::PassInfoMixin<ClampBeforeAdding> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Does so behind the unrolling of loops whose turns are known.
void clampBeforeAdding(llvm::PassBuilder& builder);

}  // namespace weft::compiler
