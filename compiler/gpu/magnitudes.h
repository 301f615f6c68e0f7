// Magnitudes of integers, whose largest is one more than the largest signed number.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// For NVIDIA's GPUs. The driver's compiler takes what `abs` returns for a number that is not
// negative, which it is for the least one: it converts that as a signed one, (float)abs(INT_MIN)
// being -2^31, and drops comparisons with 0. So where the least number cannot be ruled out, its
// distance from 0 takes the place of llvm.abs, of which the driver's compiler assumes nothing; of
// 64 bits the larger of the number and its negative. Optimising the module after this would undo
// it.
void exactMagnitudes(llvm::Module& module);

}  // namespace weft::compiler
