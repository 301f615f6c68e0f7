// The loops over lanes of textbook kernels become vector code.
#include <cmath>
#include <regex>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

const char* const kernels = R"(
  #define TILE 16
  kernel void saxpy(float a, global const float* x, global float* y) {
    size_t i = get_global_id(0);
    y[i] += a * x[i];
  }
  kernel void guarded(float a, global const float* x, global float* y, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
  }
  kernel void product(global const float* a, global const float* b, global float* c, int n) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    int row = get_global_id(1), column = get_global_id(0), y = get_local_id(1), x = get_local_id(0);
    float sum = 0;
    for (int t = 0; t < n / TILE; ++t) {
      ta[y][x] = a[row * n + t * TILE + x];
      tb[y][x] = b[(t * TILE + y) * n + column];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < TILE; ++k) sum += ta[y][k] * tb[k][x];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
  }
  kernel void reduce(global const float* in, global float* out, local float* scratch) {
    uint l = get_local_id(0);
    scratch[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = get_local_size(0) / 2; d > 0; d >>= 1) {
      if (l < d) scratch[l] += scratch[l + d];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = scratch[0];
  }
  kernel void turn(global float2* points, float cosine, float sine) {
    float2 p = points[get_global_id(0)];
    points[get_global_id(0)] = (float2)(p.x * cosine - p.y * sine, p.x * sine + p.y * cosine);
  }
  kernel void escape(global int* out, float step, int most) {
    int x = get_global_id(0);
    float c = x * step - 2.0f, z = 0;
    int turn = 0;
    while (turn < most && z * z < 4.0f) {
      z = z * z + c;
      ++turn;
    }
    out[x] = turn;
  })";

bool hasMaskedVectors() { return hostMachine().getTargetFeatureString().contains("+avx2"); }

TEST(Vectorising, Saxpy) {
  EXPECT_TRUE(std::regex_search(optimisedText(kernels, "saxpy"), std::regex("fmuladd\\.v\\d+f32")));
}

TEST(Vectorising, GuardedSaxpy) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "guarded"), std::regex("fmuladd\\.v\\d+f32")));
}

TEST(Vectorising, TiledProduct) {
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "product"), std::regex("fmuladd\\.v\\d+f32")));
  const int n = 48;
  std::vector<float> a(n * n), b(n * n), c(n * n, -1);
  for (int i = 0; i < n * n; ++i)
    a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
  Program(kernels).run("product", {2, {n, n, 1}, {16, 16, 1}, {0, 0, 0}},
                       {Program::buffer(a.data()), Program::buffer(b.data()),
                        Program::buffer(c.data()), Program::value(n)});
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float want = 0;
      for (int k = 0; k < n; ++k) want += a[row * n + k] * b[k * n + column];
      ASSERT_EQ(c[row * n + column], want);
    }
}

TEST(Vectorising, Reduction) {
  if (!hasMaskedVectors()) GTEST_SKIP() << "needs masked loads and stores";
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "reduce"), std::regex("fadd <\\d+ x float>")));
}

// Lanes are wider than the vectors of the source.
TEST(Vectorising, VectorsOfTheSource) {
  EXPECT_TRUE(std::regex_search(optimisedText(kernels, "turn"),
                                std::regex("fmul <(4|8|16) x float>|fmuladd\\.v(4|8|16)f32")));
  std::vector<float> points;
  for (int i = 0; i < 90; ++i) points.push_back(static_cast<float>(i));
  Program(kernels).run(
      "turn", {1, {45, 1, 1}, {45, 1, 1}, {0, 0, 0}},
      {Program::buffer(points.data()), Program::value(0.5f), Program::value(2.0f)});
  for (int i = 0; i < 45; ++i) {
    const auto x = static_cast<float>(2 * i), y = x + 1;
    ASSERT_EQ(points[2 * i], 0.5f * x - 2 * y);
    ASSERT_EQ(points[2 * i + 1], 2 * x + 0.5f * y);
  }
}

// A loop that each lane leaves in a turn of its own.
TEST(Vectorising, DivergentLoop) {
  EXPECT_TRUE(
      std::regex_search(optimisedText(kernels, "escape"), std::regex("fcmp \\w+ <\\d+ x float>")));
  const int n = 3 * 37, most = 50;
  const float step = 0.0625f * 0.5f;
  std::vector<int> out(n, -1);
  Program(kernels).run("escape", {1, {n, 1, 1}, {37, 1, 1}, {0, 0, 0}},
                       {Program::buffer(out.data()), Program::value(step), Program::value(most)});
  for (int x = 0; x < n; ++x) {
    const float c = static_cast<float>(x) * step - 2.0f;
    float z = 0;
    int turn = 0;
    for (; turn < most && z * z < 4.0f; ++turn) z = std::fma(z, z, c);
    ASSERT_EQ(out[static_cast<size_t>(x)], turn) << x;
  }
}

}  // namespace
}  // namespace weft::test
