// Vectors of the source, and the lanes that have them.
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

// Putting their elements in order would cost more than lanes as vectors save.
TEST(SourceVectors, FullVectorsOfTheSourceStayWhole) {
  const char* const source =
      "kernel void scale(global float16* p) { p[get_global_id(0)] *= 2.0f; }\n"
      "kernel void curve(global float2* p) {\n"
      "  float2 x = p[get_global_id(0)], y = x;\n"
      "  for (int i = 0; i < 12; ++i) y = y * x + 0.5f;\n"
      "  p[get_global_id(0)] = y;\n}\n"
      "kernel void rows(global uchar* p, int step, int rows) {\n"
      "  int y0 = get_global_id(1), at = mad24(y0, step, (int)get_global_id(0) * 64);\n"
      "  for (int y = y0; y < min(rows, y0 + 1); ++y, at += step)\n"
      "    *(global float16*)(p + at) = *(global float16*)(p + at) * 2.0f + 1.0f;\n}\n";
  const std::regex whole("fmul <16 x float>"), shuffled("shufflevector"), pair("\\.v2f32");
  const std::string scale = optimisedText(source, "scale"), curve = optimisedText(source, "curve");
  EXPECT_TRUE(std::regex_search(scale, whole));
  EXPECT_FALSE(std::regex_search(scale, shuffled));
  EXPECT_FALSE(std::regex_search(curve, pair));
  EXPECT_EQ(optimisedText(source, "rows").find("gather"), std::string::npos);
}

// Nor do vectors of our own take those of many small elements apart, unless more is done with
// elements one by one.
TEST(SourceVectors, ManySmallElementsStayTogether) {
  const char* const source =
      "kernel void blend(global const uchar16* a, global const uchar16* b, global uchar16* o) {\n"
      "  size_t i = get_global_id(0);\n"
      "  ushort16 m = convert_ushort16(a[i]) * convert_ushort16(b[i]);\n"
      "  o[i] = convert_uchar16((m + (m >> (ushort16)(8))) >> (ushort16)(8));\n}\n"
      "kernel void loop(global const short8* a, global short8* o, int n) {\n"
      "  size_t i = get_global_id(0);\n"
      "  short8 sum = a[i];\n"
      "  for (int k = 1; k < n; ++k) sum += a[i + k * n];\n"
      "  o[i] = sum;\n}\n";
  EXPECT_TRUE(
      std::regex_search(optimisedText(source, "blend"), std::regex("mul \\w*.*<16 x i16>")));
  EXPECT_EQ(optimisedText(source, "blend").find(".lane.simd"), std::string::npos);
  EXPECT_NE(optimisedText(source, "loop").find("add <8 x i16>"), std::string::npos);
  EXPECT_EQ(optimisedText(source, "loop").find(".lane.simd"), std::string::npos);
}

// As are those at an index of which it takes the bounds of local ids to see that it does not wrap.
TEST(SourceVectors, ShiftedLocalIdsAreLinear) {
  const char* const source =
      "kernel void scale(global float* p, int n) {\n"
      "  int group = get_group_id(0), lane = get_local_id(0), at = (group << 10) + (lane << 2);\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    global float4* q = (global float4*)(p + (at + (i << 8)));\n"
      "    float4 x = *q;\n"
      "    for (int k = 0; k < n; ++k) x = x * x.wzyx + x.yxwz;\n"
      "    *q = x;\n"
      "  }\n}\n";
  const std::string text = optimisedText(source, "scale");
  EXPECT_EQ(text.find("gather"), std::string::npos);
  EXPECT_EQ(text.find("scatter"), std::string::npos);
  EXPECT_TRUE(std::regex_search(text, std::regex("load <(32|64) x float>")));
}

// They do not where most is done with their elements one by one.
TEST(SourceVectors, VectorsOfTheSourceThatAreUsedByElementsAreTakenApart) {
  const char* const source =
      "kernel void mingle(global const uint8* p, global uint8* o) {\n"
      "  size_t g = get_global_id(0);\n"
      "  uint8 x = p[g];\n"
      "  x.s0 += x.s1; x.s3 = (x.s3 ^ x.s0) * 3u; x.s5 *= x.s3;\n"
      "  x.s7 ^= x.s5; x.s1 += x.s7; x.s2 = (x.s2 ^ x.s1) * 5u;\n"
      "  x.s4 += x.s2; x.s6 ^= x.s4; x.s0 *= x.s6; x.s3 += x.s0;\n"
      "  o[g] = x;\n}\n";
  const std::string text = optimisedText(source, "mingle");
  EXPECT_TRUE(std::regex_search(text, std::regex("mul <\\d+ x i32>"))) << text;
}

// LLVM's vectoriser gets no loop with them where another one of the kernel's is not for it.
TEST(SourceVectors, BesideALoopOfTheLanes) {
  const char* const source =
      "kernel void turn(global float2* p, global float* q, int n) {\n"
      "  size_t i = get_global_id(0);\n"
      "  float sum = 0;\n"
      "  for (int k = 0; k < n; ++k) sum = sum * 0.5f + q[k * get_global_size(0) + i];\n"
      "  q[i] = sum;\n"
      "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
      "  float2 x = p[i];\n"
      "  p[i] = (float2)(x.x * x.y - 2.0f, x.y * x.x * 3.0f) * x;\n}\n";
  EXPECT_TRUE(std::regex_search(optimisedText(source, "turn"),
                                std::regex("fmul (contract )?<(4|8|16) x float>")));
}

}  // namespace
}  // namespace weft::test
