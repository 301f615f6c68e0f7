// What the intrinsics of NVIDIA's GPUs, which the lowering speaks (work_items.h), are to AMD's.
#pragma once

#include <string>

#include "compiler/gpu/target_module.h"

namespace weft::compiler {

// Until then such a module keeps to this data layout: the target's has its variables in an address
// space of their own, and short pointers.
inline constexpr const char* amd_interim_layout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64";

// Moves `gpu`, which is lowered as for NVIDIA's GPUs, to the target's data layout and address
// spaces, replaces llvm.nvvm.*, and says about the kernels what code generation has to know. What
// it has no replacement for stays, to be named as undefined. Of GpuKernel::launch nothing is left.
void makeAmdModule(GpuModule& gpu, const llvm::DataLayout& layout);

// The processor in LLVM's words: "gfx90a", "+sramecc,-xnack" of "sramecc+:xnack-".
std::string amdFeatures(llvm::StringRef features);

}  // namespace weft::compiler
