// The entry function: loops over work-groups, and in each over regions and lanes.
#pragma once

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/regions.h"

namespace weft::compiler {

// Makes the port::CpuKernelEntry called `symbol` that runs `split`; `body.function` is gone by
// then.
llvm::Function* emitEntry(llvm::Module& module, const KernelBody& body, SplitKernel& split,
                          llvm::StringRef symbol);

// Has work-groups that are long enough in dimension 1 run by `turned`, the entry of the kernel's
// turned body (turned_body.h).
void addTurned(llvm::Function& entry, llvm::Function& turned);

}  // namespace weft::compiler
