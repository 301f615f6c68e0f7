// Atomic operations on floating-point numbers that targets have in part, or wrongly.
#pragma once

#include "core/ports/capabilities.h"

namespace llvm {
class Module;
}

namespace weft::compiler {

// NVIDIA's instruction for global memory takes subnormal numbers for zero. An addend from 2^-100 on
// is too large for that to change the sum; others are added by exchanging.
void keepSubnormalSums(llvm::Module& module);

// Sums, least and greatest numbers by exchanging, but for the sums of float in the memories that
// the target's features name.
void exchangeFloats(llvm::Module& module, const port::Target& target);

}  // namespace weft::compiler
