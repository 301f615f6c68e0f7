// A lowered module in the address spaces of SPIR-V, in instructions that SPIR-V has.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "compiler/gpu/target_module.h"

namespace weft::compiler {

// `gpu` is lowered for NVIDIA's GPUs but has the triple and the data layout of the host. Afterwards
// variables of a work-item are in space 5, those of the program in 1, plain pointers are generic
// ones, and the kernels, of the calling convention SPIR_KERNEL, take constant pointers as global
// ones and what is passed by value in space 5. NVIDIA's intrinsics stay: the writer knows them.
// GpuKernel::launch is no longer valid.
void makeSpirvModule(GpuModule& gpu);

// Optimises only what the driver's compiler would not find out again, and leaves what
// writeSpirv() has words for.
void simplifyForSpirv(llvm::Module& module, llvm::TargetMachine& machine,
                      const port::Target& target);

}  // namespace weft::compiler
