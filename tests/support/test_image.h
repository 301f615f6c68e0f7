// An executable image of the kernels in kernels.cpp, of those in simt_kernels.cpp for software
// GPUs, or of those in gpu_kernels.cl for NVIDIA's.
#pragma once

#include <string_view>

#include "core/image.h"

namespace weft::test {

Image testImage(const port::Target& target);
// Is there one? Of GPUs, for software ones and for NVIDIA's from sm_80 on.
bool hasTestImage(const port::Target& target);
// The index of a kernel of testImage().
uint32_t kernelIndex(std::string_view name);

}  // namespace weft::test
