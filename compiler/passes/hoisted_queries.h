// What functions ask about their work-item, asked by their callers.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Module.h>

namespace weft::compiler {

// Functions whose code must end up in the kernels.
using LaneFunctions = llvm::DenseSet<const llvm::Function*>;

// A function that asks for ids or sizes has to become part of the kernel, which knows them. Of one
// that its program says is not to be inlined, and that would become very much code in all places
// where it is called, what it asks for becomes parameters instead, so that it can stay a function.
// What `lane_functions` says is outdated behind this.
void hoistQueries(llvm::Module& module, const LaneFunctions& lane_functions);

}  // namespace weft::compiler
