// How kernels on the CPU reach pixels: functions for images of one format, of one lane and of
// vectors of lanes. An image brings them, so that no kernel contains code for formats that it may
// never meet. Plain C layout, shared with the code generator (abi_version).
//
// A coordinate is (x, y, z), 0 where an image has no such dimension; z is an array's layer. With 4,
// 8 and 16 lanes each of its components is a vector, as is each of a colour's four, of 32 bits
// whatever they are; `lanes` has a bit for each lane that runs, others touch nothing. `result` is
// for four vectors and aligned to theirs. With one lane components are numbers and a colour is one
// vector of four.
//   fetch, read   (const CpuImage*, shape, lanes, result, sampler, x, y, z), integers
//   sample        the same, floats
//   store         (const CpuImage*, shape, lanes, x, y, z, r, g, b, a)
//   of one lane   (const CpuImage*, shape, sampler, x, y, z), which return the colour, and
//                 (const CpuImage*, shape, x, y, z, colour)
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ports/launch.h"

namespace weft::port {

// The forms by the binary logarithm of their lanes; null where the processor has no such vectors,
// of 8 without AVX2 and F16C, of 4 without SSE4.1.
inline constexpr size_t pixel_forms = 5;

struct PixelFunctions {
  using Forms = const void* [pixel_forms];
  Forms fetch{};   // without a sampler
  Forms read{};    // through a sampler
  Forms sample{};  // the same, at a place between pixels
  Forms store{};
};

// What a CPU's kernels get for an image.
struct CpuImage : ImageDescriptor {
  const PixelFunctions* functions = nullptr;
};
static_assert(sizeof(CpuImage) == 64);
inline constexpr size_t pixel_functions_offset = sizeof(ImageDescriptor);

// `shape`: the number of dimensions without layers, 1 to 3, and
inline constexpr uint32_t pixel_dimensions = 3, pixel_layered = 4,
                          pixel_integers = 8;  // which no filter mixes

}  // namespace weft::port
