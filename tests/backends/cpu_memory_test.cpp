// What the CPU's memory is beyond the contract.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
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

// A kernel's objects do not share the lower bits of their addresses.
TEST(CpuMemory, NeighboursBeginAtDifferentPlacesOfAPage) {
  constexpr size_t alignment = 128, page = 4096, objects = 16;
  for (const size_t bytes : {size_t(64) << 10, size_t(1) << 20, size_t(2) << 20, size_t(9) << 20}) {
    std::vector<std::unique_ptr<port::Memory>> kept;
    std::set<uint64_t> places;
    for (size_t i = 0; i < objects; ++i) {
      kept.push_back(cpu::allocateMemory(bytes, alignment));
      const uint64_t address = kept.back()->deviceAddress();
      EXPECT_EQ(address % alignment, 0u);
      places.insert(address % page);
      std::memset(kept.back()->host(), 1, bytes);
    }
    EXPECT_EQ(places.size(), objects) << bytes;
  }
}

}  // namespace
}  // namespace weft::test
