// Rotating the loops of very large functions.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace weft::compiler {

// Rotates the loops of functions that have very many before LLVM's own loop passes do. Those keep
// what they know of all loops around the one that they rotate up to date, so rotating a thousand
// loops of a function takes longer than all else that is done to it.
void rotateManyLoops(llvm::PassBuilder& builder);

}  // namespace weft::compiler
