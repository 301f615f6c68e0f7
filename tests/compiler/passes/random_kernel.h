// Random kernels full of barriers, as OpenCL C.
#pragma once

#include <cstdint>
#include <string>

namespace weft::test {

// Elements of the kernels' buffers.
inline constexpr unsigned random_input_size = 64;  // uint
inline constexpr unsigned random_outputs = 3;      // uint per work-item

// kernel void NAME(global uint* out, global const uint* in, uint n, uint m, local uint* shared)
// with one uint of `shared` per work-item. Free of races: its results depend on nothing but its
// arguments. Some of the kernels have barriers in divergent control flow, as lanes are allowed
// here; those exchange nothing between work-items.
std::string randomKernel(const std::string& name, uint64_t seed);

}  // namespace weft::test
