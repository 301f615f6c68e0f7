// Kernels that read images through the device's own, for devices that have such.
//
// A kernel that reads an image through a sampler gets a twin: the same code, with the device's
// images and samplers as further parameters, through which it samples. Everything else, its other
// parameters and what it asks of images included, stays as it is, so the twin can run wherever the
// images that it samples are the device's, too (KernelInfo::native).
#pragma once

#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include "core/image.h"

namespace weft::compiler {

// What a twin samples with is declared under names that begin so: (image, sampler, coordinate) to
// four numbers.
inline constexpr llvm::StringLiteral spirv_sample_prefix = "weft.image.sample.";

// Adds the twins and, to `kernels`, a description of each as a kernel of its own. The builtin
// library has been linked, and nothing was inlined yet.
void addNativeImageKernels(llvm::Module& module, std::vector<KernelInfo>& kernels);
// Is that the description of a twin, as addNativeImageKernels() added it?
bool isNativeImageKernel(const KernelInfo& kernel);
// Moves what has become of the twins to the descriptions of the kernels that they are twins of.
void foldNativeImageKernels(std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
