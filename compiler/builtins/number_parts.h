// Numbers put together and taken apart, as the library's exponentials end and its logarithms begin
// (cl/own_parts.cl), by instructions of AVX-512, within the library.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace llvm {
class TargetMachine;
}

namespace weft::compiler {

// "__weft_part_mantissa_float"
bool isNumberPart(const llvm::Function& function);

// Has the target instructions for them, in vectors of that many bits?
bool hasNumberParts(const llvm::TargetMachine& machine, uint64_t bits);

// What a call of `part` is of these vectors: the same bits as what the library defines.
llvm::Value* emitNumberPart(llvm::IRBuilder<>& builder, const llvm::Function& part,
                            llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace weft::compiler
