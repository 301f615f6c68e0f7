// 1 / sqrt(x), which physics is full of, where its last bit need not be exact: of floats, and rsqrt
// of doubles.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft::compiler {

// Makes the calls of the program that may be off by some units in the last place instructions that
// are marked so: sqrt as the front end marked it (not under
// -cl-fp32-correctly-rounded-divide-sqrt), rsqrt, and what is native or half. To run before the
// builtin library is linked, whose own roots have to be exact.
void markInverseRoots(llvm::Module& module);

// Of quotients of 1 and a root, both marked, makes it a flag that they may be estimated: marks get
// lost where vectors are put together or taken apart and where a branch becomes a choice, flags do
// not. By itself it changes nothing. To run before the program is simplified, and again behind,
// where more of them are found.
void allowEstimates(llvm::Module& module);

// With AVX-512, makes such quotients estimates and a step of Newton's, or two of doubles, in place
// of an exact root and an exact division: off by less than 1.05 units in the last place, of doubles
// by 1.3. In all widths, so that a number does not depend on how lanes are run. Roots and quotients
// by themselves stay exact. To run when all else is optimised, so that vectorisers see what they
// know.
void estimateInverseRoots(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace weft::compiler
