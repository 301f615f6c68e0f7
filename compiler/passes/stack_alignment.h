// Where vectors that have to leave their registers are kept.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace weft::compiler {

// Aligns the stack of functions that are likely to keep vectors in it which are longer than its
// alignment: LLVM's code generation does so only where it knows before it has given out registers,
// and a vector that lies across two cache lines takes twice as long. To be called last.
void alignStacks(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace weft::compiler
