// Loops over rows of each lane's own that LLVM makes vectors of, turn by turn.
#include <gtest/gtest.h>

#include "tests/compiler/passes/guarded_buffer.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

constexpr const char* source = R"(
  kernel void flags(global const int* a, global const int* b, global uint* out, int low) {
    const int g = get_global_id(0);
    uint bits = 0;
    for (int i = 0; i < 32; i++)
      if (a[g * 32 + i] >= low && b[g * 32 + i] != 7) bits |= 1u << i;
    out[g] = bits;
  }
  kernel void products(global const char4* a, global const char4* b, global uint* out, int n) {
    const int g = get_global_id(0);
    int sum = 0;
    for (int i = 0; i < n; i++) {
      const char4 x = a[g * n + i], y = b[i];
      sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    out[g] = sum;
  }
  kernel void sums(global const float* a, global const float* b, global float* out, int n) {
    const int g = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[g * n + i] * b[i];
    out[g] = sum;
  }
  // The loop over the tile is short enough to be unrolled, and groups could be joined.
  kernel void tiles(global const char4* a, global const char4* b, global uint* out, int n) {
    local char4 x[16][17], y[16][17];
    const int lx = get_local_id(0), ly = get_local_id(1);
    int sum = 0;
    for (int t = 0; t < n; t += 16) {
      x[ly][lx] = a[get_global_id(1) * n + t + lx];
      y[ly][lx] = b[(get_group_id(0) * 16 + ly) * n + t + lx];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = 0; k < 16; k++) {
        const int4 p = __builtin_convertvector(x[ly][k], int4) * __builtin_convertvector(y[lx][k], int4);
        sum += p.x + p.y + p.z + p.w;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
  })";

TEST(TurnVectors, LoadNothingFromFar) {
  for (const char* kernel : {"flags", "products", "tiles"}) {
    const std::string text = optimisedText(source, kernel, compiler::Vectorising::automatic);
    EXPECT_EQ(text.find("masked.gather"), std::string::npos) << text;
    // The tiles' loop is unrolled, and left to what makes vectors of straight code.
    if (kernel != std::string_view("tiles")) {
      EXPECT_NE(text.find("vector.reduce."), std::string::npos) << text;
    }
  }
}

// What has an order stays a sum of each lane's own.
TEST(TurnVectors, AreNotOfFloatingPointSums) {
  const std::string text = optimisedText(source, "sums", compiler::Vectorising::automatic);
  EXPECT_EQ(text.find("vector.reduce."), std::string::npos) << text;
}

TEST(TurnVectors, DoWhatLanesDo) {
  constexpr size_t items = 75;
  constexpr int n = 37, low = 20;
  const GuardedBuffer a(items * n * sizeof(int)), b(items * n * sizeof(int));
  const NdRange range{1, {items, 1, 1}, {items, 1, 1}, {0, 0, 0}};
  for (const char* kernel : {"flags", "products"}) {
    std::vector<std::vector<uint32_t>> results;
    for (const auto mode : {compiler::Vectorising::never, compiler::Vectorising::automatic,
                            compiler::Vectorising::always}) {
      std::vector<uint32_t>& out = results.emplace_back(items);
      Program(source, true, mode)
          .run(kernel, range,
               {Program::buffer(a.begin()), Program::buffer(b.begin()), Program::buffer(out.data()),
                Program::value(kernel[0] == 'f' ? low : n)});
    }
    EXPECT_EQ(results[1], results[0]) << kernel;
    EXPECT_EQ(results[2], results[0]) << kernel;
  }
}

TEST(TurnVectors, OfTiles) {
  constexpr int n = 32;
  constexpr size_t width = 32, height = 48;
  const GuardedBuffer a(height * n * 4), b(width * n * 4);
  const auto* x = static_cast<const int8_t*>(a.begin());
  const auto* y = static_cast<const int8_t*>(b.begin());
  std::vector<int> want(width * height);
  for (size_t i = 0; i < want.size(); ++i)
    for (size_t k = 0; k < 4 * n; ++k)
      want[i] += x[i / width * 4 * n + k] * y[i % width * 4 * n + k];
  for (const auto mode : {compiler::Vectorising::automatic, compiler::Vectorising::always}) {
    std::vector<int> out(width * height, -1);
    Program(source, true, mode)
        .run("tiles", {2, {width, height, 1}, {16, 16, 1}, {0, 0, 0}},
             {Program::buffer(a.begin()), Program::buffer(b.begin()), Program::buffer(out.data()),
              Program::value(n)});
    EXPECT_EQ(out, want);
  }
}

}  // namespace
}  // namespace weft::test
