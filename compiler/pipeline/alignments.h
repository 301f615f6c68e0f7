// Addresses of vectors that are not aligned as OpenCL C demands.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::compiler {

// Takes all memory but whole variables to be aligned as scalars are. A program that makes a
// pointer to vectors of one to floats breaks a rule (OpenCL C, 6.3.5), but runs where others are
// aligned loosely, as on GPUs; and x86's processors load and store aligned vectors as fast by
// instructions that do not demand it. To run before anything is inferred from alignments.
void allowMisalignedVectors(llvm::Module& module);

}  // namespace weft::compiler
