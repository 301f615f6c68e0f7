// Values that are cheaper to compute anew than to keep.
#pragma once

#include <llvm/IR/Instructions.h>

namespace weft::compiler {

// If `value` is a short, safe computation on parameters and variables' addresses, moves it with
// what it needs to the end of `prologue`, which every region starts with.
bool moveToPrologue(llvm::Instruction& value, llvm::BasicBlock& prologue);

}  // namespace weft::compiler
