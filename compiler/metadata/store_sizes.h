// In which units a kernel writes the memory behind its pointer arguments.
#pragma once

#include <vector>

#include "core/image.h"

namespace llvm {
class Module;
}

namespace weft::compiler {

// Sets ArgumentInfo::store_bytes of the kernels that the module defines. To be called on a
// simplified module that still has OpenCL's address spaces.
void markStoreSizes(const llvm::Module& module, std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
