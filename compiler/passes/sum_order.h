// The order in which the terms of vectors' sums are added.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Adds last what is there last, in sums of three and more vectors of integers. LLVM's optimiser
// adds a constant last, behind the term that the rest of the block waits for: MD5's steps, each of
// which needs the one before, then take five operations one after the other in place of four.
// Optimising the module after this would undo it.
void addLateTermsLast(llvm::Module& module);

}  // namespace weft::compiler
