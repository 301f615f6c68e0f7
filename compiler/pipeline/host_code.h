// Machine code of lowered kernels for the host's processor.
#pragma once

#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/options.h"
#include "compiler/pipeline/elf_link.h"

namespace weft::compiler {

// Optimises `module` and generates code, part by part: options.processes of them at a time, with
// the same result whatever that is.
llvm::Expected<std::vector<ObjectCode>> makeHostCode(llvm::Module& module,
                                                     llvm::TargetMachine& machine,
                                                     const Options& options);

}  // namespace weft::compiler
