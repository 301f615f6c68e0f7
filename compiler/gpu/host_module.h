// A GPU's module as code for the host's processor, one work-item a call: what the tests' software
// GPUs run (tests/software_gpu).
#pragma once

#include <llvm/Support/Error.h>

#include "compiler/gpu/target_module.h"

namespace weft::compiler {

// Undefined functions of this prefix are the software GPU's: "weft_simt_barrier0" is what the
// intrinsic llvm.nvvm.barrier0 is to a GPU.
inline constexpr const char* simt_prefix = "weft_simt_";

// The name that software GPUs give their processor. They speak HIP, so to all else they are AMD's.
inline bool isSoftwareGpu(const port::Target& target) {
  return target.kind == port::TargetKind::amdgcn && target.cpu == "host";
}

// `gpu` is lowered for NVIDIA's GPUs but has the triple and the data layout of the host. Afterwards
//   - each kernel's symbol is `void symbol(const void* parameters)`, which runs one work-item, its
//     parameters one after the other, each aligned as its type is;
//   - "symbol.info", an array of uint32_t, says: bytes of all parameters, bytes of static local
//     memory, number of parameters; then of each its offset and its size;
//   - local variables are places in the block that weft_simt_local() returns, static ones first,
//     then dynamic ones;
//   - NVIDIA's intrinsics are calls of functions with simt_prefix.
// GpuKernel::launch is no longer valid.
void makeHostModule(GpuModule& gpu);

}  // namespace weft::compiler
