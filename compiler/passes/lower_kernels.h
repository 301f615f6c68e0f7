// Lowers OpenCL kernels to CPU entry functions over logical lanes.
//
// A kernel is cut at its barriers into regions. Each region becomes a function of one work-item (a
// lane) that returns the region at which the lane goes on; the entry function runs every region for
// all lanes of a work-group before it goes to the next. What a lane keeps across a barrier lives in
// the lane context. Nothing depends on the shape of the control flow.
#pragma once

#include <vector>

#include <llvm/Support/Error.h>

#include "compiler/passes/simd/vectorise.h"
#include "core/image.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace weft::compiler {

struct LoweringOptions {
  bool optimize = true;
  Vectorising vectorise = Vectorising::automatic;  // only where code is optimised
  // Instructions of all regions of a kernel that are one function.
  size_t most_together = 3'000;
};

// `module` is spir64-style IR, linked with its builtins, with triple and data layout of `machine`.
// Kernels are the functions with calling convention SPIR_KERNEL; address spaces are 1 global,
// 2 constant, 3 local, 4 generic, 0 private; structs by value are byval pointers; work-item queries
// and barriers are calls to declared functions with their OpenCL names (work_items.cpp).
//
// Replaces each kernel by an externally visible function of type port::CpuKernelEntry and fills
// symbol, local_bytes, private_bytes, lane_context_bytes, lane_dimension, rows_at_once,
// other_forms, stack_bytes, has_barriers and the arguments' accesses of the KernelInfo of that
// name. Everything else becomes internal. Kernels called like functions keep working. No
// optimisation of the module must have run before that moves code over barriers; the caller
// optimises afterwards. Arguments must be aligned as their types are.
//
// Fails, with a message for the build log, on recursion through work-item functions and on
// work-item functions called through pointers.
//
// Where makesSubGroupsVectors() says so, functions of sub-groups must have been linked in both
// forms (GroupFunctions::either).
llvm::Error lowerKernels(llvm::Module& module, llvm::TargetMachine& machine,
                         std::vector<KernelInfo>& kernels, const LoweringOptions& options);

// Do kernels get a form in which each sub-group is a vector?
inline bool makesSubGroupsVectors(const LoweringOptions& options) {
  return options.vectorise == Vectorising::always ||
         (options.optimize && options.vectorise == Vectorising::automatic);
}

}  // namespace weft::compiler
