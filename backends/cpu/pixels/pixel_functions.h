// The functions by which kernels reach the pixels of an image (core/ports/pixels.h).
#pragma once

#include "core/ports/pixels.h"

namespace weft::cpu {

// Those of the image's format that this processor runs. They last as long as the process. Null for
// formats that no device offers.
const port::PixelFunctions* pixelFunctions(const port::ImageDescriptor& image);

// What kernels get for an image, from the bytes of a descriptor without an address.
port::CpuImage imageAt(const void* descriptor, uint64_t address);

}  // namespace weft::cpu
