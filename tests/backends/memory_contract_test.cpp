// Memory, copies and fills: the same on every device.
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include "core/error.h"
#include "core/ports/shared_memory.h"
#include "tests/backends/contract.h"

namespace weft::test {
namespace {

using MemoryContract = ContractTest;

std::vector<uint8_t> randomBytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (auto& byte : bytes) byte = uint8_t(random());
  return bytes;
}

cl_int allocationError(port::Device& device, size_t bytes, size_t alignment = 128) {
  try {
    device.allocate(bytes, alignment);
  } catch (const Error& error) {
    return error.code();
  }
  return CL_SUCCESS;
}

TEST_P(MemoryContract, AllocationHasSizeAlignmentAndAddress) {
  constexpr size_t page = 4096;
  std::vector<size_t> alignments{1, 128};
  const bool pages = allocationError(*device, page, page) == CL_SUCCESS;
  expectHolds("alignment to pages", pages);
  if (pages) alignments.push_back(page);
  for (const size_t bytes : {size_t(1), size_t(1000), size_t(3) << 20}) {
    for (const size_t alignment : alignments) {
      auto memory = device->allocate(bytes, alignment);
      EXPECT_EQ(memory->size(), bytes);
      EXPECT_NE(memory->deviceAddress(), 0u);
      EXPECT_EQ(memory->deviceAddress() % std::max<uint64_t>(alignment, 128), 0u);
      expectHolds("host address", memory->host() != nullptr);
    }
  }
}

TEST_P(MemoryContract, AllocationBeyondTheLimitFails) {
  EXPECT_EQ(allocationError(*device, device->capabilities().max_allocation_bytes + 1),
            CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(allocationError(*device, ~size_t(0) - 4096), CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

TEST_P(MemoryContract, AllocationsTogetherStayWithinMemory) {
  const auto& c = device->capabilities();
  std::vector<std::unique_ptr<port::Memory>> all;
  uint64_t sum = 0;
  // Untouched memory costs nothing, so this is quick even on big machines.
  const auto step = size_t(c.max_allocation_bytes / 4);
  cl_int code = CL_SUCCESS;
  while (code == CL_SUCCESS && sum <= 2 * c.global_memory_bytes) {
    try {
      all.push_back(device->allocate(step, 128));
      sum += step;
    } catch (const Error& error) {
      code = error.code();
    }
  }
  EXPECT_EQ(code, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_LE(sum, c.global_memory_bytes);
  all.clear();
  EXPECT_EQ(allocationError(*device, step), CL_SUCCESS);
}

TEST_P(MemoryContract, ImportUsesTheHostsMemoryInPlace) {
  constexpr size_t page = 4096;
  // Nothing else may lie in it: while it is imported its pages may be exchanged.
  const std::unique_ptr<void, decltype(&std::free)> pages(std::aligned_alloc(page, page),
                                                          std::free);
  auto* const source = dynamic_cast<port::SharedMemorySource*>(device.get());
  const auto shared = source ? source->allocateShared(page) : nullptr;
  if (shared) {
    expectHolds("import of any memory", device->import(pages.get(), page) != nullptr);
    EXPECT_EQ(device->import(shared->host(), 2 * page), nullptr);
  }
  auto* const host = static_cast<uint32_t*>(shared ? shared->host() : pages.get());
  for (uint32_t i = 0; i < 4; ++i) host[i] = 5 + i;
  if (device->import(host, page)) {
    expectHolds("import of a part of a page", device->import(host, 16) != nullptr);
  }
  auto memory = device->import(host, page);
  expectHolds("import", memory != nullptr);
  EXPECT_TRUE(memory || device->capabilities().shared_memory == port::shares_nothing);
  if (!memory) return;
  if (device->capabilities().shared_memory != port::shares_nothing) {
    EXPECT_EQ(memory->deviceAddress(), reinterpret_cast<uint64_t>(host));
  }
  TestLaunch launch(*module, kernelIndex("add_one"), 4);
  launch.memory(memory.get());
  run(*transfers, launch.whole());
  EXPECT_EQ(host[0], 6u);
  EXPECT_EQ(host[3], 9u);
}

TEST_P(MemoryContract, LinearCopiesMatchTheReference) {
  // The biggest are shared among workers.
  for (const size_t size : {size_t(1), size_t(777), size_t(70'000), (size_t(9) << 20) + 13}) {
    const auto data = randomBytes(size, unsigned(size));
    auto a = device->allocate(size + 100, 128), b = device->allocate(size + 100, 128);
    write(*a, data.data(), size, 37);
    port::Copy copy;
    copy.source.memory = a.get();
    copy.source.offset = 37;
    copy.destination.memory = b.get();
    copy.destination.offset = 51;
    copy.region = {size, 1, 1};
    run(*transfers, copy);
    std::vector<uint8_t> result(size);
    read(*b, result.data(), size, 51);
    EXPECT_TRUE(result == data) << size;
  }
}

struct Pitches {
  size_t row, slice;
};

TEST_P(MemoryContract, RectangularCopiesMatchTheReference) {
  std::mt19937 random(3);
  const auto below = [&](size_t n) { return size_t(random() % n); };
  for (int round = 0; round < 30; ++round) {
    // A few big enough to be shared among workers.
    const size_t width = 1 + below(round % 10 == 0 ? 20000 : 90);
    const std::array<size_t, 3> region{width, 1 + below(40), 1 + below(9)};
    const auto pitches = [&] {
      const size_t row = region[0] + below(20);
      return Pitches{row, row * region[1] + below(50)};
    };
    const Pitches from = pitches(), to = pitches();
    const size_t from_offset = below(60), to_offset = below(60);
    const auto source = randomBytes(from_offset + from.slice * region[2], unsigned(round));
    auto expected = randomBytes(to_offset + to.slice * region[2], unsigned(round) + 1000);
    auto memory = device->allocate(source.size(), 128),
         other = device->allocate(expected.size(), 128);
    write(*memory, source.data(), source.size());
    write(*other, expected.data(), expected.size());
    port::Copy copy;
    copy.source = {memory.get(), nullptr, from_offset, from.row, from.slice};
    copy.destination = {other.get(), nullptr, to_offset, to.row, to.slice};
    copy.region = region;
    run(*transfers, copy);
    for (size_t z = 0; z < region[2]; ++z)
      for (size_t y = 0; y < region[1]; ++y)
        std::memcpy(&expected[to_offset + z * to.slice + y * to.row],
                    &source[from_offset + z * from.slice + y * from.row], region[0]);
    std::vector<uint8_t> result(expected.size());
    read(*other, result.data(), result.size());
    EXPECT_TRUE(result == expected) << "round " << round;
  }
}

TEST_P(MemoryContract, FillsRepeatThePattern) {
  constexpr size_t size = (size_t(5) << 20) + 384;
  auto memory = device->allocate(size, 128);
  for (size_t pattern_size = 1; pattern_size <= 128; pattern_size *= 2) {
    const auto pattern = randomBytes(pattern_size, unsigned(pattern_size));
    for (const size_t offset : {size_t(0), size_t(128)}) {
      const size_t filled = offset == 0 ? size : 3 * 128;
      write(*memory, std::vector<uint8_t>(size, 0xee).data(), size);
      port::Fill fill;
      fill.memory = memory.get();
      fill.offset = offset;
      fill.size = filled;
      fill.pattern = reinterpret_cast<const std::byte*>(pattern.data());
      fill.pattern_size = pattern_size;
      run(*transfers, fill);
      std::vector<uint8_t> result(size);
      read(*memory, result.data(), size);
      std::vector<uint8_t> expected(size, 0xee);
      for (size_t i = 0; i < filled; ++i) expected[offset + i] = pattern[i % pattern_size];
      EXPECT_TRUE(result == expected) << pattern_size << " at " << offset;
    }
  }
}

TEST_P(MemoryContract, FillsCoverRowsOnly) {
  constexpr size_t size = 4096, pattern_size = 4;
  auto memory = device->allocate(size, 128);
  write(*memory, std::vector<uint8_t>(size, 0xee).data(), size);
  const auto pattern = randomBytes(pattern_size, 1);
  port::Fill fill;
  fill.memory = memory.get();
  fill.offset = 8;
  fill.size = 20;
  fill.pattern = reinterpret_cast<const std::byte*>(pattern.data());
  fill.pattern_size = pattern_size;
  fill.rows = 3;
  fill.slices = 2;
  fill.row_pitch = 64;
  fill.slice_pitch = 1024;
  run(*transfers, fill);
  std::vector<uint8_t> expected(size, 0xee);
  for (size_t slice = 0; slice < fill.slices; ++slice)
    for (size_t row = 0; row < fill.rows; ++row)
      for (size_t i = 0; i < fill.size; ++i)
        expected[fill.offset + slice * fill.slice_pitch + row * fill.row_pitch + i] =
            pattern[i % pattern_size];
  std::vector<uint8_t> result(size);
  read(*memory, result.data(), size);
  EXPECT_TRUE(result == expected);
}

TEST_P(MemoryContract, NothingIsMovedForNoBytes) {
  auto memory = device->allocate(64, 128);
  port::Fill fill;
  fill.memory = memory.get();
  run(*transfers, fill);
  uint8_t byte = 1;
  run(*transfers, copyToHost(*memory, &byte, 0));
  EXPECT_EQ(byte, 1);
}

TEST_P(MemoryContract, ReachesItsOwnMemoryAndTheHosts) {
  EXPECT_TRUE(device->reaches(device->capabilities().memory_space));
  EXPECT_TRUE(device->reaches(port::host_space));
  EXPECT_FALSE(device->reaches(0xfffffff0u));
  EXPECT_LE(device->freeMemory(), device->capabilities().global_memory_bytes);
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryContract, ::testing::ValuesIn(subjects()), subjectName);

}  // namespace
}  // namespace weft::test
