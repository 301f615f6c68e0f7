// What the CPU's memory is beyond the contract.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "backends/cpu/memory.h"
#include "core/error.h"
#include "core/host_share.h"
#include "core/system.h"

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

bool isMapped(const std::byte* address) {
  const uint64_t begin = reinterpret_cast<uint64_t>(address) / 4096 * 4096;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(begin), 1, &resident) == 0;
}

TEST(CpuMemory, PagesAreUsedAgain) {
  constexpr size_t bytes = size_t(5) << 20, alignment = 128, near = size_t(4) << 20;
  auto memory = cpu::allocateMemory(bytes, alignment);
  const std::byte* const before = memory->host();
  std::memset(memory->host(), 0xff, bytes);
  memory.reset();
  EXPECT_TRUE(isMapped(before));
  memory = cpu::allocateMemory(bytes - (size_t(1) << 20), alignment);
  EXPECT_LT(std::abs(memory->host() - before), static_cast<ptrdiff_t>(near));
}

TEST(CpuMemory, FewPagesAreKept) {
  constexpr size_t alignment = 128, blocks = 12;
  for (const auto& [bytes, most] :
       {std::pair{size_t(24) << 20, 4}, std::pair{size_t(40) << 20, 0}}) {
    std::vector<std::unique_ptr<port::Memory>> used;
    std::vector<const std::byte*> addresses;
    for (size_t i = 0; i < blocks; ++i) {
      used.push_back(cpu::allocateMemory(bytes, alignment));
      addresses.push_back(used.back()->host());
    }
    used.clear();
    EXPECT_LE(std::ranges::count_if(addresses, isMapped), most) << bytes;
  }
}

uint64_t addressSpaceBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * uint64_t(sysconf(_SC_PAGESIZE));
}

// No more than so much beyond what is mapped already.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(uint64_t room) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = std::min<rlim_t>(addressSpaceBytes() + room, before_.rlim_max);
    setrlimit(RLIMIT_AS, &limit);
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

void keepFourMappings() {
  constexpr size_t bytes = size_t(26) << 20, alignment = 128;
  std::vector<std::unique_ptr<port::Memory>> used;
  for (int i = 0; i < 4; ++i) used.push_back(cpu::allocateMemory(bytes, alignment));
}

TEST(CpuMemory, KeptPagesAreGivenUpForAnotherMapping) {
  keepFourMappings();
  const AddressSpaceLimit limit(size_t(40) << 20);
  EXPECT_NO_THROW(cpu::allocateMemory(size_t(60) << 20, 128));
}

TEST(CpuMemory, KeptPagesAreGivenUpBeforeMemoryIsRefused) {
  constexpr size_t bytes = size_t(5) << 20, alignment = 128;
  const std::byte* const before = cpu::allocateMemory(bytes, alignment)->host();
  ASSERT_TRUE(isMapped(before));
  // All that there is, of which the system itself has some.
  EXPECT_THROW(cpu::allocateMemory(physicalMemoryBytes(), alignment), Error);
  EXPECT_FALSE(isMapped(before));
}

// Of all that the machine has others have most.
TEST(CpuMemory, IsNoMoreThanOthersLeave) {
  constexpr size_t left = size_t(8) << 20, alignment = 128;
  for (const size_t bytes : {size_t(1) << 20, size_t(6) << 20}) {
    const HostShare others(physicalMemoryBytes() - left);
    const auto first = cpu::allocateMemory(bytes, alignment);
    std::vector<std::unique_ptr<port::Memory>> more;
    EXPECT_THROW(
        while (more.size() < left / bytes) more.push_back(cpu::allocateMemory(bytes, alignment)),
        Error);
    EXPECT_EQ(more.size(), left / bytes - 1);
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
