// Math where the program allows what the machine's own instructions lose.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Before the builtins are linked, so that their own arithmetic stays exact: square roots that need
// not be rounded correctly (OpenCL C 7.4), functions native_, and under `relaxed`
// (-cl-fast-relaxed-math) sines, exponentials and logarithms become LLVM's, marked with the
// accuracy that is asked for. For NVIDIA's GPUs (`nvidia`) exponentials of float are made of their
// instruction for powers of two, which errs by less than OpenCL allows, and some functions are the
// library's own for them (builtins/cl/own_nvidia.cl).
void useNativeMath(llvm::Module& module, bool relaxed, bool nvidia);

// NVIDIA's instructions for what is so marked, for divisions that are, and for the library's calls
// of `__weft_machine_<instruction>`; shorter code for round().
void selectNativeMath(llvm::Module& module);

}  // namespace weft::compiler
