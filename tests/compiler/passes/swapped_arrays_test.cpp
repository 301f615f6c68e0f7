// Private arrays whose pointers a loop exchanges.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

constexpr char source[] = R"(
  kernel void distance(global const int* a, global const int* b, global int* out, int m, int n) {
    const size_t g = get_global_id(0);
    int first[24], second[20];
    int *before = first, *now = second + 1;
    for (int j = 0; j <= m; ++j) before[j] = j;
    for (int i = 1; i <= n; ++i) {
      now[0] = i;
      const int c = b[g * n + i - 1];
      for (int j = 1; j <= m; ++j) {
        const int up = before[j] + 1, left = now[j - 1] + 1, both = before[j - 1] + (a[j - 1] != c);
        const int less = up < left ? up : left;
        now[j] = less < both ? less : both;
      }
      int* t = before;
      before = now;
      now = t;
    }
    out[g] = before[m];
  })";
constexpr int m = 17, n = 19, items = 37;

std::vector<int> run(bool optimise, Vectorising vectorise) {
  std::vector<int> a(m), b(items * n), out(items);
  for (int j = 0; j < m; ++j) a[static_cast<size_t>(j)] = j * j % 5;
  for (int i = 0; i < items * n; ++i) b[static_cast<size_t>(i)] = i * 7 % 11 % 5;
  Program(source, optimise, vectorise)
      .run("distance", {1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}},
           {Program::buffer(a.data()), Program::buffer(b.data()), Program::buffer(out.data()),
            Program::value(m), Program::value(n)});
  return out;
}

TEST(SwappedArrays, AreAccessedByAllLanesAtOnce) {
  const std::string text = optimisedText(source, "distance");
  EXPECT_NE(text.find(".lane.simd"), std::string::npos);
  EXPECT_EQ(text.find("scatter"), std::string::npos);
}

// Two turns become one where all elements are variables then.
TEST(SwappedArrays, BecomeVariables) {
  const auto text = [](const char* behind) {
    return optimisedText(std::string("kernel void k(global float* a, int n) {"
                                     "  float x[4], y[4], *p = x, *q = y; int g = get_global_id(0);"
                                     "  for (int i = 0; i < 4; ++i) p[i] = a[g + i];"
                                     "  for (int t = 0; t < n; ++t) {"
                                     "    for (int i = 0; i < 4; ++i) q[i] = p[i] * 3 + p[3 - i];"
                                     "    a[g] += q[1]; float* r = p; p = q; q = r; }") +
                             behind + "}",
                         "k");
  };
  EXPECT_EQ(text("").find("alloca ["), std::string::npos) << text("");
  EXPECT_NE(text("a[g] = p[2];").find("alloca ["), std::string::npos) << "it stays one of two";
}

TEST(SwappedArrays, KeepTheirValues) {
  const std::vector<int> want = run(false, Vectorising::never);
  EXPECT_EQ(run(true, Vectorising::never), want);
  EXPECT_EQ(run(true, Vectorising::automatic), want);
  EXPECT_EQ(run(true, Vectorising::always), want);
}

TEST(SwappedArrays, KeepTheirAlignment) {
  const char* const aligned = R"(
    kernel void turn(global float4* out, int n) {
      float first[5] __attribute__((aligned(16))), second[5] __attribute__((aligned(16)));
      const int g = get_global_id(0);
      float *before = first, *now = second;
      *(float4*)first = (float4)(g);
      for (int i = 0; i < n; ++i) {
        *(float4*)now = *(float4*)before + 1.0f;
        now[i % 4] += 2;
        float* t = before;
        before = now;
        now = t;
      }
      out[g] = *(float4*)before;
    })";
  alignas(16) float out[4 * items] = {};
  Program(aligned, true, Vectorising::never)
      .run("turn", {1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}},
           {Program::buffer(out), Program::value(n)});
  for (int i = 0; i < 4 * items; ++i)
    ASSERT_EQ(out[i], static_cast<float>(i / 4 + n + 2 * ((n + 3 - i % 4) / 4))) << i;
}

}  // namespace
}  // namespace weft::test
