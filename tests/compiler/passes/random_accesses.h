// Random kernels that read and write through computed indices, as OpenCL C.
#pragma once

#include <cstdint>
#include <string>

namespace weft::test {

// Of the kernels' by-value arguments, in their order: int n, uint m, short s.
inline constexpr int random_access_value_limit = 40;
// No index is further from 0 than this.
inline constexpr int64_t random_access_index_limit = 70000;
inline constexpr unsigned random_access_data_size = 64;  // uint

// kernel void NAME(global int* a, global uchar* c, global int4* v, global const uint* data, int n,
// uint m, short s EXTRA), with READ(p, i) and WRITE(p, i) for the accesses through a, c and v, to
// be defined by who compiles it. For launches of at most 40 work-items in a dimension and offsets
// below 40.
std::string randomAccesses(const std::string& name, uint64_t seed);

}  // namespace weft::test
