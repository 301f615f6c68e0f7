// The entry function: loops over work-groups, and in each over regions and lanes.
#pragma once

#include "compiler/passes/kernel_body.h"
#include "compiler/passes/regions.h"

namespace weft::compiler {

// Makes the port::CpuKernelEntry called `symbol` that runs `split`; `body.function` is gone by
// then. With more than `most_together` instructions its regions are functions of their own
// (region_chain.h). One of joint groups takes boxes of whole pairs only, which are as long as any
// in dimension 0.
llvm::Function* emitEntry(llvm::Module& module, const KernelBody& body, SplitKernel& split,
                          llvm::StringRef symbol, size_t most_together);

// What that needs of the context for each lane of capacity.
uint64_t contextBytesPerLane(const KernelBody& body, const SplitKernel& split);

}  // namespace weft::compiler
