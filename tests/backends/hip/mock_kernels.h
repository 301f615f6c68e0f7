// The kernels of kernels.cl in C++, for the runtime made of threads.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::test {

struct MockKernel {
  using Values = std::vector<std::vector<std::byte>>;
  using Dim = std::array<unsigned, 3>;

  std::string name;
  std::vector<size_t> parameter_bytes;  // the hidden structure last
  void (*run)(const Values& values, Dim grid, Dim block, unsigned shared_bytes);
};

const MockKernel* findMockKernel(const std::string& name);

}  // namespace weft::test
