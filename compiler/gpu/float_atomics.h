// Atomic additions of floats, subnormal ones included.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// NVIDIA's instruction for global memory takes subnormal numbers for zero. An addend from 2^-100 on
// is too large for that to change the sum; others are added by exchanging.
void keepSubnormalSums(llvm::Module& module);

}  // namespace weft::compiler
