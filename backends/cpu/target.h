// Which LLVM processor and features this machine's code may use.
#pragma once

#include <cstdint>

#include "core/ports/capabilities.h"

namespace weft::cpu {

// The name picks the tuning; the feature string says of each feature that the code generator may
// choose by itself whether the processor and the operating system enable it. Images made for equal
// targets therefore run wherever the target is equal. What has wider vectors than `widest` is left
// out.
enum class Vectors : uint8_t { of_128_bits, of_256_bits, of_512_bits };
port::Target hostTarget(Vectors widest = Vectors::of_512_bits);

// The widest vector in 32-bit lanes.
unsigned vectorLanes(const port::Target& target);

}  // namespace weft::cpu
