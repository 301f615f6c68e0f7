// Addresses that rows access a constant distance apart: they are where each row would have found
// them.
#include <sys/mman.h>

#include <string_view>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

constexpr uint64_t columns = 64, rows = 48;

// Indices of 32 and of 64 bits, upwards and downwards, that do not wrap; and unsigned ones that do.
const char* const kernels = R"(
  kernel void indices(global const int* in, global int* out, int n, int m) {
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_global_id(0), row = get_global_id(1);
    local int tile[16][17];
    tile[y][x] = in[row * n + column] + in[(m - row) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = tile[15 - y][x] - tile[y][15 - x];
    for (int k = 0; k < 16; ++k) sum = 3 * sum + tile[y][k] * in[(row - y + k) * n + column];
    sum += in[row * 64 + column] + in[(2 * row - y) / 2 * n + x];
    sum += in[get_global_id(1) * (size_t)n + column] - in[(m - (long)row) * n - -column];
    sum += in[n * m - 1 + column - row * n];
    const uint wrapping = (uint)row * 0x20000000u + (uint)(n * row + column) * 8;
    sum += in[wrapping / 8 % 3072];
    out[row * n + column] = sum;
  }
  kernel void far_groups(global char* out, int n) {
    const int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    out[i] = i % 100 + n;
  }
  kernel void far_whole_groups(global char* out, int n) {
    const int i = get_group_id(0) * get_enqueued_local_size(0) + get_local_id(0);
    out[i] = i % 100 + n;
  }
  kernel void far_rows(global char* out, int n) {
    out[(long)((int)get_global_id(1) + n) * 16 + get_local_id(0)] = get_global_id(1);
  })";

TEST(RowSteps, AreWhereEachRowIs) {
  std::vector<int> in(columns * (rows + 1));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 2654435761u >> 8);
  const int n = columns, m = rows - 1;
  const auto run = [&](bool optimize, Vectorising vectorise) {
    std::vector<int> out(columns * rows);
    Program(kernels, optimize, vectorise)
        .run("indices", {2, {columns, rows, 1}, {16, 16, 1}, {0, 0, 0}},
             {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(n),
              Program::value(m)});
    return out;
  };
  const std::vector<int> want = run(true, Vectorising::never);
  EXPECT_EQ(run(true, Vectorising::automatic), want);
  EXPECT_EQ(run(true, Vectorising::always), want);
  EXPECT_EQ(run(false, Vectorising::always), want);
}

// Ids of 2^31 and more are negative as numbers of 32 bits: rows on both sides of that border are
// not side by side.
TEST(RowSteps, RowsThatWrap) {
  constexpr uint64_t row = 16, half = uint64_t{1} << 31;
  constexpr size_t bytes = 2 * half * row;
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) GTEST_SKIP() << "no room for so many addresses";
  char* const middle = static_cast<char*>(place) + bytes / 2;
  const Program program(kernels, true, Vectorising::always);
  for (const uint64_t before : {1, 4, 5, 9}) {
    program.run("far_rows", {2, {row, 12, 1}, {row, 12, 1}, {0, half - before, 0}},
                {Program::buffer(middle), Program::value(0)});
    for (uint64_t id = half - before; id < half - before + 12; ++id) {
      const auto wrapped = static_cast<int64_t>(static_cast<int32_t>(id));
      for (int64_t x = 0; x < static_cast<int64_t>(row); ++x)
        ASSERT_EQ(middle[wrapped * int64_t{row} + x], static_cast<char>(id)) << id << ", " << x;
    }
    madvise(place, row << 16, MADV_DONTNEED);
    madvise(static_cast<char*>(place) + bytes - (row << 16), row << 16, MADV_DONTNEED);
  }
  munmap(place, bytes);
}

// So are ids made of a group's by hand; and offsets are not part of those.
TEST(RowSteps, IdsOfGroupsThatWrap) {
  constexpr uint64_t size = 40, half = uint64_t{1} << 31, first = half / size - 1;
  constexpr size_t bytes = 2 * half + 4096;
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) GTEST_SKIP() << "no room for so many addresses";
  char* const middle = static_cast<char*>(place) + bytes / 2;
  constexpr port::GroupBox part{{first, 0, 0}, {first + 4, 1, 1}};
  for (const Vectorising vectorise : {Vectorising::automatic, Vectorising::always})
    for (const char* const name : {"far_groups", "far_whole_groups"})
      for (const uint64_t offset : {uint64_t{0}, half - 100}) {
        const Program program(kernels, true, vectorise);
        program.run(name, {1, {half + 10 * size, 1, 1}, {size, 1, 1}, {offset, 0, 0}},
                    {Program::buffer(middle), Program::value(1)}, &part);
        for (uint64_t id = first * size; id < (first + 4) * size; ++id) {
          const int64_t wrapped = static_cast<int32_t>(id);
          ASSERT_EQ(middle[wrapped], static_cast<char>(wrapped % 100 + 1)) << id;
          middle[wrapped] = 0;
        }
        // The last group is shorter.
        program.run(name, {1, {50 * size - 7, 1, 1}, {size, 1, 1}, {offset, 0, 0}},
                    {Program::buffer(middle), Program::value(1)});
        const bool whole = std::string_view(name) == "far_whole_groups";
        for (uint64_t id = 0; id < 50 * size - 7; ++id) {
          const uint64_t group = id / size, length = whole || group < 49 ? size : size - 7;
          const auto made = static_cast<int64_t>(group * length + id % size);
          ASSERT_EQ(middle[made], static_cast<char>(made % 100 + 1)) << id;
        }
      }
  munmap(place, bytes);
}

}  // namespace
}  // namespace weft::test
