// Random kernels over tiles in local memory, whose groups take the same way: as OpenCL C.
#pragma once

#include <cstdint>
#include <string>

namespace weft::test {

// With the parameters of random_kernel.h's. Work-items part by what does not depend on the group
// alone; some tiles are the same in all groups, some are not. Free of races.
std::string randomTiles(const std::string& name, uint64_t seed);

}  // namespace weft::test
