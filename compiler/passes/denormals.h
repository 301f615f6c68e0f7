// Results that are denormal become zero, and arguments that are count as zero, where that is
// faster: what -cl-denorms-are-zero allows (OpenCL 3.0, 5.8.6.2).
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::compiler {

// On x86, which takes a hundred times as long for what is denormal unless the thread's state says
// that it is zero: from the function's beginning to its end, where its caller's state comes back.
void flushWithin(llvm::Function& entry);

// On GPUs, by instructions for it: in all functions, floats.
void useFlushingInstructions(llvm::Module& module);

}  // namespace weft::compiler
