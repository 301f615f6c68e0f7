// What the CPU's memory is beyond the contract.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/memory.h"

namespace weft::test {
namespace {

// Programs take it for granted: ffmpeg's tonemap_opencl begins with what a new buffer holds.
TEST(CpuMemory, IsCleanWhereOtherContentsWereBefore) {
  constexpr size_t blocks = 16, alignment = 128;
  for (const size_t bytes : {size_t(1), size_t(532), size_t(100'000), size_t(3) << 20}) {
    std::vector<std::unique_ptr<port::Memory>> used;
    for (size_t i = 0; i < blocks; ++i) {
      used.push_back(cpu::allocateMemory(bytes, alignment));
      std::memset(used.back()->host(), 0xff, bytes);
    }
    used.clear();
    for (size_t i = 0; i < blocks; ++i) {
      used.push_back(cpu::allocateMemory(bytes, alignment));
      const std::byte* const begin = used.back()->host();
      EXPECT_TRUE(std::all_of(begin, begin + bytes, [](std::byte b) { return b == std::byte{0}; }))
          << bytes;
    }
  }
}

}  // namespace
}  // namespace weft::test
