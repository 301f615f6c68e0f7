// Comparisons of vectors of halves, where x86 has instructions for them.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace weft::compiler {

// Makes those that say which is less comparisons of floats: LLVM 19 exchanges the operands of one
// under a mask without turning it round (llvm/llvm-project#159723). Optimising the module after
// this would undo it.
void compareHalvesAsFloats(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace weft::compiler
