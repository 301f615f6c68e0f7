// Both halves of products of 32-bit integers, as generators of random numbers and hashes want them.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::compiler {

// Vectors of upper halves are made from two vectors of whole products; where the lower halves are
// wanted, too, these are in there already. Multiplying anew costs as much as both. To run when all
// else is optimised: before, lower halves are simpler as products by themselves.
void shareWideProducts(llvm::Module& module);

}  // namespace weft::compiler
