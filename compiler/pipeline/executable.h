// The second half of the pipeline: target-neutral IR to code that a device loads.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include "compiler/options.h"
#include "core/image.h"

namespace weft::compiler {

// Lowers `module` to code for `image.target`; fills the payload and what the lowering knows about
// each kernel. The error's message is for the build log.
llvm::Error makeExecutable(llvm::Module& module, const Options& options, Image& image);

}  // namespace weft::compiler
