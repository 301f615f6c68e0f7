// Programs for GPUs: what the PTX of a kernel is, and what is refused by name.
#include "core/ports/launch.h"
#include "tests/compiler/gpu_program.h"

namespace weft {
namespace {

using test::contains;
using test::count;
using test::GpuTest;

TEST_F(GpuTest, AKernelTakesItsArgumentsAndTheLaunch) {
  const Image image =
      gpuImage("kernel void f(global float* a, float x) { a[get_global_id(0)] = x; }");
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].symbol, "weft_kernel_f");
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_TRUE(contains(text, ".target sm_80")) << text;
  EXPECT_TRUE(contains(text, ".visible .entry weft_kernel_f(")) << text;
  const std::string launch =
      "weft_kernel_f_param_2[" + std::to_string(sizeof(port::GpuLaunch)) + "]";
  EXPECT_TRUE(contains(text, launch)) << text;
  EXPECT_TRUE(contains(text, "st.global.f32")) << text;
}

TEST_F(GpuTest, ClocksOfTheDeviceAndOfTheMultiprocessor) {
  port::CompileRequest made = gpuRequest(
      "kernel void f(global ulong* a) { a[0] = clock_read_device(); a[1] = "
      "clock_read_work_group(); }",
      "-cl-std=CL3.0");
  made.features.extensions.emplace_back("cl_khr_kernel_clock");
  for (const char* scope : {"device", "work_group"})
    made.features.feature_macros.push_back(std::string("__opencl_c_kernel_clock_scope_") + scope);
  const auto result = compiler().build(made);
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_EQ(count(text, "%globaltimer"), 1) << text;
  EXPECT_EQ(count(text, "%clock64"), 1) << text;
}

// Of C++ for OpenCL: constructed and destroyed by kernels that are none of the program's.
TEST_F(GpuTest, ObjectsOfTheProgramHaveKernels) {
  const Image image = gpuImage(
      "struct S { int x; S(int v) : x(v) {} ~S() { x = 0; } }; S one(1); S two(one.x);\n"
      "kernel void f(global int* a) { a[0] = two.x; }",
      "-cl-std=CLC++2021");
  std::vector<std::string> names;
  for (const KernelInfo& kernel : image.kernels) {
    names.push_back(kernel.name);
    EXPECT_EQ(kernel.is_block, kernel.name != "f") << kernel.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"f", port::construct_objects_symbol,
                                             port::destroy_objects_symbol}));
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  for (const KernelInfo& kernel : image.kernels)
    EXPECT_TRUE(contains(text, ".visible .entry " + kernel.symbol + "(")) << text;
}

TEST_F(GpuTest, LocalMemoryStaticAndAsAnArgument) {
  const Image image = gpuImage(
      "kernel void f(global int* a, local int* b) {\n"
      "  local int c[64];\n"
      "  c[get_local_id(0)] = a[get_global_id(0)];\n"
      "  b[get_local_id(0)] = c[get_local_id(0)];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  a[get_global_id(0)] = c[63 - get_local_id(0)] + b[63 - get_local_id(0)];\n"
      "}");
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].local_bytes, 256u);
  EXPECT_TRUE(image.kernels[0].has_barriers);
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_TRUE(contains(text, ".extern .shared .align 128 .b8 weft_local[]")) << text;
  EXPECT_TRUE(contains(text, "bar.sync")) << text;
}

TEST_F(GpuTest, ConstantsAtomicsAndGenericPointers) {
  const std::string text =
      ptx("constant int table[4] = {3, 1, 4, 1};\n"
          "global int counter = 5;\n"
          "int add(int* p, int x) { return atomic_fetch_add((atomic_int*)p, x); }\n"
          "kernel void f(global int* a, constant int* c, local int* l, volatile global atomic_int* "
          "n) {\n"
          "  int mine = 7;\n"
          "  int* p = get_global_id(0) & 1 ? &mine : (int*)(a + 1);\n"
          "  a[0] = *p + table[get_global_id(0) & 3] + c[1];\n"
          "  *l = add(a, 1);\n"
          "  atomic_fetch_max_explicit(n, *l, memory_order_acquire, memory_scope_device);\n"
          "  if (to_global(p)) a[3] = 2;\n"
          "  mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
          "  a[2] = counter++;\n"
          "}",
          "-cl-std=CL3.0");
  EXPECT_TRUE(contains(text, "membar.gl")) << text;
  EXPECT_TRUE(contains(text, ".max.")) << text;
}

TEST_F(GpuTest, VectorsStructsAndSizesOfEveryKind) {
  EXPECT_TRUE(
      contains(ptx("typedef struct { char c; double d; float4 v; } S;\n"
                   "kernel void f(global S* out, S s, float3 v, char c, ulong16 w, double d) {\n"
                   "  s.v.xyz += v; s.c += c; s.d += d + w.sf;\n"
                   "  out[get_global_linear_id()] = s;\n"
                   "  vstore3(v * 2, 1, (global float*)out);\n"
                   "  vstore_half_rte(v.x, 9, (global half*)out);\n"
                   "}",
                   "-cl-std=CL3.0"),
               ".visible .entry"));
}

// Address spaces have other numbers on the way there, and 4 is read-only to NVPTX.
TEST_F(GpuTest, StoresThroughGenericPointersStay) {
  const std::string text =
      ptx("kernel void f(global float* out, float x) { vstore_half(x, 8, (global half*)out); }",
          "-cl-std=CL3.0");
  EXPECT_TRUE(contains(text, "st.global.b16")) << text;
}

TEST_F(GpuTest, VectorsOfShortsCompare) {
  EXPECT_TRUE(contains(ptx("kernel void f(global short4* a, global ushort2* b) {\n"
                           "  a[0] = !a[1] | (a[2] < a[3]); b[0] = convert_ushort2(b[1] == b[2]);\n"
                           "}"),
                       ".visible .entry"));
}

// A vector in one piece would fault at an address that only its elements are aligned to.
TEST_F(GpuTest, VectorsOfUnalignedMemoryAreTakenApart) {
  const std::string text =
      ptx("kernel void f(global char16* a, global char* b, int i) {\n"
          "  a[0] = vload16(i, b); a[1] = a[2];\n"
          "}");
  EXPECT_EQ(count(text, "ld.global.u8"), 16) << text;
  EXPECT_EQ(count(text, "ld.global.v4.u32"), 1) << text;
}

TEST_F(GpuTest, FourCharsAreStoredAsOneWhereTheyAreAligned) {
  const std::string text =
      ptx("kernel void f(global uchar* a, uchar4 v) { vstore4(v, get_global_id(0), a); }");
  EXPECT_EQ(count(text, "st.global.u32"), 1) << text;
  EXPECT_EQ(count(text, "st.global.u8"), 4) << text;
}

// NVPTX would read 32 bits where there are 16, and take the wrong ones.
TEST_F(GpuTest, TwoCharsArePassedAsANumber) {
  const std::string text =
      ptx("__attribute__((noinline)) char2 swap(char2 v) { return v.yx; }\n"
          "kernel void f(char2 v, global char2* a) { a[0] = swap(v); }");
  EXPECT_TRUE(contains(text, ".param .u16 weft_kernel_f_param_0")) << text;
  EXPECT_FALSE(contains(text, "call")) << text;
}

TEST_F(GpuTest, NullIsNullInEverySpace) {
  const std::string text =
      ptx("kernel void f(global int* a) {\n"
          "  int* any = NULL; local int* l = NULL; global int* g = NULL;\n"
          "  a[0] = any == l; any = l; a[1] = g == any && l == any;\n"
          "}",
          "-cl-std=CL3.0");
  EXPECT_EQ(count(text, "cvta"), 0) << text;
}

// Each builds, so it has no undefined function.
TEST_F(GpuTest, HalfHasEveryOperation) {
  const std::string text =
      ptx("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
          "kernel void f(global half* h, global half4* v, global float4* w) {\n"
          "  h[0] = h[1] * h[2] + pow(h[3], h[4]); v[0] = fma(v[1], v[2], sqrt(v[3])) / v[4];\n"
          "  v[5] = convert_half4_rtz(w[0]); v[6] = vload4(1, h + 1); h[5] = isnan(h[6]);\n"
          "  v[7] = fmin(v[8], h[7]); h[8] = dot(v[9], v[10]); h[9] = ldexp(h[10], 3);\n"
          "}",
          "-cl-std=CL3.0");
  EXPECT_TRUE(contains(text, "f16")) << text;
}

TEST_F(GpuTest, DotProductsCopiesAndFloatAtomics) {
  const std::string text =
      ptx("kernel void f(global int* o, local int* l, char4 a, uint p, \n"
          "              volatile global atomic_float* x, volatile local atomic_float* y) {\n"
          "  o[0] = dot(a, a); o[1] = dot_acc_sat_4x8packed_su_int(p, p, 3);\n"
          "  event_t e = async_work_group_copy_2D2D(l, 0, o, 3, 4, 8, 2, 16, 8, 0);\n"
          "  wait_group_events(1, &e);\n"
          "  atomic_fetch_add_explicit(x, 1.5f, memory_order_relaxed, memory_scope_device);\n"
          "  atomic_fetch_max_explicit(y, 1.5f, memory_order_relaxed, memory_scope_work_group);\n"
          "}",
          "-cl-std=CL3.0");
  EXPECT_TRUE(contains(text, "atom.global.add.f32")) << text;
  EXPECT_TRUE(contains(text, ".cas.b32")) << text;
}

// All work-items copy, each a group's size on: the first alone would have no use for the size.
TEST_F(GpuTest, AsynchronousCopiesAreEveryWorkItems) {
  for (const std::string copy :
       {"async_work_group_copy(l, o, n, 0)", "async_work_group_strided_copy(l, o, n, 3, 0)",
        "async_work_group_copy(o, l, n, 0)"}) {
    const std::string text =
        ptx("kernel void f(global int* o, local int* l, int n) {\n"
            "  event_t e = " +
            copy + "; wait_group_events(1, &e); }");
    EXPECT_TRUE(contains(text, "%ntid.z")) << text;
    EXPECT_EQ(count(text, "bar.sync"), 1) << text;
  }
  const std::string fence =
      ptx("kernel void f() { async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE); }", "-cl-std=CL3.0");
  EXPECT_EQ(count(fence, "bar.sync"), 1) << fence;
}

// The instruction for global memory takes subnormal numbers for zero, so small ones are exchanged.
TEST_F(GpuTest, SmallFloatsAreAddedByExchanging) {
  const auto adding = [&](const char* value) {
    return ptx(std::string("kernel void f(volatile global atomic_float* x, float y) {\n"
                           "  atomic_fetch_add_explicit(x, ") +
                   value + ", memory_order_relaxed, memory_scope_device);\n}",
               "-cl-std=CL3.0");
  };
  const std::string any = adding("y"), large = adding("1.5f"), small = adding("0x1p-130f");
  EXPECT_TRUE(contains(any, "atom.global.add.f32") && contains(any, ".cas.b32")) << any;
  EXPECT_TRUE(contains(large, "atom.global.add.f32") && !contains(large, ".cas.b32")) << large;
  EXPECT_TRUE(!contains(small, "atom.global.add.f32") && contains(small, ".cas.b32")) << small;
}

TEST_F(GpuTest, DivisionsAndRootsAreAsExactAsTheProgramAsks) {
  const std::string source =
      "kernel void f(global float4* a) { a[0] = a[1] / a[2]; a[3] = sqrt(a[4]); }\n"
      "kernel void g(global float* a) { a[0] = 1 / a[1]; a[2] = a[3] / sqrt(a[4]); }\n"
      "kernel void h(global float* a) { a[0] = rsqrt(a[1]); }\n";
  const std::string usual = ptx(source);
  EXPECT_EQ(count(usual, "div.full.f32"), 4) << usual;
  EXPECT_EQ(count(usual, "\tsqrt.approx.f32"), 4) << usual;
  EXPECT_EQ(count(usual, "rcp.approx.f32"), 1) << usual;
  EXPECT_EQ(count(usual, "rsqrt.approx.f32"), 2) << usual;
  const std::string exact = ptx(source, "-cl-fp32-correctly-rounded-divide-sqrt");
  EXPECT_EQ(count(exact, "div.rn.f32"), 5) << exact;  // and a reciprocal
  EXPECT_EQ(count(exact, "rcp.rn.f32"), 1) << exact;
  EXPECT_EQ(count(exact, "sqrt.rn.f32"), 5) << exact;
  EXPECT_EQ(count(exact, "rsqrt.approx.f32"), 1) << exact;  // has bounds of its own
}

// The driver's compiler takes what abs returns for a number that is not negative.
TEST_F(GpuTest, MagnitudesMayBeOfTheLeastNumber) {
  for (const std::string type : {"short", "int", "long", "int3"}) {
    const std::string head = "kernel void f(global " + type + "* a, global u" + type + "* b) {\n";
    const std::string negated = "u" + type + " u = as_u" + type + "(*a); *b = *a < 0 ? -u : u; }\n";
    const std::string exact = type == "long" ? "max.s64" : "sad.s32";
    const std::string called = ptx(head + "*b = abs(*a); }\n"), written = ptx(head + negated);
    EXPECT_TRUE(contains(called, exact) && !contains(called, "abs.s")) << called;
    // Vectors choose by masks.
    EXPECT_TRUE(contains(written, type == "int3" ? "max.s32" : exact) &&
                !contains(written, "abs.s"))
        << written;
  }
  // That of a difference of shorts has room, and nobody may ask for the least int's by a negation.
  const std::string narrow =
      "kernel void f(global uint* a, global short* b, global int* c) { *a = abs(b[0] - b[1]);\n"
      "c[0] = c[1] < 0 ? -c[1] : c[1]; }\n";
  EXPECT_EQ(count(ptx(narrow), "abs.s32"), 2) << ptx(narrow);
}

// Nor is one made.
TEST_F(GpuTest, RoundingIntsToFloatsTakesNoMagnitude) {
  for (const std::string mode : {"_rtz", "_rtp", "_rtn"}) {
    const std::string text = ptx(
        "kernel void f(global float* a, global int* b) { *a = convert_float" + mode + "(*b); }\n");
    EXPECT_TRUE(contains(text, "cvt.rn.f32.s32") && !contains(text, "abs.s32")) << text;
  }
}

// It loses the sign of the -y in max(max(x, -y), z) for sm_90.
TEST_F(GpuTest, NegativesThatAreComparedAreComplements) {
  for (const std::string type : {"int", "short"}) {
    const std::string text = ptx("kernel void f(global " + type +
                                 "* a) {\n"
                                 "  a[0] = max(max(a[1], (" +
                                 type +
                                 ")-a[2]), a[3]); a[4] = -a[5];\n"
                                 "  a[6] = min(a[8], (" +
                                 type + ")(a[9] > 7 ? -a[10] : a[11])); }\n");
    EXPECT_GE(count(text, "not.b"), 1) << text;
    EXPECT_LE(count(text, "neg.s"), 2) << text;
  }
  EXPECT_EQ(count(ptx("kernel void f(global int* a) { a[0] = max(a[1] - 3, a[2]); a[3] = -a[4]; }"),
                  "neg.s32"),
            1);
}

// The driver's compiler takes upper(a * b) * c for a * upper(b * c) where it is a move of a pair.
TEST_F(GpuTest, UpperHalvesAreShifted) {
  const std::string text = ptx(
      "kernel void f(global uint* a, global const ulong* b, uint n) { uint i = get_global_id(0);\n"
      "  a[i] = (uint)(b[i] * b[i + 1] >> 32) * n + mul_hi((uint)b[n] & 511, a[i + n]); }\n");
  EXPECT_TRUE(contains(text, ".reg .b64 tmp; shr.u64 tmp, %rd")) << text;
  EXPECT_FALSE(contains(text, "mov.b64 {")) << text;
}

TEST_F(GpuTest, WorkGroupFunctionsShuffleWithinAWarp) {
  const Image image = gpuImage(
      "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
      "kernel void f(global int* a, global double* d, global half* h) {\n"
      "  size_t i = get_global_id(0);\n"
      "  a[i] = work_group_reduce_add(a[i]) + work_group_any(a[i] > 3);\n"
      "  d[i] = work_group_scan_exclusive_max(d[i]);\n"
      "  h[i] = work_group_broadcast(h[i], 3, 1);\n"
      "}",
      "-cl-std=CL3.0");
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].local_bytes, 256u) << "a value for each of 32 warps";
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_TRUE(contains(text, "shfl.sync.up.b32")) << text;
}

TEST_F(GpuTest, PrintedTextLiesInTheCode) {
  const Image image = gpuImage(
      "kernel void loud(float4 v, int i) {\n"
      "  printf(\"abcdefgh %v4f %s\\n\", v, \"word\"); constant char* s = i ? \"a\" : \"b\";\n"
      "  printf(\"%s\", s);\n"
      "}\n"
      "kernel void quiet() {}");
  ASSERT_EQ(image.kernels.size(), 2u);
  EXPECT_TRUE(image.kernels[0].uses_printf);
  EXPECT_FALSE(image.kernels[1].uses_printf);
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_TRUE(contains(text, "atom.global.add.u64")) << text;
  EXPECT_TRUE(contains(text, "7523094288207667809")) << "\"abcdefgh\" as a number: " << text;
}

TEST_F(GpuTest, ImagesAreDescriptorsByValue) {
  const std::string text =
      ptx("kernel void f(read_only image2d_t a, write_only image3d_t b, sampler_t s,\n"
          "              read_write image1d_buffer_t c) {\n"
          "  const int2 at = {get_global_id(0), get_global_id(1)};\n"
          "  write_imagef(b, (int4)(at, 0, 0), read_imagef(a, s, convert_float2(at)));\n"
          "  write_imagef(c, at.x, read_imagef(c, get_image_width(a)));\n"
          "}",
          "-cl-std=CL3.0");
  EXPECT_TRUE(contains(text, "weft_kernel_f_param_0[56]")) << text;
  EXPECT_TRUE(contains(text, ".param .u32 weft_kernel_f_param_2")) << text;
}

// Their logarithm is the library's: there is no libm that LLVM could call.
TEST_F(GpuTest, LevelsFollowFromGradients) {
  port::CompileRequest made = gpuRequest(
      "kernel void f(read_only image2d_t from, write_only image2d_t to, sampler_t s) {\n"
      "  const int2 at = {get_global_id(0), get_global_id(1)};\n"
      "  const float2 dx = convert_float2(at), dy = dx * 2.0f;\n"
      "  write_imagef(to, at, 1, read_imagef(from, s, dx, dx, dy));\n"
      "}",
      "-cl-std=CL3.0");
  for (const char* name : {"cl_khr_mipmap_image", "cl_khr_mipmap_image_writes"})
    made.features.extensions.emplace_back(name);
  const auto result = compiler().build(made);
  EXPECT_TRUE(result.ok) << result.log;
  EXPECT_TRUE(result.log.empty()) << result.log;
}

TEST_F(GpuTest, SubGroupsAreWarps) {
  const std::string text =
      ptx("#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable\n"
          "kernel void f(global ulong* a) {\n"
          "  if (a[get_global_id(0)] & 1) a[0] = sub_group_ballot(1).x;\n"
          "  sub_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
          "  a[get_global_id(0)] = sub_group_reduce_max(a[get_sub_group_local_id()]);\n"
          "}",
          "-cl-std=CL3.0");
  for (const char* instruction :
       {"activemask.b32", "vote.sync.ballot.b32", "bar.warp.sync", "shfl.sync.idx.b32"})
    EXPECT_TRUE(contains(text, instruction)) << instruction << text;
}

TEST_F(GpuTest, WhatIsMissingIsNamed) {
  EXPECT_TRUE(
      contains(complaint("int g(int); kernel void f(global int* a) { a[0] = g(1); }"), "have g"));
}

// Where it is known that a pointer does not point there, which no cast of LLVM's backend says.
TEST_F(GpuTest, PointersToOtherMemoryThanIsAskedFor) {
  const std::string text =
      ptx("kernel void f(global int* out, local int* in) {\n"
          "  local int shared[4];\n"
          "  generic int *g = out, *l = shared, *m = in;\n"
          "  *in = *shared = 3;\n"
          "  local int* not_local = to_local(g);\n"
          "  global int *not_global = to_global(l), *nor_this = to_global(m);\n"
          "  out[0] = (not_local ? 1 : 2) + (not_global ? 4 : 8) + (nor_this ? 16 : 32);\n"
          "  if (not_local) *not_local = 5;\n"
          "  if (not_global) *not_global = 6;\n"
          "  if (nor_this) *nor_this = 7;\n"
          "}\n",
          "-cl-std=CL3.0");
  EXPECT_TRUE(contains(text, ".visible .entry weft_kernel_f(")) << text;
}

}  // namespace
}  // namespace weft
