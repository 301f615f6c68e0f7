// Floating-point numbers taken apart and put together, as the builtin library's logarithm begins
// and its exponential ends (cl/inline_math.cl): calls in the code of a lane, so that they can
// become instructions of vectors.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

bool isFloatPart(const llvm::Instruction& instruction);

// Do the target's vectors of `width` lanes have instructions for them?
bool hasFloatParts(const llvm::TargetMachine& machine, unsigned width);

// What `call` is of these vectors.
llvm::Value* emitFloatPart(llvm::IRBuilder<>& builder, const llvm::CallBase& call,
                           llvm::ArrayRef<llvm::Value*> arguments);

// What are calls still becomes ordinary code with the rest of its function.
void inlineFloatParts(llvm::Module& module);

}  // namespace weft::compiler
