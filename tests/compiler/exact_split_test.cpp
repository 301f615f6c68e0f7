// Kernels whose parts have what they write to themselves, out of real compiles.
#include "tests/compiler/split_fixture.h"

namespace weft::test {
namespace {

class ExactSplitTest : public SplitTest {};

TEST_F(ExactSplitTest, Kernels) {
  const port::LaunchRecord plane = square(128);
  const char* stencil =
      "kernel void k(global float* a, global const float* b) {"
      " int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);"
      " if (y > 0 && y < 127) a[y * w + x] = b[(y - 1) * w + x] + b[(y + 1) * w + x]; }";
  const Split rows = split(stencil, plane);
  ASSERT_EQ(rows.splitClass(), SplitClass::exact) << rows.reason();
  std::vector<PartAccess> list;
  rows.accesses({0, 8}, list);
  // Half of the rows, and one more that is read.
  for (const PartAccess& access : list)
    EXPECT_LE(access.end, (access.argument == 0 ? 64u : 65u) * 128 * 4);
  const char* sum =
      "kernel void k(global int* a, global const int* b, local int* l) {"
      " l[get_local_id(0)] = b[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);"
      " if (get_local_id(0) == 0) a[get_group_id(0)] = l[0]; }";
  EXPECT_EQ(split(sum, line(4096, 64)).splitClass(), SplitClass::exact);
  // Anything may be read where nothing is written.
  const char* gather =
      "kernel void k(global int* a, global const int* b) {"
      " int i = get_global_id(0); a[i] = b[b[i]]; }";
  EXPECT_EQ(split(gather, line(4096, 64)).splitClass(), SplitClass::exact);
}

// Work-items that take one element after the other, at a distance of all of them.
TEST_F(ExactSplitTest, StridesOfTheGrid) {
  const Split strides = split(
      "kernel void k(global int* a, global const int* b) {"
      " for (int i = get_global_id(0); i < 40000; i += get_global_size(0)) a[i] = 2 * b[i]; }",
      line(1024, 64));
  ASSERT_EQ(strides.splitClass(), SplitClass::exact) << strides.reason();
  std::vector<PartAccess> list;
  strides.accesses({0, 1}, list);
  std::erase_if(list, [](const PartAccess& access) { return !access.writes; });
  ASSERT_EQ(list.size(), 40u);
  EXPECT_EQ(list[0].end - list[0].begin, 64 * sizeof(int));
  EXPECT_EQ(list[1].begin, 1024 * sizeof(int));
}

// The halves of a butterfly lie apart by a number that the launch gives.
TEST_F(ExactSplitTest, Butterflies) {
  const char* source =
      "kernel void k(global int* a, global const int* b) {"
      " uint i = get_global_id(0), m = get_num_groups(0) >> 1, r = i & (m - 1);"
      " uint j = 2 * m * (i / m) + r;"
      " a[j] = b[j] + b[j + m]; a[j + m] = b[j] - b[j + m]; }";
  for (const uint64_t local : {1, 8, 64}) {
    const Split halves = split(source, line(1024, local));
    EXPECT_EQ(halves.splitClass(), SplitClass::exact) << halves.reason() << local;
  }
}

// A structure of many arrays in one buffer.
TEST_F(ExactSplitTest, ManyFields) {
  std::string body;
  for (int field = 0; field < 48; ++field) {
    const std::string at = std::to_string(field) + " * n + i";
    body += "a[" + at + "] = b[" + at + "] * 2;";
  }
  const std::string source =
      "kernel void k(global int* a, global const int* b) {"
      " int i = get_global_id(0), n = get_global_size(0); " +
      body + "}";
  const Split fields = split(source.c_str(), line(512, 16));
  EXPECT_EQ(fields.splitClass(), SplitClass::exact) << fields.reason();
}

const char* const inner_stencil =
    "kernel void k(global float* a, global const float* b) {"
    " int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);"
    " if (x > 0 && y > 0 && x < w - 1 && y < w - 1)"
    "  a[y * w + x] = b[y * w + x - 1] + b[y * w + x + 1]; }";

// Each row but its ends would be a piece to keep account of.
TEST_F(ExactSplitTest, WithoutEdgesRowsAreOnePiece) {
  const Split inner = split(inner_stencil, square(128));
  ASSERT_EQ(inner.splitClass(), SplitClass::exact) << inner.reason();
  std::vector<PartAccess> list;
  inner.accesses({0, 8}, list);
  ASSERT_FALSE(list.empty());
  EXPECT_LE(list.size(), 4u);
  for (const PartAccess& access : list) {
    // Up to the first that the other half writes; what lies between rows is kept.
    EXPECT_LE(access.end, size_t{(64 * 128 + 1) * 4});
    EXPECT_TRUE(access.reads || access.end - access.begin <= 126 * 4);
  }
  EXPECT_EQ(list.front().begin, size_t{(128 + 1) * 4});
}

// Between two sub-buffers there may be a third one, which is none of the kernel's business.
TEST_F(ExactSplitTest, WhatIsNotBoundIsNotTouched) {
  constexpr size_t bytes = 128 * 128 * 4;
  const Split inner = split(inner_stencil, square(128), 0,
                            {{&storages_[0], 0, bytes}, {&storages_[0], 4 * bytes, bytes}});
  ASSERT_EQ(inner.splitClass(), SplitClass::exact) << inner.reason();
  std::vector<PartAccess> list;
  inner.accesses({0, 16}, list);
  EXPECT_LE(list.size(), 4u);
  for (const PartAccess& access : list) EXPECT_LE(access.end, access.writes ? bytes : 5 * bytes);
}

TEST_F(ExactSplitTest, CutsWhereWritesLieTogether) {
  const port::LaunchRecord plane = square(128);
  const Split columns = split(
      "kernel void k(global int* a, global const int* b) {"
      " int x = get_global_id(0), y = get_global_id(1);"
      " a[x * 128 + y] = b[y * 128 + x]; }",
      plane);
  ASSERT_EQ(columns.splitClass(), SplitClass::exact) << columns.reason();
  EXPECT_EQ(columns.reason(), "");
  EXPECT_EQ(columns.box({1, 2}).begin[0], 1u);
  EXPECT_EQ(columns.box({1, 2}).end[1], 16u);
}

}  // namespace
}  // namespace weft::test
