// The variables of one work-item, for targets that have a space of their own for them.
#pragma once

#include <llvm/IR/PassManager.h>

namespace weft::compiler {

// Puts the variables of `function` into `space`; who uses them reaches them through a cast. Marks
// of where their lives begin and end go, since those may not be made through a cast.
void moveVariables(llvm::Function& function, unsigned space);

// Says of the variables of `function`, which stay where they are, that they are in `space`, and has
// all who use them reach them through generic pointers made of that. What a pointer that is one of
// several variables' refers to can be inferred then.
void nameVariables(llvm::Function& function, unsigned space);

// Has private arrays begin where one access can reach several elements, and says of accesses how
// they are aligned then, in loops, too.
struct AlignArrays : llvm::PassInfoMixin<AlignArrays> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft::compiler
