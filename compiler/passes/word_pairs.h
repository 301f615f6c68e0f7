// Numbers of 64 bits that a program rotates and combines as pairs of 32-bit words, as hashes do
// that were written for GPUs: (uint2)(x.x << n | x.y >> (32 - n), x.y << n | x.x >> (32 - n)).
#pragma once

#include <llvm/IR/Function.h>

namespace weft::compiler {

// Makes whole numbers of pairs that come from such numbers, or memory, and become such. CPUs have
// these operations for 64 bits, while taking numbers apart and putting them together again, lane by
// lane, takes more than the operations themselves.
void joinWordPairs(llvm::Function& function);

}  // namespace weft::compiler
