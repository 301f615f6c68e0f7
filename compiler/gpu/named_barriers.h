// Named barriers: the hardware's, which count warps, or such as count sub-groups in local memory
// (builtins/cl/own_named_barrier.cl).
#pragma once

#include <llvm/Support/Error.h>

#include "compiler/gpu/target_module.h"

namespace weft::compiler {

enum class NamedBarriers { of_hardware, counted };

// Before the library is linked: that is whose functions the program's calls become.
void chooseNamedBarriers(llvm::Module& module, NamedBarriers kind);

// Numbers those that `kernel` uses; an error where it has more than the hardware.
llvm::Error numberNamedBarriers(const GpuKernel& kernel);

}  // namespace weft::compiler
