// Loops that take lanes side by side far through memory run for several vectors at once, and for
// what is left of a row of lanes for one, then for a part of one.
#include <algorithm>
#include <numeric>
#include <regex>

#include <gtest/gtest.h>
#include <llvm/Analysis/TargetTransformInfo.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

const char* const kernels = R"(
  #define ADD(space, place, value) \
    __opencl_atomic_fetch_add((volatile space atomic_uint*)(place), value, memory_order_relaxed, \
                              memory_scope_device)
  kernel void strided(global const uint* in, global uint* out, int count) {
    uint sum = 0;
    for (int i = get_global_id(0); i < count; i += get_global_size(0)) sum = sum * 3 + in[i];
    out[get_global_id(0)] = sum;
  }
  kernel void columns(global const uint* in, global uint* out, int rows) {
    uint sum = 0;
    for (int i = 0; i < rows; ++i) sum = sum * 3 + in[i * get_global_size(0) + get_global_id(0)];
    out[get_global_id(0)] = sum;
  }
  kernel void counts(global const uint* in, global uint* out, int rows) {
    local uint ours[8];
    for (int i = get_local_id(0); i < 8; i += get_local_size(0)) ours[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < rows; ++i)
      ADD(local, &ours[in[i * get_global_size(0) + get_global_id(0)] & 7], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 8; i += get_local_size(0)) ADD(global, &out[i], ours[i]);
  }
  kernel void near(global const uint* in, global uint* out, int rows) {
    uint sum = 0;
    for (int i = 0; i < rows; ++i) sum = sum * 3 + in[get_global_id(0) + i];
    out[get_global_id(0)] = sum;
  }
  kernel void turning(global const uint* in, global uint* out, int rows) {
    uint sum = 0;
    short at = (short)(get_global_id(0) + 32000);
    for (int i = 0; i < rows; ++i) {
      sum = sum * 3 + in[32768 + at];
      at = (short)(at + 150);
    }
    out[get_global_id(0)] = sum;
  })";

// Groups of two times 64 lanes and two of 16 or less, and with fewer than any vector.
constexpr uint32_t group = 150, items = 3 * group + 2;

std::vector<uint32_t> words(size_t count) {
  std::vector<uint32_t> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<uint32_t>(i * 2654435761u >> 7);
  return result;
}

std::vector<uint32_t> run(const char* kernel, const std::vector<uint32_t>& in, int number) {
  std::vector<uint32_t> out(items);
  Program(kernels, true, compiler::Vectorising::always)
      .run(kernel, {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
           {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(number)});
  return out;
}

// How many lanes a vector has on this machine.
unsigned vectorLanes() {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = compileOpenCl(context, "kernel void none() {}");
  const llvm::TargetTransformInfo info =
      hostMachine().getTargetTransformInfo(*module->getFunction("none"));
  return static_cast<unsigned>(
      info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() /
      32);
}

TEST(FarLoads, TakeSeveralVectorsAtOnce) {
  if (!hostMachine().getTargetFeatureString().contains("+avx2"))
    GTEST_SKIP() << "needs masked loads";
  const std::regex wide("<(32|64) x i32>");  // four of eight or sixteen
  for (const char* kernel : {"strided", "columns", "counts"}) {
    const std::string text = optimisedText(kernels, kernel);
    EXPECT_TRUE(std::regex_search(text, wide)) << kernel;
  }
  // Its lanes find in the cache what those beside them read.
  EXPECT_FALSE(std::regex_search(optimisedText(kernels, "near"), wide));
}

// Not far, but each turn waits for the one before: two vectors. Groups of whole ones, with lanes
// left over, and of fewer than one.
TEST(FarLoads, LoopsThatWaitForTheirTurns) {
  const char* const escape = R"(
    kernel void escape(global int* turns, float step, int most) {
      const float cx = get_global_id(0) * step - 2.0f, cy = 0.25f;
      float x = 0, y = 0;
      int turn = 0;
      while ((x * x + y * y < 4) & (turn < most)) {
        const float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++turn;
      }
      turns[get_global_id(0)] = turn;
    })";
  if (!hostMachine().getTargetFeatureString().contains("+avx2"))
    GTEST_SKIP() << "needs masked stores";
  const std::string two_vectors = "<" + std::to_string(2 * vectorLanes()) + " x float>";
  EXPECT_NE(optimisedText(escape, "escape").find(two_vectors), std::string::npos) << two_vectors;
  constexpr int most = 50;
  constexpr float step = 0.0625f * 0.125f;
  const auto turnsOf = [&](compiler::Vectorising mode) {
    std::vector<int> turns(items, -1);
    Program(escape, true, mode)
        .run("escape", {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
             {Program::buffer(turns.data()), Program::value(step), Program::value(most)});
    return turns;
  };
  const std::vector<int> turns = turnsOf(compiler::Vectorising::automatic);
  EXPECT_EQ(turns, turnsOf(compiler::Vectorising::never));
  EXPECT_EQ(std::ranges::max(turns), most);
  EXPECT_LT(std::ranges::min(turns), 5);
}

// Much arithmetic in one piece: two vectors. Not where there is little of it, nor beside many
// accesses.
TEST(FarLoads, LongArithmetic) {
  if (!hostMachine().getTargetFeatureString().contains("+avx2"))
    GTEST_SKIP() << "needs masked stores";
  const auto source = [](int rounds, int loads) {
    std::string text =
        "kernel void mix(global const uint* in, global uint* out, uint n) {"
        "  const size_t i = get_global_id(0); uint x = n ^ (uint)i;\n";
    for (int round = 0; round < rounds; ++round) text += "x ^= x << 13; x ^= x >> 17; x *= 5;\n";
    for (int load = 0; load < loads; ++load) text += "x += in[i + " + std::to_string(load) + "];\n";
    return text + "out[i] = x; }";
  };
  const std::string two_vectors = "<" + std::to_string(2 * vectorLanes()) + " x i32>";
  const auto takesTwo = [&](const std::string& text) {
    return optimisedText(text, "mix", compiler::Vectorising::always).find(two_vectors) !=
           std::string::npos;
  };
  EXPECT_TRUE(takesTwo(source(24, 1)));
  EXPECT_FALSE(takesTwo(source(8, 1)));
  EXPECT_FALSE(takesTwo(source(24, 20)));

  const auto in = words(items + 20);
  std::vector<uint32_t> out(items);
  Program(source(24, 1), true, compiler::Vectorising::always)
      .run("mix", {1, {items, 1, 1}, {group, 1, 1}, {0, 0, 0}},
           {Program::buffer(in.data()), Program::buffer(out.data()), Program::value(12345u)});
  for (uint32_t g = 0; g < items; ++g) {
    uint32_t x = 12345u ^ g;
    for (int round = 0; round < 24; ++round) x ^= x << 13, x ^= x >> 17, x *= 5;
    ASSERT_EQ(out[g], x + in[g]) << g;
  }
}

TEST(FarLoads, StridesOverAll) {
  const int count = 40 * items + 17;
  const auto in = words(count);
  const auto out = run("strided", in, count);
  for (uint32_t g = 0; g < items; ++g) {
    uint32_t sum = 0;
    for (int i = static_cast<int>(g); i < count; i += items)
      sum = sum * 3 + in[static_cast<size_t>(i)];
    ASSERT_EQ(out[g], sum) << g;
  }
}

TEST(FarLoads, Columns) {
  const auto in = words(30 * items);
  const auto out = run("columns", in, 30);
  for (uint32_t g = 0; g < items; ++g) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 30; ++i) sum = sum * 3 + in[i * items + g];
    ASSERT_EQ(out[g], sum) << g;
  }
}

TEST(FarLoads, UpdatesOfLocalMemory) {
  const auto in = words(30 * items);
  const auto out = run("counts", in, 30);
  std::vector<uint32_t> want(8);
  for (uint32_t word : in) ++want[word & 7];
  EXPECT_TRUE(std::equal(want.begin(), want.end(), out.begin()));
}

// An index of 16 bits that grows by one from lane to lane may wrap within a vector.
TEST(FarLoads, IndicesThatWrap) {
  const auto in = words(1 << 16);
  const auto out = run("turning", in, 500);
  for (uint32_t g = 0; g < items; ++g) {
    uint32_t sum = 0;
    auto at = static_cast<int16_t>(g + 32000);
    for (int i = 0; i < 500; ++i) {
      sum = sum * 3 + in[static_cast<size_t>(32768 + at)];
      at = static_cast<int16_t>(at + 150);
    }
    ASSERT_EQ(out[g], sum) << g;
  }
}

}  // namespace
}  // namespace weft::test
