// Atomic operations on local memory of the CPU device: one thread runs all of a work-group, so they
// need not be.
#pragma once

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace weft::compiler {

// Marks them, while their address space still tells. Lanes that vectors run together still take
// turns then.
void markLocalAtomics(llvm::Module& module);
bool isMarkedLocal(const llvm::Instruction& instruction);

// Makes loads and stores of those that are marked: once nothing takes lanes apart any more.
void lowerLocalAtomics(llvm::Module& module);

}  // namespace weft::compiler
