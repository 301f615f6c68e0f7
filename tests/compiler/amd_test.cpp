// Programs for AMD's GPUs: that they compile and link for each generation, and that the code
// object says of itself what the runtime's loader has to know.
#include <regex>

#include "core/ports/launch.h"
#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;
using test::output;

struct Processor {
  const char* name;
  const char* features;
  int wave;
};
void PrintTo(const Processor& processor, std::ostream* stream) { *stream << processor.name; }
constexpr Processor processors[] = {
    {"gfx906", "sramecc+:xnack-", 64},
    {"gfx90a", "sramecc+:xnack-", 64},
    {"gfx942", "sramecc+:xnack-", 64},
    {"gfx1030", "", 32},
    {"gfx1100", "", 32},
    {"gfx1201", "", 32},
};

class Amd : public test::CompilerTest, public testing::WithParamInterface<Processor> {
 protected:
  static port::CompileRequest amdRequest(const std::string& source, const std::string& options) {
    port::CompileRequest made = request(source, options);
    made.target = {port::TargetKind::amdgcn, GetParam().name, GetParam().features};
    for (const char* macro : {"__opencl_c_generic_address_space", "__opencl_c_atomic_order_acq_rel",
                              "__opencl_c_atomic_order_seq_cst", "__opencl_c_atomic_scope_device",
                              "__opencl_c_subgroups"})
      made.features.feature_macros.emplace_back(macro);
    made.features.extensions.emplace_back("cl_khr_subgroup_ballot");
    return made;
  }
  Image built(const std::string& source, const std::string& options = "-cl-std=CL3.0") {
    const auto result = compiler().build(amdRequest(source, options));
    EXPECT_TRUE(result.ok) << result.log;
    return readImage(result.image).value_or(Image{});
  }
  // What llvm-readelf prints about the image's code object.
  std::string readelf(const Image& image, const std::string& what) const {
    const std::string path =
        write("code", {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()});
    return output(WEFT_READELF " " + what + " " + path);
  }
  // What llvm-objdump prints of its instructions.
  std::string code(const Image& image) const {
    const std::string path =
        write("code", {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()});
    return output(WEFT_OBJDUMP " -d --mcpu=" + std::string(GetParam().name) + " " + path);
  }
  static int number(const std::string& notes, const std::string& key) {
    std::smatch match;
    if (std::regex_search(notes, match, std::regex("\\." + key + ": +(\\d+)")))
      return std::stoi(match[1]);
    return -1;
  }
};

constexpr char exchange[] =
    "kernel void exchange(global int* a, float3 v, local int* b, char c) {\n"
    "  local int s[64];\n"
    "  s[get_local_id(0)] = a[get_global_id(0)];\n"
    "  b[get_local_id(0)] = s[get_local_id(0)] + c;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  a[get_global_id(0)] = s[63 - get_local_id(0)] + b[63 - get_local_id(0)] + (int)v.z;\n"
    "}\n";

TEST_P(Amd, PipesAndObjectsOfTheProgram) {
  port::CompileRequest made = amdRequest(
      "kernel void f(write_only pipe int p, global int* out) {\n"
      "  reserve_id_t r = work_group_reserve_write_pipe(p, get_local_size(0));\n"
      "  if (is_valid_reserve_id(r)) write_pipe(p, r, get_local_id(0), out);\n"
      "  work_group_commit_write_pipe(p, r);\n"
      "  r = sub_group_reserve_write_pipe(p, 1); sub_group_commit_write_pipe(p, r); }",
      "-cl-std=CL3.0");
  made.features.feature_macros.emplace_back("__opencl_c_pipes");
  auto result = compiler().build(made);
  EXPECT_TRUE(result.ok) << result.log;

  result = compiler().build(
      amdRequest("struct S { int x; S(int v) : x(v) {} ~S() { x = 0; } }; S one(1); S two(one.x);\n"
                 "kernel void f(global int* a) { a[0] = two.x; }",
                 "-cl-std=CLC++2021"));
  ASSERT_TRUE(result.ok) << result.log;
  const Image image = readImage(result.image).value_or(Image{});
  ASSERT_EQ(image.kernels.size(), 3u);
  const std::string symbols = readelf(image, "--symbols");
  for (const KernelInfo& kernel : image.kernels)
    EXPECT_TRUE(contains(symbols, kernel.symbol + ".kd")) << symbols;
}

// What is the library's and the front end's on every target.
TEST_P(Amd, LevelsOfMipMapsAndMediaOperations) {
  port::CompileRequest made = amdRequest(
      "kernel void f(read_only image2d_t from, write_only image2d_array_t to, sampler_t s) {\n"
      "  float4 a = read_imagef(from, s, (float2)(0.5f), 1.5f);\n"
      "  write_imagef(to, (int4)(0), 2, a * (float)popcnt(amd_sad4((uint4)(1), (uint4)(2), 3u))); "
      "}",
      "-cl-std=CL3.0");
  made.features.images = true;
  made.features.feature_macros.emplace_back("__opencl_c_images");
  for (const char* name :
       {"cl_khr_mipmap_image", "cl_khr_mipmap_image_writes", "cl_amd_media_ops", "cl_amd_popcnt"})
    made.features.extensions.emplace_back(name);
  const auto result = compiler().build(made);
  EXPECT_TRUE(result.ok) << result.log;
}

// The counter that all of the device shares, in every scope.
TEST_P(Amd, Clocks) {
  port::CompileRequest made = amdRequest(
      "kernel void f(global ulong* a) { a[0] = clock_read_device(); a[1] = clock_read_sub_group(); "
      "}",
      "-cl-std=CL3.0");
  made.features.extensions.emplace_back("cl_khr_kernel_clock");
  for (const char* scope : {"device", "sub_group"})
    made.features.feature_macros.push_back(std::string("__opencl_c_kernel_clock_scope_") + scope);
  const auto result = compiler().build(made);
  ASSERT_TRUE(result.ok) << result.log;
  const std::string text = code(readImage(result.image).value_or(Image{}));
  const std::regex reads("s_memrealtime|MSG_RTN_GET_REALTIME");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), reads), {}), 2) << text;
}

TEST_P(Amd, TheLoaderLearnsWhatAKernelTakes) {
  const Image image = built(exchange);
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].local_bytes, 256u);
  const std::string notes = readelf(image, "--notes");
  EXPECT_TRUE(contains(notes, ".symbol:         weft_kernel_exchange.kd")) << notes;
  EXPECT_EQ(number(notes, "wavefront_size"), GetParam().wave) << notes;
  EXPECT_EQ(number(notes, "group_segment_fixed_size"), 256) << notes;
  // A pointer, a vector of 16, an offset, a char; then GpuLaunch.
  EXPECT_EQ(number(notes, "kernarg_segment_size"), 8 + 8 + 16 + 8 + 8 + sizeof(port::GpuLaunch))
      << notes;
  EXPECT_EQ(number(notes, "max_flat_workgroup_size"), 1024) << notes;
  EXPECT_FALSE(contains(notes, "hidden_")) << notes;
  std::vector<std::string> offsets;
  const std::regex pattern("\\.offset: +(\\d+)");
  for (auto i = std::sregex_iterator(notes.begin(), notes.end(), pattern);
       i != std::sregex_iterator(); ++i)
    offsets.push_back((*i)[1]);
  EXPECT_EQ(offsets, (std::vector<std::string>{"0", "16", "32", "40", "48"})) << notes;
}

TEST_P(Amd, TheCodeObjectIsForItsProcessorAndVersion4) {
  const Image image = built(exchange);
  const std::string header = readelf(image, "--file-header");
  EXPECT_TRUE(contains(header, "DYN (Shared object file)")) << header;
  EXPECT_TRUE(contains(header, "AMDGPU - HSA")) << header;
  // Version 4 of the code object is 2 of the ABI.
  EXPECT_TRUE(std::regex_search(header, std::regex("ABI Version: +2\n"))) << header;
  std::string target = GetParam().name;
  if (*GetParam().features) target += std::string(":") + GetParam().features;
  const std::string notes = readelf(image, "--notes");
  EXPECT_TRUE(contains(notes, "amdhsa.target:   'amdgcn-amd-amdhsa--" + target + "'") ||
              contains(notes, "amdhsa.target:   amdgcn-amd-amdhsa--" + target))
      << notes;
}

TEST_P(Amd, TheRequiredSizeIsALimit) {
  const Image image = built(
      "kernel __attribute__((reqd_work_group_size(16, 4, 1))) void f(global int* a) { *a = 1; }");
  EXPECT_EQ(number(readelf(image, "--notes"), "max_flat_workgroup_size"), 64);
}

// Structs that a kernel writes, variables that pointers of no space lead to, tables, atomics.
TEST_P(Amd, MemoryOfEveryKind) {
  const Image image = built(
      "typedef struct { char c; double d; float4 v; int a[9]; } S;\n"
      "constant int table[4] = {3, 1, 4, 1};\n"
      "global int counter = 5;\n"
      "int add(int* p, int x) { return atomic_fetch_add((atomic_int*)p, x); }\n"
      "kernel void f(global S* out, S s, constant int* c, local int* l, uint i) {\n"
      "  int mine = 7;\n"
      "  int* p = i & 1 ? &mine : (int*)(out + c[1]);\n"
      "  s.a[i % 9] = *p + table[i & 3] + c[1] + counter++;\n"
      "  *l = add((int*)l, 1);\n"
      "  if (to_global(p)) s.c = 2;\n"
      "  if (get_fence(p) == CLK_LOCAL_MEM_FENCE) s.d = 3;\n"
      "  out[get_global_linear_id()] = s;\n"
      "  vstore_half_rte(s.v.x, 9, (global half*)out);\n"
      "  mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
      "}");
  const std::string symbols = readelf(image, "--symbols --dyn-symbols");
  EXPECT_FALSE(std::regex_search(symbols, std::regex(" UND +\\w"))) << symbols;
}

// A variable is where local memory begins, and yet a pointer to it is not null.
TEST_P(Amd, TheFirstLocalVariableIsNotNull) {
  const Image image = built(
      "kernel void f(global int* out, int n) {\n"
      "  local int first;\n"
      "  local int* p = n == 1234 ? &first : 0;\n"
      "  out[0] = p != 0;\n"
      "}\n");
  EXPECT_TRUE(contains(code(image), "0x4d2")) << code(image);
}

// Through pointers of no space, too, which functions of the library take.
TEST_P(Amd, TheBytesThatCalledFunctionsTouchAreKnown) {
  const char* const source =
      "kernel void f(global float* from, global float* to) {\n"
      "  int i = get_global_id(0);\n"
      "  vstore3(vload3(i, from), i, to);\n"
      "}\n";
  port::CompileRequest for_nvidia = amdRequest(source, "-cl-std=CL3.0");
  for_nvidia.target = {port::TargetKind::nvptx, "sm_90", ""};
  for (const port::CompileRequest& request : {amdRequest(source, "-cl-std=CL3.0"), for_nvidia}) {
    const auto result = compiler().build(request);
    ASSERT_TRUE(result.ok) << result.log;
    const Image image = readImage(result.image).value_or(Image{});
    ASSERT_EQ(image.kernels.size(), 1u);
    const auto& arguments = image.kernels[0].arguments;
    ASSERT_EQ(arguments[0].accesses.size(), 1u);
    EXPECT_TRUE(arguments[0].accesses[0].reads);
    ASSERT_EQ(arguments[1].accesses.size(), 1u);
    EXPECT_TRUE(arguments[1].accesses[0].writes);
    EXPECT_EQ(arguments[1].accesses[0].bytes, 12u);
  }
}

// Of halves of a wave where that has 64 lanes.
TEST_P(Amd, SubGroups) {
  const Image image = built(
      "#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable\n"
      "kernel void f(global ulong* a) {\n"
      "  if (a[get_global_id(0)] & 1) a[0] = sub_group_ballot(1).x;\n"
      "  sub_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
      "  a[get_global_id(0)] = sub_group_reduce_max(a[get_sub_group_local_id()]);\n"
      "}",
      "-cl-std=CL3.0");
  EXPECT_EQ(image.kernels[0].sub_group_size, 32u);
  const std::string symbols = readelf(image, "--symbols --dyn-symbols");
  EXPECT_FALSE(std::regex_search(symbols, std::regex(" UND +\\w"))) << symbols;
}

constexpr char corpus_options[] = "-cl-std=CL3.0 -DBLUR_TILE=16 -DBLUR_RADIUS=3 -DBINS=256";

std::string textOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(Amd, EveryKernelOfTheCorpus) {
  size_t kernels = 0;
  for (const std::filesystem::path path : {WEFT_CORPUS})
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".cl") continue;
      SCOPED_TRACE(entry.path());
      const std::string source = textOf(entry.path());
      if (contains(source, "image2d_t")) continue;  // which the devices do not have
      const Image image = built(source, corpus_options);
      kernels += image.kernels.size();
      if (image.payload.empty()) continue;
      const std::string symbols = readelf(image, "--dyn-symbols");
      EXPECT_FALSE(std::regex_search(symbols, std::regex(" UND +\\w"))) << symbols;
      const std::string notes = readelf(image, "--notes");
      for (const KernelInfo& kernel : image.kernels)
        EXPECT_TRUE(contains(notes, kernel.symbol + ".kd")) << kernel.name;
    }
  EXPECT_GT(kernels, 30u);
}

INSTANTIATE_TEST_SUITE_P(Processors, Amd, testing::ValuesIn(processors),
                         [](const auto& row) { return std::string(row.param.name); });

using AmdTest = test::CompilerTest;
TEST_F(AmdTest, WhatItDoesNotKnowItDoesNotOffer) {
  EXPECT_TRUE(compiler().makes({port::TargetKind::amdgcn, "gfx1100", ""}));
  EXPECT_FALSE(compiler().makes({port::TargetKind::amdgcn, "gfx9999", ""}));
}

}  // namespace
}  // namespace weft
