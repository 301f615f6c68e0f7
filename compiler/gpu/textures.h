// Twins of kernels that read images (native_images.h) for GPUs with texture objects: 64-bit handles
// that hold where an image lies, what its pixels are and how it is sampled. For each image that the
// twin reads so, and each of that image's samplers (KernelInfo::native), a handle is a further
// parameter, image by image.
//
// The literal port::sampler_filter_nearest stands for a texture that texels are taken from, at
// integer coordinates: zeros outside. Which texel is the nearest is worked out in software, as
// hardware rounds coordinates, so such reads give what they give in software. Other samplers are
// of textures that filter, of images without layers and slices.
#pragma once

#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include "core/image.h"

namespace weft::compiler {

// What a texture is read by is declared under names that begin so (builtins/cl/image_texture.cl).
inline constexpr llvm::StringLiteral texture_read_prefix = "weft.texture.";

// As addNativeTwins(); links what the twins call.
llvm::Error addTextureTwins(llvm::Module& module, std::vector<KernelInfo>& kernels);

// Defines what the twins read textures by: NVIDIA's instructions, or calls of the software GPU.
enum class TextureUnit : uint8_t { nvidia, software };
void defineTextureReads(llvm::Module& module, TextureUnit unit);

// Has pixels of all but the usual formats read and written by functions that kernels call: each
// time that is as much code as many a kernel, and read by textures they seldom are.
void shareFormats(llvm::Module& module);

}  // namespace weft::compiler
