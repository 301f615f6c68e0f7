// Calls in loops to functions that work on what the caller keeps.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::compiler {

// Puts functions without loops in the place of calls in loops that write constants into the memory
// that they pass: the caller then has it in registers, and knows a part of it. Hashes are such
// functions: most words of a block that is hashed again and again are constants. What one function
// grows by is bounded.
void inlineCallsInLoops(llvm::Module& module);

}  // namespace weft::compiler
