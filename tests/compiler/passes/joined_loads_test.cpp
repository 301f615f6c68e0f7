// Elements side by side that lanes load from places far from each other.
#include <numeric>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr const char* source = R"(
  kernel void blocks(global const uint* in, global uint* out) {
    uint w[8];
    for (int i = 0; i < 8; ++i) w[i] = in[get_global_id(0) * 8 + i];
    uint sum = 0;
    for (int i = 0; i < 8; ++i) sum = sum * 31 + w[(i * 5 + 3) & 7];
    out[get_global_id(0)] = sum;
  }
  typedef struct { float f, e, d, c, b, a, more[3]; } record;
  kernel void records(global const record* in, global float* out, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    const record r = in[i];
    out[i] = r.d * 2 - r.a + r.c * 3 - r.b * 4 + r.more[1];
  }
  kernel void turns(global const short* in, global int* out, int n) {
    const size_t g = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < n; ++k) {
      global const short* p = in + (g * n + k) * 8;
      sum = sum * 3 + p[3] - p[0] + (p[2] ^ p[1]);
    }
    out[g] = sum;
  }
  kernel void writes(global const int* a, global int* same) {
    global const int* p = a + get_global_id(0) * 9;
    global int* q = same + get_global_id(0) * 9;
    int sum = p[0];
    q[1] = sum * 7;
    sum = sum * 3 + p[1];
    q[2] = sum * 5;
    sum = sum * 3 + p[2];
    q[3] = sum * 3;
    q[8] = sum * 3 + p[3];
  })";

int rowsIn(const std::string& kernel) {
  const std::string text = optimisedText(source, kernel, compiler::Vectorising::always);
  const std::regex row("= load <(4|8|16) x (float|i16|i32)>");
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), row), {}));
}

// By each of four lanes or more.
TEST(JoinedLoads, AreRows) {
  EXPECT_GE(rowsIn("records"), 4);
  EXPECT_EQ(optimisedText(source, "blocks", compiler::Vectorising::always).find("masked.gather"),
            std::string::npos);
}

TEST(JoinedLoads, Blocks) {
  const int count = 45;
  std::vector<uint32_t> in(8 * count), out(count);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u);
  Program(source, true, compiler::Vectorising::always)
      .run("blocks", {1, {count, 1, 1}, {count, 1, 1}, {0, 0, 0}},
           {Program::buffer(in.data()), Program::buffer(out.data())});
  for (size_t g = 0; g < count; ++g) {
    uint32_t sum = 0;
    for (size_t i = 0; i < 8; ++i) sum = sum * 31 + in[g * 8 + ((i * 5 + 3) & 7)];
    ASSERT_EQ(out[g], sum) << g;
  }
}

TEST(JoinedLoads, RecordsOfLanesThatRun) {
  const int count = 64, n = 43;
  std::vector<float> in(9 * n), out(count, -1);
  std::iota(in.begin(), in.end(), 5.0F);
  Program(source, true, compiler::Vectorising::always)
      .run("records", {1, {count, 1, 1}, {32, 1, 1}, {0, 0, 0}},
           {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(n)});
  for (int i = 0; i < count; ++i) {
    const float* r = &in[i < n ? 9 * i : 0];
    const float wanted = i < n ? r[2] * 2 - r[5] + r[3] * 3 - r[4] * 4 + r[7] : -1;
    ASSERT_EQ(out[i], wanted) << i;
  }
}

TEST(JoinedLoads, OfEachTurn) {
  const int count = 37, n = 5;
  std::vector<int16_t> in(8 * n * count);
  std::vector<int> out(count, -1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int16_t>(i * 13 % 83);
  Program(source, true, compiler::Vectorising::always)
      .run("turns", {1, {count, 1, 1}, {count, 1, 1}, {0, 0, 0}},
           {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(n)});
  for (int g = 0; g < count; ++g) {
    int sum = 0;
    for (int k = 0; k < n; ++k) {
      const int16_t* p = &in[(g * n + k) * 8];
      sum = sum * 3 + p[3] - p[0] + (p[2] ^ p[1]);
    }
    ASSERT_EQ(out[g], sum) << g;
  }
}

// What is written in between may be what is loaded.
TEST(JoinedLoads, NotOverWrites) {
  const int count = 40;
  std::vector<int> a(9 * count);
  std::iota(a.begin(), a.end(), 1);
  std::vector<int> wanted = a;
  for (int g = 0; g < count; ++g) {
    int* p = &wanted[9 * g];
    int sum = p[0];
    p[1] = sum * 7;
    sum = sum * 3 + p[1];
    p[2] = sum * 5;
    sum = sum * 3 + p[2];
    p[3] = sum * 3;
    p[8] = sum * 3 + p[3];
  }
  Program(source, true, compiler::Vectorising::always)
      .run("writes", {1, {count, 1, 1}, {count, 1, 1}, {0, 0, 0}},
           {Program::buffer(a.data()), Program::buffer(a.data())});
  EXPECT_EQ(a, wanted);
}

}  // namespace
}  // namespace weft::test
