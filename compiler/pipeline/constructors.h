// Program-scope objects of C++ for OpenCL, which Clang constructs in kernels that nobody enqueues.
#pragma once

namespace llvm {
class Module;
}

namespace weft::compiler {

// Makes functions of these kernels: a host's module runs its llvm.global_ctors when it is loaded.
// Destructors do not run: Clang 19 registers them without saying for which object.
void keepConstructors(llvm::Module& module);

bool hasConstructors(const llvm::Module& module);

}  // namespace weft::compiler
