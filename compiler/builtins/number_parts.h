// Numbers put together and taken apart, as the builtin library's exponentials end and its
// logarithms begin (cl/own_parts.cl): functions of single numbers, for which AVX-512 has
// instructions of vectors.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace llvm {
class TargetMachine;
}

namespace weft::compiler {

// The function that is called, such as "__weft_part_mantissa_float". Null if it is none of them.
const llvm::Function* calledNumberPart(const llvm::Instruction& call);

// Does it take what the library's function was asked for?
bool takesArgument(const llvm::Function& part);

// Has the target instructions for them, in vectors of that many bits?
bool hasNumberParts(const llvm::TargetMachine& machine, uint64_t bits);

// What a call of `part` is of these vectors: the same bits as what the library defines.
llvm::Value* emitNumberPart(llvm::IRBuilder<>& builder, const llvm::Function& part,
                            llvm::ArrayRef<llvm::Value*> arguments);

// Where the target has such instructions calls stay until vectors have been made of lanes; then
// those of single numbers are inlined.
void keepNumberParts(llvm::Module& module, const llvm::TargetMachine& machine);
void inlineNumberParts(llvm::Module& module);

}  // namespace weft::compiler
