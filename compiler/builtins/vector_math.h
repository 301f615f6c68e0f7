// Which symbols of SLEEF suit a target, within the library.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace weft::compiler {

// addVectorVariants without code of the library's own: for what such code leaves to SLEEF.
void useSleefAlone(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace weft::compiler
