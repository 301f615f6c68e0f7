// Which kernels can tell how their work-items are grouped.
#pragma once

#include <vector>

#include "core/image.h"

namespace llvm {
class Module;
}

namespace weft::compiler {

// Sets KernelInfo::observes_groups of the kernels that the module defines. To be called on a
// simplified module whose work-item functions are still calls.
void markGroupObservers(const llvm::Module& module, std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
