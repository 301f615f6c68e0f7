// Twins of kernels that sample images (../native_images.h) for devices that take SPIR-V: the
// device's images and samplers are further parameters, images first.
#pragma once

#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include "core/image.h"

namespace weft::compiler {

// What a twin samples with is declared under names that begin so: (image, sampler, coordinate) to
// four numbers.
inline constexpr llvm::StringLiteral spirv_sample_prefix = "weft.image.sample.";

// As addNativeTwins().
void addSpirvTwins(llvm::Module& module, std::vector<KernelInfo>& kernels);

}  // namespace weft::compiler
