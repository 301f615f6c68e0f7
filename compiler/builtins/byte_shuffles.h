// Shuffles of bytes in the order that vectors of the program say.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::compiler {

// Makes the library's shuffle() and shuffle2() (OpenCL C 6.15.13) of 8 and 16 chars and of 8 shorts
// the instruction that x86 has for them since SSSE3. Others load their elements one by one.
void lowerByteShuffles(llvm::Module& module);

}  // namespace weft::compiler
