// Programs for GPUs: what the PTX of a kernel is, and what is refused by name.
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;

class GpuTest : public test::CompilerTest {
 protected:
  static port::CompileRequest gpuRequest(const std::string& source,
                                         const std::string& options = {}) {
    port::CompileRequest made = request(source, options);
    made.target = {port::TargetKind::nvptx, "sm_80", ""};
    made.features.feature_macros.emplace_back("__opencl_c_generic_address_space");
    made.features.feature_macros.emplace_back("__opencl_c_atomic_order_acq_rel");
    made.features.feature_macros.emplace_back("__opencl_c_atomic_order_seq_cst");
    made.features.feature_macros.emplace_back("__opencl_c_atomic_scope_device");
    return made;
  }
  Image gpuImage(const std::string& source, const std::string& options = {}) {
    const auto result = compiler().build(gpuRequest(source, options));
    EXPECT_TRUE(result.ok) << result.log;
    return readImage(result.image).value_or(Image{});
  }
  std::string ptx(const std::string& source, const std::string& options = {}) {
    const Image image = gpuImage(source, options);
    return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
  }
  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  }
  std::string complaint(const std::string& source, const std::string& options = {}) {
    const auto result = compiler().build(gpuRequest(source, options));
    EXPECT_FALSE(result.ok);
    return result.log;
  }
};

TEST_F(GpuTest, AKernelTakesItsArgumentsAndTheLaunch) {
  const Image image =
      gpuImage("kernel void f(global float* a, float x) { a[get_global_id(0)] = x; }");
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].symbol, "weft_kernel_f");
  const std::string text(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  EXPECT_TRUE(contains(text, ".target sm_80")) << text;
  EXPECT_TRUE(contains(text, ".visible .entry weft_kernel_f(")) << text;
  EXPECT_TRUE(contains(text, "weft_kernel_f_param_2[160]")) << text;
  EXPECT_TRUE(contains(text, "st.global.f32")) << text;
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

TEST_F(GpuTest, NullIsNullInEverySpace) {
  const std::string text =
      ptx("kernel void f(global int* a) {\n"
          "  int* any = NULL; local int* l = NULL; global int* g = NULL;\n"
          "  a[0] = any == l; any = l; a[1] = g == any && l == any;\n"
          "}",
          "-cl-std=CL3.0");
  EXPECT_EQ(count(text, "cvta"), 0) << text;
}

TEST_F(GpuTest, WhatIsMissingIsNamed) {
  EXPECT_TRUE(contains(complaint("kernel void f() { printf(\"x\"); }"), "printf"));
  EXPECT_TRUE(contains(complaint("kernel void f(read_only image2d_t i) {}"), "image2d_t"));
  EXPECT_TRUE(
      contains(complaint("int g(int); kernel void f(global int* a) { a[0] = g(1); }"), "have g"));
}

}  // namespace
}  // namespace weft
