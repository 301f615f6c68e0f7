// What is made of loops, arrays, addresses and math for GPUs.
#include "tests/compiler/gpu_program.h"

namespace weft {
namespace {

using test::contains;
using test::count;
using test::GpuTest;

// A private array that is indexed by a variable lies in memory.
TEST_F(GpuTest, ArraysOfKnownPlacesBecomeRegisters) {
  const std::string text =
      ptx("constant uchar order[8] = {3, 1, 7, 0, 2, 6, 4, 5};\n"
          "void mix(uint* v) {\n"
          "  for (int q = 0; q < 2; ++q)\n"
          "    for (int i = 0; i < 4; ++i) v[q * 4 + i] ^= rotate(v[(q ^ 1) * 4 + i], 7u);\n"
          "}\n"
          "kernel void f(global uint* a, int n) { uint v[8];\n"
          "  for (int i = 0; i < 8; ++i) v[i] = a[i];\n"
          "  for (int k = 0; k < n; ++k) {\n"
          "    mix(v);\n"
          "    for (int i = 0; i < 8; ++i) v[i] += v[order[i]] * (i < 4 ? 3 : 5);\n"
          "  }\n"
          "  for (int i = 0; i < 8; ++i) a[i] = v[i]; }\n");
  EXPECT_EQ(count(text, ".local"), 0) << text;
}

TEST_F(GpuTest, ArraysExchangedByTheirPointersBecomeRegisters) {
  const std::string text =
      ptx("kernel void f(global float* a, int n) { float x[4], y[4], *p = x, *q = y;\n"
          "  for (int i = 0; i < 4; ++i) p[i] = a[i];\n"
          "  for (int k = 0; k < n; ++k) {\n"
          "    for (int i = 0; i < 4; ++i) q[i] = p[i] * a[i] + p[3 - i];\n"
          "    float* r = p; p = q; q = r; a[8 + k] = p[0] + p[3];\n"
          "  } }\n");
  EXPECT_EQ(count(text, ".local"), 0) << text;
}

// Loops that may be left early, as searches, have a greatest number of turns.
TEST_F(GpuTest, ArraysThatAreSearchedBecomeRegisters) {
  const std::string text =
      ptx("kernel void f(global float* a, global int* b, int n) {\n"
          "  for (int k = 0; k < n; ++k) {\n"
          "    float p[12], sum = 0, most = 0; int found = -1;\n"
          "    for (int i = 0; i < 12; ++i) { p[i] = a[k * 12 + i]; sum += p[i]; }\n"
          "    for (int i = 0; i < 12; ++i) {\n"
          "      if (p[i] == 0) continue;\n"
          "      most += p[i]; found = i; if (most >= 0.5f * sum) break; }\n"
          "    b[k] = found; } }\n");
  EXPECT_EQ(count(text, ".local"), 0) << text;
}

// Where it has to lie in memory its pointers say so, those that advance through it, too.
TEST_F(GpuTest, ArraysInMemoryAreAccessedAsLocal) {
  const std::string text =
      ptx("kernel void f(global float* a, int n) { float t[128];\n"
          "  for (int i = 0; i < n; ++i) t[i] = a[i];\n"
          "  for (int i = 2; i < n; i += 2) t[i] += 0.5f * (t[i - 1] + t[i - 2]);\n"
          "  for (int i = 0; i < n; ++i) a[i] = t[i]; }\n");
  EXPECT_GT(count(text, "ld.local.f32"), 0) << text;
  EXPECT_FALSE(contains(text, "ld.f32") || contains(text, "st.f32")) << text;
}

// Their elements, several at a time.
TEST_F(GpuTest, NeighboursInArraysAreOneAccess) {
  const std::string text =
      ptx("kernel void f(global float* a, int n) { float t[16], u[16];\n"
          "  for (int k = 0; k < n; ++k) t[k] = u[k] = a[k];\n"
          "  for (int i = 0; i < n; ++i) {\n"
          "    float x = a[i];\n"
          "    for (int k = 0; k < n; ++k) t[k] = x * u[k] + t[k];\n"
          "    a[i] = t[i]; } }\n");
  EXPECT_GE(count(text, "ld.local.v4"), 2) << text;
  EXPECT_GE(count(text, "st.local.v4"), 1) << text;
}

// From one turn to the next, and among those that become one.
TEST_F(GpuTest, WhatWasStoredIsNotLoadedAgain) {
  const std::string text =
      ptx("kernel void f(global int* a, int n) { int row[65];\n"
          "  for (int j = 0; j <= n; ++j) row[j] = j;\n"
          "  for (int i = 0; i < n; ++i)\n"
          "    for (int j = 1; j <= n; ++j) row[j] = max(row[j], row[j - 1]) + a[i];\n"
          "  a[0] = row[n]; }\n");
  EXPECT_GT(count(text, "ld.local"), 4) << text;
  EXPECT_LE(count(text, "ld.local"), count(text, "st.local")) << text;
}

// A window of 3 x 5 neighbours that moves over 5 places: 3 x 9 of them.
TEST_F(GpuTest, NeighboursThatAreClampedAreLoadedOnce) {
  const std::string text =
      ptx("kernel void f(global const float* a, global float* b, int w, int h) {\n"
          "  int x = get_global_id(0), y = get_global_id(1); float s = 0;\n"
          "  for (int i = -2; i <= 2; ++i) { float d = 0;\n"
          "    for (int v = -1; v <= 1; ++v) for (int u = -2; u <= 2; ++u)\n"
          "      d += a[clamp(y + v, 0, h - 1) * w + clamp(x + i + u, 0, w - 1)] * (u + 3);\n"
          "    s += d * d; }\n"
          "  b[y * w + x] = s; }\n");
  EXPECT_EQ(count(text, "ld.global"), 27) << text;
}

TEST_F(GpuTest, ComponentsAreChosenWithoutBranches) {
  const std::string text =
      ptx("kernel void f(global float4* a, global float* b, global int* k) {\n"
          "  float4 v = a[0]; int c = k[0]; b[0] = c == 0 ? v.x : c == 1 ? v.y : v.z; }\n");
  EXPECT_EQ(count(text, "bra"), 0) << text;
  EXPECT_EQ(count(text, "selp.f32"), 2) << text;
}

// But not those of too many turns, nor what would not become registers.
TEST_F(GpuTest, LongLoopsStay) {
  const std::string text =
      ptx("kernel void f(global uchar* a, global uchar* b) { uchar s[256];\n"
          "  for (int i = 0; i < 256; ++i) s[i] = a[i];\n"
          "  for (int i = 0; i < 4096; ++i) b[i] = s[b[i]]; }\n");
  EXPECT_LE(count(text, "st.local"), 8) << text;
  EXPECT_LE(count(text, "ld.global"), 16) << text;
}

TEST_F(GpuTest, FunctionsByTheMachinesInstructions) {
  const std::string text = ptx(
      "kernel void f(global float4* a, global double* b) { a[0] = tanh(a[0]); a[1] = cbrt(a[1]);\n"
      "  b[0] = rsqrt(b[0]); a[2] = half_exp(a[2]); }\n");
  EXPECT_EQ(count(text, "ex2.approx"), 12) << text;
  EXPECT_EQ(count(text, "lg2.approx"), 4) << text;
  EXPECT_EQ(count(text, "rcp.approx"), 4) << text;
  EXPECT_EQ(count(text, "rsqrt.approx.ftz.f64"), 1) << text;
  EXPECT_FALSE(contains(text, "__weft_")) << text;
  const std::string nearest =
      ptx("kernel void f(global float* a, global double* b) { a[0] = round(a[0]); b[0] = "
          "round(b[0]); }");
  EXPECT_EQ(count(nearest, "cvt.rzi"), 2) << nearest;
  EXPECT_EQ(count(nearest, "selp"), 2) << nearest;
}

TEST_F(GpuTest, ShortLoopsAreUnrolled) {
  const std::string sum = "kernel void f(global float* a, int n) { float s = 0;\n";
  const std::string body = "for (int i = 0; i < n; ++i) s += a[i] * a[i + n]; a[0] = s; }\n";
  const std::string text = ptx(sum + body);
  EXPECT_GE(count(text, "ld.global.f32"), 8);
  EXPECT_EQ(count(text, "nounroll"), 0) << "the driver's compiler may go on:" << text;
  const std::string kept = ptx(sum + "#pragma unroll 1\n" + body);
  EXPECT_EQ(count(kept, "ld.global.f32"), 2);
  EXPECT_EQ(count(kept, "nounroll"), 1) << kept;
  // With functions in it, and vectors.
  const std::string dots =
      "kernel void f(global float4* a, int n) { float s = 0;\n"
      "  for (int i = 0; i < n; ++i) s = mad(rsqrt(dot(a[i] - a[0], a[i])), 3.0f, s);\n"
      "  a[0] = s; }\n";
  EXPECT_GE(count(ptx(dots), "fma.rn.f32"), 16);
}

// Which work-items are in a turn together is theirs to know.
TEST_F(GpuTest, LoopsWithSubGroupFunctionsStay) {
  const std::string text =
      ptx("#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable\n"
          "kernel void f(global int* a) { int r = 0, n = a[get_local_id(0)];\n"
          "  for (int i = 0; i < n; ++i) r += sub_group_ballot(1).x + a[i];\n"
          "  a[get_local_id(0)] = r; }\n");
  EXPECT_EQ(count(text, "vote"), 1) << text;
}

// The driver's compiler makes one instruction of each such step.
TEST_F(GpuTest, AddressesGrowInLoops) {
  const std::string text =
      ptx("kernel void f(global float* a, global float* b, int n) {\n"
          "  const int column = get_global_id(0); float s = 0;\n"
          "  for (int k = 0; k < n; ++k) s += a[k * n + column];\n"
          "  b[column] = s; }\n");
  EXPECT_GE(count(text, "ld.global.f32"), 5) << text;
  EXPECT_LE(count(text, "mul.wide"), 3) << text;
}

TEST_F(GpuTest, IndicesAreOf32BitsAndNeighboursOneAddress) {
  const std::string text =
      ptx("kernel void f(global float* a, global float* b) {\n"
          "  const int i = get_global_id(0);\n"
          "  b[i] = a[i - 1] + a[i + 1]; }\n");
  EXPECT_TRUE(contains(text, "+-4]")) << text;
  EXPECT_TRUE(contains(text, "+4]")) << text;
  EXPECT_FALSE(contains(text, "mul.lo.s64")) << text;
  EXPECT_FALSE(contains(text, "shr.s64")) << text;
  // A size that an int cannot hold is asked for as before.
  EXPECT_TRUE(contains(ptx("kernel void f(global ulong* a) { a[0] = get_global_id(0); }"), ".u64"));
}

TEST_F(GpuTest, VectorsThatAreUsedInPartAreLoadedWhole) {
  const std::string text =
      ptx("kernel void f(global float4* a, global float* b, global int* c) {\n"
          "  const float4 v = a[c[0]]; b[0] = v.x * v.y + v.z; }\n");
  EXPECT_EQ(count(text, "ld.global.v4.f32"), 1) << text;
  EXPECT_EQ(count(text, "ld.global.f32"), 0) << text;
}

TEST_F(GpuTest, ExponentialsUseThePowersOfTwo) {
  const std::string text =
      ptx("kernel void f(global float4* a, global float* b) {\n"
          "  a[0] = exp(a[1]); b[0] = exp10(b[1]); b[2] = exp2(b[3]); }\n");
  EXPECT_EQ(count(text, "ex2.approx.ftz.f32"), 5) << text;
  EXPECT_EQ(count(text, "ex2.approx.f32"), 1) << text;
  const std::string of_double = ptx("kernel void f(global double* a) { a[0] = exp(a[1]); }");
  EXPECT_EQ(count(of_double, "ex2"), 0);
}

// NVIDIA's need not be kept from dividing by zero, whatever it is that decides about a divisor's
// being 1; and having divided says nothing of the divisor.
TEST_F(GpuTest, DivisionsHaveNoGuards) {
  const std::string head = "kernel void f(global int* a, int n, short m, uint u) {\n";
  const std::string text =
      ptx(head + "a[0] = a[1] % n + (short)a[2] / m + (uint)a[3] / u + a[4] % (ushort)m; }\n");
  EXPECT_EQ(count(text, "selp"), 0) << text;
  for (const char* division : {"rem.s32", "div.s32", "div.u32", "rem."})
    EXPECT_TRUE(contains(text, division)) << text;
  EXPECT_GE(count(ptx(head + "a[0] = a[1] / (n > 7 ? 1 : m); }\n"), "selp"), 1);
  EXPECT_EQ(count(ptx(head + "a[0] = (uint)a[1] / (n == -1 ? 1 : (uint)n); }\n"), "selp"), 1);
  EXPECT_EQ(count(ptx(head + "a[0] = a[1] / n; a[1] = n == 0; }\n"), "selp"), 1);
}

TEST_F(GpuTest, NativeFunctionsAreInstructions) {
  const std::string source =
      "kernel void f(global float* a) { a[0] = native_sin(a[1]); a[2] = native_exp(a[3]);\n"
      "  a[4] = native_log10(a[5]); a[6] = native_powr(a[7], a[8]); }\n";
  const std::string text = ptx(source);
  EXPECT_EQ(count(text, "sin.approx.f32"), 1) << text;
  EXPECT_EQ(count(text, "ex2.approx.f32"), 2) << text;
  EXPECT_EQ(count(text, "lg2.approx.f32"), 2) << text;
  const std::string cosine = "kernel void f(global float2* a) { a[0] = cos(a[1]); }";
  EXPECT_EQ(count(ptx(cosine), "cos.approx"), 0);
  EXPECT_EQ(count(ptx(cosine, "-cl-fast-relaxed-math"), "cos.approx"), 2);
}

// Doubles are slow on many GPUs.
TEST_F(GpuTest, FunctionsOfFloatNeedNoDoubles) {
  std::string source;
  const auto define = [&](const std::string& name, const char* parameters, const char* arguments) {
    source += "kernel void k_" + name + "(" + parameters + ") { *a = " + name + arguments + "; }\n";
  };
  for (const char* name :
       {"exp",   "exp2",   "exp10",  "expm1",  "log",   "log2",     "log10",     "log1p",
        "sin",   "cos",    "tan",    "sinpi",  "cospi", "tanpi",    "asin",      "acos",
        "atan",  "asinpi", "acospi", "atanpi", "sinh",  "cosh",     "tanh",      "asinh",
        "acosh", "atanh",  "cbrt",   "erf",    "erfc",  "half_exp", "half_log2", "half_cos"})
    define(name, "global float3* a", "(*a)");
  for (const char* name : {"pow", "powr", "atan2", "atan2pi", "hypot", "half_powr"})
    define(name, "global float* a", "(*a, a[1])");
  for (const char* name : {"pown", "rootn"}) define(name, "global float2* a, int2 n", "(*a, n)");
  define("sincos", "global float4* a", "(*a, a + 1)");
  const std::string text = ptx(source);
  EXPECT_EQ(count(text, ".f64"), 0) << text;
  EXPECT_EQ(count(text, ".visible .entry"), 41);
}

// NVIDIA's instructions for roots take longer where numbers may be denormal.
TEST_F(GpuTest, RootsOfWhatIsNeverDenormalTakeTheShorterInstruction) {
  const auto flushed = [&](const std::string& number) {
    const std::string text =
        ptx("kernel void f(global float* a) { float x = a[0], y = a[1], z = a[2];\n"
            "  a[3] = rsqrt(" +
            number + ") + sqrt(" + number + "); }\n");
    EXPECT_EQ(count(text, "sqrt.approx"), 2) << text;
    return count(text, "sqrt.approx.ftz");
  };
  for (const char* const normal :
       {"x * x + y * y + 0.01f", "fma(x, x, fma(y, y, 0x1p-126f))", "0.5f + fabs(x) * (y * y)",
        "fmax(x, 1e-6f)", "1.0f + fabs(x) + z * z"})
    EXPECT_EQ(flushed(normal), 2) << normal;
  for (const char* const any : {"x * x + y * y", "x * x + 0x1p-127f", "x * y + 0.01f", "x * x + z",
                                "fma(x, y, 0.01f)", "fmax(x * x + 0.01f, y)", "0.01f - x * x"})
    EXPECT_EQ(flushed(any), 0) << any;
}

TEST_F(GpuTest, DenormalsAreFlushedWhereTheProgramAllowsIt) {
  const char* const source =
      "kernel void f(global float* a) { a[3] = a[0] / (1 + sqrt(a[1])) + exp2(a[2] * a[0]); }\n";
  EXPECT_EQ(count(ptx(source), ".ftz"), 0);
  for (const char* const options : {"-cl-denorms-are-zero", "-cl-fast-relaxed-math"}) {
    const std::string text = ptx(source, options);
    EXPECT_EQ(count(text, "mul.rn.ftz.f32"), 1) << text;
    EXPECT_EQ(count(text, "add.rn.ftz.f32"), 2) << text;
    EXPECT_EQ(count(text, "sqrt.approx.ftz.f32"), 1) << text;
  }
}

TEST_F(GpuTest, DistancesAreOneInstruction) {
  for (const std::string type : {"uchar", "short", "int", "uint"}) {
    const std::string text = ptx("kernel void f(global " + type +
                                 "* a, global uint* b) {\n"
                                 "  b[0] = abs_diff(a[0], a[1]) + b[1]; }\n");
    EXPECT_EQ(count(text, "sad."), 1) << text;
    EXPECT_EQ(count(text, "add.s32") + count(text, "max.") + count(text, "min."), 0) << text;
  }
  const std::string sums =
      ptx("kernel void f(global uchar* a, global short* b) {\n"
          "  a[0] = add_sat(a[1], a[2]); b[0] = sub_sat(b[1], b[2]); }\n");
  EXPECT_EQ(count(sums, "min.s32"), 2) << sums;
}

// Registers have 32 bits.
TEST_F(GpuTest, MasksAreMadeOfHalves) {
  const std::string text =
      ptx("kernel void f(global ulong* a) { ulong x = a[0], s = 0;\n"
          "  for (int k = 0; k < 63; k += 9) s ^= a[k] & -((x >> k) & 1);\n"
          "  a[1] = s; a[2] = (long)(x << 20) >> 63; }\n");
  EXPECT_EQ(count(text, "bfe.s64"), 0) << text;
  EXPECT_EQ(count(text, "bfe.s32"), 7) << text;  // the lowest bit has no need of it
}

}  // namespace
}  // namespace weft
