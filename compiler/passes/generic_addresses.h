// to_global, to_local, to_private and get_fence (OpenCL C 6.15.15): which memory a generic pointer
// points into. On a CPU all memory is one, and the address tells: local memory is one block, and
// private memory is the lane context and what the kernel has on the stack.
#pragma once

#include <llvm/IR/Function.h>

namespace weft::compiler {

bool isAddressQuery(const llvm::Function& function);

// Replaces the queries of `function`, whose parameters from `first` on are the environment.
void lowerAddressQueries(llvm::Function& function, unsigned first);

}  // namespace weft::compiler
