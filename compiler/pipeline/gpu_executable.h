// Target-neutral IR to code for GPUs.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/options.h"
#include "core/image.h"

namespace weft::compiler {

// As makeExecutable: PTX text for the driver's compiler. Fails, naming them, when the program calls
// functions that GPUs do not have, or takes images.
llvm::Error makeGpuExecutable(llvm::Module& module, llvm::TargetMachine& machine,
                              const Options& options, Image& image);

}  // namespace weft::compiler
