// Finds out what a kernel does to the bytes behind each of its pointer arguments, and to its
// images.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "compiler/passes/kernel_body.h"

namespace weft::compiler {

// Fills accesses, reads_known and writes_known of the pointers to global and constant memory and of
// images. The body stays as it is; other functions that addresses depend on are looked into.
void analyseAccesses(const KernelBody& body, llvm::TargetMachine& machine, KernelInfo& info);

}  // namespace weft::compiler
