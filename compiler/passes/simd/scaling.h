// Multiplication by a power of two, as the builtin library's exponential ends (cl/inline_math.cl):
// a call in the code of a lane, so that it can become one instruction of vectors.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

inline constexpr unsigned scaled_at_once = 16;  // lanes

bool isScaling(const llvm::Instruction& instruction);

// Do the target's vectors of `width` lanes have an instruction for it?
bool hasScaling(const llvm::TargetMachine& machine, unsigned width);

// What are calls still becomes ordinary code with the rest of its function.
void inlineScaling(llvm::Module& module);

}  // namespace weft::compiler
