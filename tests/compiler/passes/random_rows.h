// Random kernels over two and three dimensions whose rows of work-items mostly take the same way.
#pragma once

#include <cstdint>
#include <string>

namespace weft::test {

// As randomKernel of random_kernel.h; it may leave outputs as they are.
std::string randomRows(const std::string& name, uint64_t seed);

}  // namespace weft::test
