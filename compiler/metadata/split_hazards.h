// What keeps a kernel's work-groups on one device.
#pragma once

#include <vector>

#include "core/image.h"

namespace llvm {
class Module;
}

namespace weft::compiler {

// Sets KernelInfo::split_hazards of the kernels that the module defines, which stay as they are. To
// be called on a simplified module that still has OpenCL's address spaces, after markPrintf.
void markSplitHazards(llvm::Module& module, std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
