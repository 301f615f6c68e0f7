// Programs as SPIR-V: that what the compiler writes is valid by SPIRV-Tools' validator, and says
// what Level Zero has to know.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <spirv-tools/libspirv.hpp>

#include "core/ports/launch.h"
#include "core/ports/spirv_target.h"
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;

constexpr uint32_t version_1_3 = 0x00010300;

class SpirvTarget : public test::CompilerTest {
 protected:
  static port::CompileRequest spirvRequest(const std::string& source, const std::string& options,
                                           bool has_double = true) {
    port::CompileRequest made = request(source, options);
    made.target = {port::TargetKind::spirv, "1.2", "sub_groups_of_8,sub_groups_of_16"};
    if (has_double) port::addFeature(made.target.features, port::spirv_double);
    made.features.fp64 = has_double;
    for (const char* macro : {"__opencl_c_generic_address_space", "__opencl_c_atomic_order_acq_rel",
                              "__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device",
                              "__opencl_c_subgroups", "__opencl_c_work_group_collective_functions"})
      made.features.feature_macros.emplace_back(macro);
    return made;
  }
  Image built(const std::string& source, const std::string& options = "-cl-std=CL3.0") {
    const auto result = compiler().build(spirvRequest(source, options));
    EXPECT_TRUE(result.ok) << result.log;
    return readImage(result.image).value_or(Image{});
  }
  static std::vector<uint32_t> wordsOf(const Image& image) {
    std::vector<uint32_t> words(image.payload.size() / sizeof(uint32_t));
    std::memcpy(words.data(), image.payload.data(), words.size() * sizeof(uint32_t));
    return words;
  }
  // The validator's OpenCL ends with SPIR-V 1.2, and without what devices need not have.
  static spv_target_env environmentOf(const Image& image) {
    if (wordsOf(image).at(1) >= version_1_3) return SPV_ENV_UNIVERSAL_1_3;
    const bool has_half = contains(textOf(image), "OpCapability Float16");
    return has_half ? SPV_ENV_UNIVERSAL_1_2 : SPV_ENV_OPENCL_2_2;
  }
  // Empty when the module is valid.
  static std::string faults(const Image& image) {
    spvtools::SpirvTools tools(environmentOf(image));
    std::string text;
    tools.SetMessageConsumer(
        [&](spv_message_level_t, const char*, const spv_position_t& position, const char* message) {
          text += std::to_string(position.index) + ": " + message + "\n";
        });
    return tools.Validate(wordsOf(image)) ? text : text + "invalid";
  }
  static void keep(const Image& image, const std::string& name) {
    if (const char* const folder = std::getenv("WEFT_TEST_SPIRV"))
      std::ofstream(std::string(folder) + "/" + name + ".spv")
          .write(reinterpret_cast<const char*>(image.payload.data()),
                 static_cast<std::streamsize>(image.payload.size()));
  }
  static std::string textOf(const Image& image) {
    spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_3);
    std::string text;
    tools.Disassemble(wordsOf(image), &text);
    return text;
  }
};

TEST_F(SpirvTarget, KernelsTakeTheirArgumentsAndTheLaunch) {
  const Image image = built(
      "kernel void exchange(global int* a, float3 v, local int* b, constant int* c, char d) {\n"
      "  local int s[64];\n"
      "  s[get_local_id(0)] = a[get_global_id(0)];\n"
      "  b[get_local_id(0)] = s[get_local_id(0)] + c[d];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  a[get_global_id(0)] = s[63 - get_local_id(0)] + b[63 - get_local_id(0)] + (int)v.z;\n"
      "}\n");
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].local_bytes, 256u);
  EXPECT_EQ(faults(image), "");
  const std::string text = textOf(image);
  EXPECT_TRUE(contains(text, "OpEntryPoint Kernel")) << text;
  EXPECT_TRUE(contains(text, "\"weft_kernel_exchange\"")) << text;
  EXPECT_TRUE(contains(text, "FuncParamAttr ByVal")) << text;
  EXPECT_TRUE(contains(text, "BuiltIn LocalInvocationId")) << text;
  EXPECT_TRUE(contains(text, "OpControlBarrier")) << text;
}

// Vectors that are the program's, and those that tell a work-item's place.
TEST_F(SpirvTarget, ATypeIsDeclaredOnce) {
  const Image image = built(
      "long3 twice(long3 a) { return a + a; }\n"
      "kernel void f(global long* a) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  vstore3(twice(vload3(i, a)), i, a); }\n");
  EXPECT_EQ(faults(image), "");
}

TEST_F(SpirvTarget, WhatIsNotUsedIsNotAskedOfTheDevice) {
  const Image image = built("kernel void f(global float* a) { a[get_global_id(0)] *= 2; }\n");
  EXPECT_EQ(faults(image), "");
  const std::string text = textOf(image);
  EXPECT_FALSE(contains(text, "OpCapability Float64")) << text;
  EXPECT_FALSE(contains(text, "OpCapability Float16")) << text;
}

TEST_F(SpirvTarget, PrivateMemoryAtomicsAndControlFlow) {
  const Image image = built(
      "constant int table[5] = {3, 1, 4, 1, 5};\n"
      "int pick(int* from, int i) { return from[i & 7]; }\n"
      "kernel void f(global int* a, volatile global int* sum, global long* b) {\n"
      "  int own[8];\n"
      "  for (int i = 0; i < 8; ++i) own[i] = a[i] + table[i % 5];\n"
      "  switch (a[0]) { case 1: own[1] = 2; break; case 7: own[2] = 5; break; default: own[0]++; "
      "}\n"
      "  atomic_add(sum, pick(own, a[9]));\n"
      "  atomic_cmpxchg(sum + 1, 5, own[3]);\n"
      "  b[get_global_id(1)] = popcount(b[0]) + clz(b[1]) + rotate(b[2], 5L);\n"
      "}\n");
  EXPECT_EQ(faults(image), "");
}

TEST_F(SpirvTarget, LongAtomicsAreAskedOfTheDevice) {
  port::CompileRequest wanted = spirvRequest(
      "kernel void f(global atomic_long* a, global long* b) {\n"
      "  b[0] = atomic_load_explicit(a, memory_order_relaxed, memory_scope_device);\n"
      "  atomic_store_explicit(a + 1, b[1], memory_order_relaxed, memory_scope_device); }\n",
      "-cl-std=CL3.0");
  for (const char* extension : {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"})
    wanted.features.extensions.emplace_back(extension);
  const auto result = compiler().build(wanted);
  ASSERT_TRUE(result.ok) << result.log;
  const std::string text = textOf(readImage(result.image).value_or(Image{}));
  EXPECT_TRUE(contains(text, "OpCapability Int64Atomics")) << text;
}

TEST_F(SpirvTarget, VariablesPointIntoOthers) {
  const Image image = built(
      "global int numbers[8] = {1, 2, 3};\n"
      "global int* global third = &numbers[2];\n"
      "kernel void f(global int* a) { a[0] = *third++; }\n");
  EXPECT_EQ(faults(image), "");
}

TEST_F(SpirvTarget, VariablesThatPointAtThemselvesAreRefused) {
  const char* const sources[] = {
      "global void* global first = &first;\n"
      "kernel void f(global int* a) { a[0] = first == &first; }\n",
      "struct N { int value; global struct N* next; };\n"
      "extern global struct N second;\n"
      "global struct N first = {5, &second};\n"
      "global struct N second = {6, &first};\n"
      "kernel void f(global int* a) { a[0] = first.next->value; second.value = 7; }\n"};
  for (const char* source : sources) {
    const auto refused = compiler().build(spirvRequest(source, "-cl-std=CL3.0"));
    EXPECT_FALSE(refused.ok);
    EXPECT_TRUE(contains(refused.log, "SPIR-V cannot express the variable first")) << refused.log;
  }
}

// Which LLVM takes for a switch of a truth value.
TEST_F(SpirvTarget, ASwitchOfTwo) {
  const Image image = built(
      "kernel void f(global int* a, ulong n) {\n"
      "  ulong left = 1 + (n & 1); int x;\n"
      "  switch (left) { case 2: x = a[5]; a[1] = x; case 1: x = a[7]; a[0] = x; }\n"
      "  switch (left) { case 2: a[3] = x; case 1: a[2] = x * 3; }\n"
      "}\n");
  EXPECT_EQ(faults(image), "");
}

// Of what the builtin library computes in double, one of each kind.
TEST_F(SpirvTarget, FloatFunctionsDoWithoutDouble) {
  const std::string source =
      "kernel void f(global float* a, global float4* b, global int* n) {\n"
      "  a[0] = sin(a[1]) + exp(a[2]) + atan2(a[3], a[4]) + tgamma(a[5]) + sinpi(a[6]);\n"
      "  a[7] = pown(a[8], n[0]) + rootn(a[9], n[1]) + ldexp(a[10], n[2]) + lgamma(a[11]);\n"
      "  a[12] = lgamma_r(a[13], &n[3]) + sincos(a[14], &a[15]) + remquo(a[16], a[17], &n[4]);\n"
      "  b[0] = pow(b[1], b[2]) + native_exp(b[3]) + half_cos(b[4]) + normalize(b[5]);\n"
      "  b[6] = ldexp(b[7], 3) + length(b[8]) + distance(b[9], b[10]) + fmod(b[11], b[12]);\n"
      "  n[5] = convert_int_sat_rtz(a[19]);\n"
      "}\n";
  const auto result = compiler().build(spirvRequest(source, "-cl-std=CL3.0", false));
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value();
  EXPECT_EQ(faults(image), "");
  const std::string text = textOf(image);
  EXPECT_FALSE(contains(text, "Float64")) << text;
  for (const char* one : {" sin ", " tgamma ", " rootn ", " normalize ", " native_exp "})
    EXPECT_TRUE(contains(text, one)) << one;
}

// Other sums, and the least and the greatest, are made by exchanging.
TEST_F(SpirvTarget, SumsOfFloatsAreTheDevicesOwnWhereItHasThem) {
  const std::string source =
      "kernel void k(global atomic_float* a, local atomic_float* b, global atomic_double* c) {\n"
      "  atomic_fetch_add_explicit(a, 2.0f, memory_order_relaxed, memory_scope_device);\n"
      "  atomic_fetch_min_explicit(b, 2.0f, memory_order_relaxed, memory_scope_work_group);\n"
      "  atomic_fetch_add_explicit(c, 2.0, memory_order_relaxed, memory_scope_device);\n"
      "}\n";
  size_t exchanges = SIZE_MAX;
  for (const bool has_sums : {false, true}) {
    port::CompileRequest wanted = spirvRequest(source, "-cl-std=CL3.0");
    for (const char* extension : {"cl_ext_float_atomics", "cl_khr_int64_base_atomics",
                                  "cl_khr_int64_extended_atomics", "cl_khr_fp64"})
      wanted.features.extensions.emplace_back(extension);
    for (const char* macro :
         {"__opencl_c_ext_fp32_global_atomic_add", "__opencl_c_ext_fp32_local_atomic_min_max",
          "__opencl_c_ext_fp64_global_atomic_add"})
      wanted.features.feature_macros.emplace_back(macro);
    if (has_sums) port::addFeature(wanted.target.features, port::spirv_global_float_sums);
    const auto result = compiler().build(wanted);
    ASSERT_TRUE(result.ok) << result.log;
    const std::string text = textOf(readImage(result.image).value_or(Image{}));
    const auto count = [&](const char* what) {
      size_t found = 0;
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++found;
      return found;
    };
    EXPECT_EQ(count("OpAtomicFAddEXT") > 0, has_sums) << text;
    EXPECT_EQ(count("OpExtension \"SPV_EXT_shader_atomic_float_add\""), has_sums ? 1u : 0u);
    EXPECT_GT(count("OpAtomicCompareExchange"), 0u) << text;
    EXPECT_LT(count("OpAtomicCompareExchange"), exchanges) << text;
    exchanges = count("OpAtomicCompareExchange");
  }
}

TEST_F(SpirvTarget, SubGroupsAreTheDevicesOwn) {
  const std::string body =
      "kernel void f(global int* a) {\n"
      "  if (a[1] > get_sub_group_local_id()) a[2] = sub_group_any(a[3]);\n"
      "  a[get_sub_group_id()] = sub_group_reduce_add(a[get_global_id(0)]); }\n";
  const Image usual = built(body);
  EXPECT_EQ(faults(usual), "");
  EXPECT_EQ(usual.kernels.at(0).sub_group_size, 16u);
  const std::string text = textOf(usual);
  EXPECT_EQ(wordsOf(usual).at(1), version_1_3);
  for (const char* part :
       {"SubgroupSize 16", "BuiltIn SubgroupLocalInvocationId", "BuiltIn SubgroupId",
        "OpGroupNonUniformBallot ", "OpGroupNonUniformShuffle "})
    EXPECT_TRUE(contains(text, part)) << part << text;

  const Image required = built("__attribute__((intel_reqd_sub_group_size(8))) " + body);
  EXPECT_EQ(required.kernels.at(0).sub_group_size, 8u);
  EXPECT_TRUE(contains(textOf(required), "SubgroupSize 8")) << textOf(required);

  const auto refused = compiler().build(
      spirvRequest("__attribute__((intel_reqd_sub_group_size(32))) " + body, "-cl-std=CL3.0"));
  EXPECT_FALSE(refused.ok);
  EXPECT_TRUE(contains(refused.log, "sub-groups of 32")) << refused.log;
}

// Where nobody asks for sub-groups their size is the driver's choice, and SPIR-V 1.2 enough.
TEST_F(SpirvTarget, SubGroupsThatNobodyAsksForAreTheDriversChoice) {
  const Image image = built("kernel void f(global int* a) { a[get_global_id(0)] = 1; }\n");
  EXPECT_LT(wordsOf(image).at(1), version_1_3);
  EXPECT_FALSE(contains(textOf(image), "SubgroupSize")) << textOf(image);
}

TEST_F(SpirvTarget, WorkGroupFunctionsUseSubGroups) {
  const Image image = built(
      "kernel void f(global long* a) { a[0] = work_group_scan_inclusive_add(a[get_global_id(0)]); "
      "}\n");
  EXPECT_EQ(faults(image), "");
  EXPECT_EQ(image.kernels.at(0).local_bytes, 1024 / 16 * sizeof(uint64_t));
  EXPECT_TRUE(contains(textOf(image), "OpGroupNonUniformShuffle ")) << textOf(image);
}

// Which argument an image is has to be seen through functions; what else is asked of it is not the
// device's own image's business.
constexpr char sampling[] = R"(
  constant sampler_t fixed = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
  float4 twice(read_only image2d_t image, sampler_t sampler, float2 at) {
    return 2 * read_imagef(image, sampler, at) + read_imagef(image, fixed, at.yx);
  }
  kernel void sample(read_only image2d_t flat, read_only image3d_t volume, sampler_t given,
                     read_only image2d_t plain, global float4* out, read_only image2d_array_t many,
                     read_only image1d_t line) {
    const int i = get_global_id(0);
    const float2 at = {i / (float)get_image_width(flat), 0.5f};
    out[i] = twice(flat, given, at) + read_imagef(plain, (int2)(i, 0)) +
             convert_float4(read_imagei(volume, given, (int4)(i, 0, 0, 0))) +
             convert_float4(read_imageui(many, fixed, (float4)(at, 1, 0))) +
             read_imagef(line, given, at.x);
  }
  kernel void fetch(read_only image2d_t image, global float4* out) {
    out[0] = read_imagef(image, (int2)(0, 0));
  }
  kernel void print(read_only image2d_t image, sampler_t sampler) {
    printf("%f", read_imagef(image, sampler, (float2)(0, 0)).x);
  }
)";

TEST_F(SpirvTarget, KernelsThatSampleHaveTwins) {
  port::CompileRequest wanted = spirvRequest(sampling, "-cl-std=CL3.0", false);
  wanted.features.images = true;
  port::addFeature(wanted.target.features, port::native_images_feature);
  const auto result = compiler().build(wanted);
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  EXPECT_EQ(faults(image), "");
  keep(image, "native-images");
  ASSERT_EQ(image.kernels.size(), 3u);
  const KernelInfo& info = image.kernels[image.find("sample").value()];
  EXPECT_EQ(info.arguments.size(), 7u);
  EXPECT_EQ(info.symbol, "weft_kernel_sample");
  EXPECT_EQ(info.native.symbol, "weft_kernel_sample$images");
  std::vector<uint32_t> images;
  for (const NativeImage& one : info.native.images) images.push_back(one.argument);
  std::ranges::sort(images);
  EXPECT_EQ(images, (std::vector<uint32_t>{0, 1, 5, 6}));
  for (const NativeImage& one : info.native.images)
    EXPECT_EQ(one.samplers, one.argument == 0                   ? 3u
                            : one.samplers & (one.samplers - 1) ? 0u
                                                                : one.samplers);
  ASSERT_EQ(info.native.samplers.size(), 2u);
  EXPECT_EQ(std::ranges::count(info.native.samplers, NativeSampler{true, 2}), 1);
  const NativeSampler literal{
      false, port::sampler_normalized | port::sampler_address_repeat | port::sampler_filter_linear};
  EXPECT_EQ(std::ranges::count(info.native.samplers, literal), 1);
  for (const char* name : {"fetch", "print"})
    EXPECT_EQ(image.kernels[image.find(name).value()].native.symbol, "") << name;
  const std::string text = textOf(image);
  for (const char* part : {"OpCapability ImageBasic", "OpCapability Sampled1D", "OpTypeSampler",
                           "OpTypeImage %void 3D 0 0 0 0 Unknown ReadOnly",
                           "OpTypeImage %void 2D 0 1 0 0 Unknown ReadOnly", "OpSampledImage ",
                           "OpImageSampleExplicitLod %v4float", "OpImageSampleExplicitLod %v4uint"})
    EXPECT_TRUE(contains(text, part)) << part << text;
}

// Nobody pays for them who did not ask.
TEST_F(SpirvTarget, WithoutNativeImagesThereAreNoTwins) {
  port::CompileRequest wanted = spirvRequest(sampling, "-cl-std=CL3.0", false);
  wanted.features.images = true;
  const auto result = compiler().build(wanted);
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  EXPECT_EQ(image.kernels.at(0).native.symbol, "");
  EXPECT_FALSE(contains(textOf(image), "OpTypeImage")) << textOf(image);
}

constexpr char corpus_options[] = "-cl-std=CL3.0 -DBLUR_TILE=16 -DBLUR_RADIUS=3 -DBINS=256";

// For devices with double and, where the source names none, for those without. WEFT_TEST_SPIRV is a
// folder that the modules are left in (scripts/intel-compiler).
TEST_F(SpirvTarget, ACorpusOfKernelsIsValid) {
  size_t count = 0;
  for (const char* folder : {WEFT_CORPUS})
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".cl") continue;
      std::ifstream file(entry.path());
      const std::string source{std::istreambuf_iterator<char>(file), {}};
      for (const bool has_double : {true, false}) {
        if (!has_double && contains(source, "double")) continue;
        SCOPED_TRACE(entry.path().string() + (has_double ? "" : " without double"));
        port::CompileRequest wanted = spirvRequest(source, corpus_options, has_double);
        wanted.features.images = true;
        const auto result = compiler().build(wanted);
        EXPECT_TRUE(result.ok) << result.log;
        const Image image = readImage(result.image).value_or(Image{});
        EXPECT_EQ(faults(image), "");
        ++count;
        keep(image, entry.path().stem().string() + (has_double ? "" : "-float"));
      }
    }
  EXPECT_GT(count, 20u);
}

}  // namespace
}  // namespace weft
