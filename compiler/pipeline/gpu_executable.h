// Target-neutral IR to code for GPUs.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/options.h"
#include "core/image.h"

namespace weft::compiler {

// image.target with what its kernels need beyond it: kernels that take more than 4096 bytes of
// parameters are a feature of newer PTX.
port::Target machineTarget(const Image& image);

// As makeExecutable: PTX text or SPIR-V for the driver's compiler, code objects. Fails, naming
// them, when the program calls functions that GPUs do not have.
llvm::Error makeGpuExecutable(llvm::Module& module, llvm::TargetMachine& machine,
                              const Options& options, Image& image);

}  // namespace weft::compiler
