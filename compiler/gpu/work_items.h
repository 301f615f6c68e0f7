// What a work-item of a GPU asks about its place and its memory, and how work-items meet.
#pragma once

#include "compiler/gpu/sub_groups.h"
#include "compiler/gpu/target_module.h"

namespace weft::compiler {

// Replaces the calls of work-item functions, barriers and queries about generic pointers in
// `kernel`, into which everything that contains one has been inlined.
void lowerGpuWorkItems(const GpuKernel& kernel, const SubGroups& sub_groups);

// Atomic operations and fences as the target has them: relaxed operations between fences.
void lowerGpuAtomics(llvm::Module& module);

}  // namespace weft::compiler
