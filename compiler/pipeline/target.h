// LLVM target machines for the targets that this build can produce images for.
#pragma once

#include <memory>

#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/options.h"
#include "core/ports/capabilities.h"

namespace weft::compiler {

// Registers the back ends with LLVM; any number of calls.
void initialiseTargets();

// `target.cpu` may be empty or "native": the processor that this runs on.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const port::Target& target,
                                                                   const Options& options);

// Gives target-neutral IR the machine's triple, data layout, processor and calling convention.
// Kernels keep theirs: it marks them.
void retarget(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace weft::compiler
