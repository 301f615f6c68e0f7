// Program-scope objects of C++ for OpenCL, which Clang constructs in kernels that nobody enqueues.
#pragma once

#include <vector>

#include "core/image.h"

namespace llvm {
class Module;
}

namespace weft::compiler {

// Makes functions of these kernels: a host's module runs its llvm.global_ctors when it is loaded.
// Destructors are in llvm.global_dtors (compiler/frontend/destructors.h).
void keepConstructors(llvm::Module& module);

// Makes one function of the destructors, port::destroy_objects_symbol, which whoever loads the
// module calls before unloading it: a shared object's own would also run when the process exits,
// while kernels may still be running.
void exportDestructors(llvm::Module& module);

// For GPUs: makes kernels of both lists, for whoever loads the module to run
// (core/ports/launch.h), and adds them to `kernels`.
void makeObjectKernels(llvm::Module& module, std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
