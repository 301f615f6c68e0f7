// Programs from SPIR-V. The modules are written in its assembly language.
#include <random>

#include <spirv-tools/libspirv.hpp>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

// What every module below starts with; `%n` and `%out` are what kernels are given.
const std::string prelude = R"(
  OpCapability Addresses
  OpCapability Kernel
  OpCapability Linkage
  OpCapability Int64
  OpCapability Int16
  OpCapability Int8
  OpCapability GenericPointer
  OpCapability ImageBasic
  OpCapability LiteralSampler
  OpCapability Groups
  %std = OpExtInstImport "OpenCL.std"
  OpMemoryModel Physical64 OpenCL
)";
const std::string types = R"(
  %void = OpTypeVoid
  %bool = OpTypeBool
  %uchar = OpTypeInt 8 0
  %ushort = OpTypeInt 16 0
  %uint = OpTypeInt 32 0
  %ulong = OpTypeInt 64 0
  %float = OpTypeFloat 32
  %uint2 = OpTypeVector %uint 2
  %ulong3 = OpTypeVector %ulong 3
  %float4 = OpTypeVector %float 4
  %global_uint = OpTypePointer CrossWorkgroup %uint
  %global_float = OpTypePointer CrossWorkgroup %float
  %input_ulong3 = OpTypePointer Input %ulong3
  %one = OpConstant %uint 1
  %zero = OpConstant %uint 0
  %two = OpConstant %uint 2
  %three = OpConstant %uint 3
  %wide_one = OpConstant %ulong 1
  %device = OpConstant %uint 1
  %group = OpConstant %uint 2
  %acquire_release_local = OpConstant %uint 264
  %relaxed = OpConstant %uint 0
  %global_id = OpVariable %input_ulong3 Input
)";
const std::string built_in = "OpDecorate %global_id BuiltIn GlobalInvocationId\n";

std::string assemble(const std::string& text) {
  const spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_2);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words)) << text;
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
}

// `body` is from OpFunction on; `declarations` come behind the types.
std::string module(const std::string& entries, const std::string& declarations,
                   const std::string& body) {
  return assemble(prelude + entries + built_in + types + declarations + body);
}

const std::string scale_body = R"(
  %signature = OpTypeFunction %void %global_uint %uint
  %scale = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %factor = OpFunctionParameter %uint
  %start = OpLabel
  %ids = OpLoad %ulong3 %global_id
  %id = OpCompositeExtract %ulong %ids 0
  %place = OpInBoundsPtrAccessChain %global_uint %out %id
  %old = OpLoad %uint %place Aligned 4
  %new = OpIMul %uint %old %factor
  OpStore %place %new Aligned 4
  OpReturn
  OpFunctionEnd
)";
const std::string scale_entry = "OpEntryPoint Kernel %scale \"scale\" %global_id\n";

class Spirv : public Programs {
 protected:
  OwnedProgram fromSpirv(const std::string& binary) {
    cl_int code = 1;
    OwnedProgram program(cl.clCreateProgramWithIL(context, binary.data(), binary.size(), &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return program;
  }
  OwnedProgram builtSpirv(const std::string& binary) {
    OwnedProgram program = fromSpirv(binary);
    EXPECT_EQ(build(program), CL_SUCCESS) << log(program);
    return program;
  }
  std::vector<cl_uint> outputOf(cl_program program, const char* name, size_t items) {
    const OwnedMem out = upload(std::vector<cl_uint>(items));
    const OwnedKernel made = kernel(program, name);
    set(made, out);
    run(made, {{items}, {}});
    return download<cl_uint>(out);
  }
};

TEST_F(Spirv, KernelsRun) {
  const OwnedProgram program = builtSpirv(module(scale_entry, "", scale_body));
  const OwnedMem data = upload<cl_uint>({1, 2, 3, 4, 5});
  const OwnedKernel scale = kernel(program, "scale");
  set(scale, data, cl_uint{7});
  run(scale, {{5}});
  EXPECT_EQ(download<cl_uint>(data), (std::vector<cl_uint>{7, 14, 21, 28, 35}));
}

TEST_F(Spirv, ModulesOfTheOtherByteOrderRun) {
  std::string binary = module(scale_entry, "", scale_body);
  for (size_t i = 0; i + 3 < binary.size(); i += 4) {
    std::swap(binary[i], binary[i + 3]);
    std::swap(binary[i + 1], binary[i + 2]);
  }
  const OwnedProgram program = builtSpirv(binary);
  EXPECT_EQ(info<cl_uint>(cl.clGetProgramInfo, cl_program(program), CL_PROGRAM_REFERENCE_COUNT),
            1u);
  kernel(program, "scale");
}

// Translators leave blocks as their optimiser did: in no order, and with some that nothing gets to.
TEST_F(Spirv, BlocksMayComeBeforeWhatTheyUse) {
  const OwnedProgram program = builtSpirv(module(scale_entry, "", R"(
  %signature = OpTypeFunction %void %global_uint %uint
  %scale = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %factor = OpFunctionParameter %uint
  %start = OpLabel
  %ids = OpLoad %ulong3 %global_id
  %id = OpCompositeExtract %ulong %ids 0
  OpBranch %makes
  %uses = OpLabel
  %chosen = OpPhi %uint %new %makes %factor %dead
  OpStore %place %chosen Aligned 4
  OpReturn
  %dead = OpLabel
  OpBranch %uses
  %makes = OpLabel
  %place = OpInBoundsPtrAccessChain %global_uint %out %id
  %old = OpLoad %uint %place Aligned 4
  %new = OpIMul %uint %old %factor
  OpBranch %uses
  OpFunctionEnd
)"));
  const OwnedMem data = upload<cl_uint>({1, 2, 3});
  const OwnedKernel scale = kernel(program, "scale");
  set(scale, data, cl_uint{5});
  run(scale, {{3}});
  EXPECT_EQ(download<cl_uint>(data), (std::vector<cl_uint>{5, 10, 15}));
}

TEST_F(Spirv, TheModuleAndItsKernelsCanBeAskedFor) {
  const std::string binary = module(scale_entry, "", scale_body);
  const OwnedProgram program = builtSpirv(binary);
  size_t size = 0;
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &size), CL_SUCCESS);
  std::string read(size, '\0');
  ASSERT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_IL, size, read.data(), nullptr), CL_SUCCESS);
  EXPECT_EQ(read, binary);
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(
      info<cl_uint>(cl.clGetKernelInfo, cl_kernel(kernel(program, "scale")), CL_KERNEL_NUM_ARGS),
      2u);
}

// A loop with two values round it, a switch, and a call.
TEST_F(Spirv, ControlFlow) {
  const std::string text = R"(
  %signature = OpTypeFunction %void %global_uint
  %helper_type = OpTypeFunction %uint %uint
  %helper = OpFunction %uint None %helper_type
  %x = OpFunctionParameter %uint
  %h0 = OpLabel
  OpSelectionMerge %h9 None
  OpSwitch %x %h3 0 %h1 5 %h2
  %h1 = OpLabel
  OpReturnValue %three
  %h2 = OpLabel
  OpBranch %h3
  %h3 = OpLabel
  %chosen = OpPhi %uint %one %h0 %two %h2
  OpReturnValue %chosen
  %h9 = OpLabel
  OpUnreachable
  OpFunctionEnd
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %start = OpLabel
  %ids = OpLoad %ulong3 %global_id
  %id = OpCompositeExtract %ulong %ids 0
  %n = OpUConvert %uint %id
  OpBranch %head
  %head = OpLabel
  %i = OpPhi %uint %zero %start %next %body
  %sum = OpPhi %uint %zero %start %more %body
  %go = OpULessThan %bool %i %n
  OpLoopMerge %done %body None
  OpBranchConditional %go %body %done
  %body = OpLabel
  %more = OpIAdd %uint %sum %i
  %next = OpIAdd %uint %i %one
  OpBranch %head
  %done = OpLabel
  %bonus = OpFunctionCall %uint %helper %n
  %place = OpInBoundsPtrAccessChain %global_uint %out %id
  %scaled = OpIMul %uint %bonus %hundred
  %total = OpIAdd %uint %sum %scaled
  OpStore %place %total Aligned 4
  OpReturn
  OpFunctionEnd
)";
  const OwnedProgram program = builtSpirv(module("OpEntryPoint Kernel %k \"k\" %global_id\n",
                                                 "%hundred = OpConstant %uint 100\n", text));
  EXPECT_EQ(outputOf(program, "k", 7), (std::vector<cl_uint>{300, 100, 101, 103, 106, 210, 115}));
}

const std::string specialised_entry =
    "OpEntryPoint Kernel %k \"k\" %global_id\n"
    "OpDecorate %width SpecId 3\nOpDecorate %flag SpecId 4\nOpDecorate %big SpecId 9\n";
const std::string specialised_constants = R"(
  %width = OpSpecConstant %uint 10
  %flag = OpSpecConstantFalse %bool
  %big = OpSpecConstant %ulong 1000
  %small = OpSpecConstantOp %uint UConvert %big
  %chosen = OpSpecConstantOp %uint Select %flag %width %small
  %total = OpSpecConstantOp %uint IAdd %chosen %one
)";
const std::string specialised_body = R"(
  %signature = OpTypeFunction %void %global_uint
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %start = OpLabel
  OpStore %out %total Aligned 4
  OpReturn
  OpFunctionEnd
)";

TEST_F(Spirv, ConstantsAreSpecialised) {
  const OwnedProgram program =
      builtSpirv(module(specialised_entry, specialised_constants, specialised_body));
  EXPECT_EQ(outputOf(program, "k", 1), std::vector<cl_uint>{1001});
  const cl_ulong big = 77;
  const cl_uint width = 41;
  const cl_uchar yes = 1;
  EXPECT_EQ(cl.clSetProgramSpecializationConstant(program, 9, sizeof big, &big), CL_SUCCESS);
  EXPECT_EQ(build(program), CL_SUCCESS);
  EXPECT_EQ(outputOf(program, "k", 1), std::vector<cl_uint>{78});
  EXPECT_EQ(cl.clSetProgramSpecializationConstant(program, 3, sizeof width, &width), CL_SUCCESS);
  EXPECT_EQ(cl.clSetProgramSpecializationConstant(program, 4, sizeof yes, &yes), CL_SUCCESS);
  EXPECT_EQ(build(program), CL_SUCCESS);
  EXPECT_EQ(outputOf(program, "k", 1), std::vector<cl_uint>{42});
}

TEST_F(Spirv, WrongSpecialisations) {
  const OwnedProgram program =
      fromSpirv(module(specialised_entry, specialised_constants, specialised_body));
  const cl_uint value = 0;
  const auto specialise = [&](cl_program target, cl_uint id, size_t size, const void* data) {
    return cl.clSetProgramSpecializationConstant(target, id, size, data);
  };
  EXPECT_EQ(specialise(program, 5, sizeof value, &value), CL_INVALID_SPEC_ID);
  EXPECT_EQ(specialise(program, 3, 8, &value), CL_INVALID_VALUE);
  EXPECT_EQ(specialise(program, 3, sizeof value, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(specialise(nullptr, 3, sizeof value, &value), CL_INVALID_PROGRAM);
  EXPECT_EQ(specialise(fromSource(scale_source), 3, sizeof value, &value), CL_INVALID_PROGRAM);
}

// Each work-item adds its number to a variable of the group; the first one stores the sum.
TEST_F(Spirv, LocalMemoryBarriersAndAtomics) {
  const std::string entry =
      "OpEntryPoint Kernel %k \"k\" %global_id %local_id\n"
      "OpExecutionMode %k LocalSize 8 1 1\n"
      "OpDecorate %local_id BuiltIn LocalInvocationId\n";
  const std::string declarations = R"(
  %local_uint = OpTypePointer Workgroup %uint
  %shared = OpVariable %local_uint Workgroup
  %local_id = OpVariable %input_ulong3 Input
  )";
  const std::string body = R"(
  %signature = OpTypeFunction %void %global_uint
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %start = OpLabel
  %lids = OpLoad %ulong3 %local_id
  %lid = OpCompositeExtract %ulong %lids 0
  %number = OpUConvert %uint %lid
  %first = OpIEqual %bool %number %zero
  OpSelectionMerge %cleared None
  OpBranchConditional %first %clear %cleared
  %clear = OpLabel
  OpStore %shared %zero Aligned 4
  OpBranch %cleared
  %cleared = OpLabel
  OpControlBarrier %group %group %acquire_release_local
  %before = OpAtomicIAdd %uint %shared %group %relaxed %number
  OpControlBarrier %group %group %acquire_release_local
  %sum = OpAtomicLoad %uint %shared %group %relaxed
  %all = OpGroupIAdd %uint %group Reduce %number
  %both = OpIMul %uint %sum %all
  %ids = OpLoad %ulong3 %global_id
  %id = OpCompositeExtract %ulong %ids 0
  %place = OpInBoundsPtrAccessChain %global_uint %out %id
  OpStore %place %both Aligned 4
  OpReturn
  OpFunctionEnd
)";
  const OwnedProgram program = builtSpirv(module(entry, declarations, body));
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_uint>(16));
  set(k, out);
  run(k, {{16}, {8}});
  EXPECT_EQ(download<cl_uint>(out), std::vector<cl_uint>(16, 28 * 28));
}

TEST_F(Spirv, FunctionsOfOpenClC) {
  const std::string body = R"(
  %signature = OpTypeFunction %void %global_float
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_float
  %start = OpLabel
  %vector = OpExtInst %float4 %std vloadn %wide_zero %out 4
  %roots = OpExtInst %float4 %std sqrt %vector
  %sum = OpExtInst %float4 %std fma %roots %roots %vector
  %least = OpExtInst %uint %std s_min %minus %one
  %most = OpExtInst %uint %std u_max %minus %one
  %same = OpIEqual %bool %least %most
  %scale = OpSelect %float %same %f2 %f3
  %scaled = OpVectorTimesScalar %float4 %sum %scale
  %rounded = OpConvertFToU %uint %f3
  %narrow = OpSatConvertSToU %uchar %minus
  %swapped = OpVectorShuffle %float4 %scaled %scaled 3 2 5 4
  %stored = OpExtInst %void %std vstoren %swapped %wide_zero %out
  OpReturn
  OpFunctionEnd
)";
  const std::string declarations = R"(
  %wide_zero = OpConstant %ulong 0
  %minus = OpConstant %uint 4294967295
  %f2 = OpConstant %float 2
  %f3 = OpConstant %float 3
  )";
  const OwnedProgram program =
      builtSpirv(module("OpEntryPoint Kernel %k \"k\"\n", declarations, body));
  const OwnedMem data = upload<cl_float>({1, 4, 9, 16});
  const OwnedKernel k = kernel(program, "k");
  set(k, data);
  run(k, {{1}});
  EXPECT_EQ(download<cl_float>(data), (std::vector<cl_float>{64, 36, 16, 4}));
}

TEST_F(Spirv, ImagesAndSamplers) {
  const std::string declarations = R"(
  %float2 = OpTypeVector %float 2
  %read_image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
  %write_image = OpTypeImage %void 2D 0 0 0 0 Unknown WriteOnly
  %sampler = OpTypeSampler
  %pair = OpTypeSampledImage %read_image
  %nearest = OpConstantSampler %sampler ClampToEdge 0 Nearest
  %f0 = OpConstant %float 0
  %wide_0 = OpConstant %ulong 0
  )";
  const std::string body = R"(
  %signature = OpTypeFunction %void %read_image %write_image
  %k = OpFunction %void None %signature
  %in = OpFunctionParameter %read_image
  %out = OpFunctionParameter %write_image
  %start = OpLabel
  %ids = OpLoad %ulong3 %global_id
  %wx = OpCompositeExtract %ulong %ids 0
  %wy = OpCompositeExtract %ulong %ids 1
  %x = OpUConvert %uint %wx
  %y = OpUConvert %uint %wy
  %place = OpCompositeConstruct %uint2 %x %y
  %turned = OpCompositeConstruct %uint2 %y %x
  %sampled = OpSampledImage %pair %in %nearest
  %texel = OpImageSampleExplicitLod %float4 %sampled %turned Lod %f0
  OpImageWrite %out %place %texel
  OpReturn
  OpFunctionEnd
)";
  if (!info<cl_bool>(cl.clGetDeviceInfo, testDevice(), CL_DEVICE_IMAGE_SUPPORT))
    GTEST_SKIP() << "no images";
  const OwnedProgram program =
      builtSpirv(module("OpEntryPoint Kernel %k \"k\" %global_id\n", declarations, body));
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 4;
  std::vector<cl_float> pixels(64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<cl_float>(i);
  cl_int code = 1;
  const OwnedMem in(
      cl.clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &description, pixels.data(), &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedMem out(cl.clCreateImage(context, 0, &format, &description, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedKernel k = kernel(program, "k");
  set(k, in, out);
  run(k, {{4, 4}});
  std::vector<cl_float> read(64);
  const size_t origin[3] = {0, 0, 0}, region[3] = {4, 4, 1};
  ASSERT_EQ(cl.clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, read.data(), 0,
                                  nullptr, nullptr),
            CL_SUCCESS);
  for (size_t y = 0; y < 4; ++y)
    for (size_t x = 0; x < 4; ++x) EXPECT_EQ(read[(y * 4 + x) * 4], pixels[(x * 4 + y) * 4]);
}

// A function of OpenCL C calls one of SPIR-V.
TEST_F(Spirv, LinksWithSource) {
  const std::string entries = "OpDecorate %twice LinkageAttributes \"twice\" Export\n";
  const std::string body = R"(
  %signature = OpTypeFunction %uint %uint
  %twice = OpFunction %uint None %signature
  %x = OpFunctionParameter %uint
  %start = OpLabel
  %sum = OpIAdd %uint %x %x
  OpReturnValue %sum
  OpFunctionEnd
)";
  const OwnedProgram library = fromSpirv(module(entries, "", body));
  ASSERT_EQ(cl.clCompileProgram(library, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
            CL_SUCCESS)
      << log(library);
  // As C names it.
  const OwnedProgram caller = fromSource(
      "uint twice(uint x) __asm(\"twice\");\n"
      "kernel void k(global uint* out) { out[get_global_id(0)] = twice(get_global_id(0) + 3); }\n");
  ASSERT_EQ(cl.clCompileProgram(caller, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
            CL_SUCCESS)
      << log(caller);
  const cl_program inputs[] = {library, caller};
  cl_int code = 1;
  const OwnedProgram linked(
      cl.clLinkProgram(context, 0, nullptr, "", 2, inputs, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS) << log(linked);
  EXPECT_EQ(outputOf(linked, "k", 3), (std::vector<cl_uint>{6, 8, 10}));
}

TEST_F(Spirv, WhatIsNoModuleIsRefused) {
  const std::string binary = module(scale_entry, "", scale_body);
  const auto creates = [&](const void* data, size_t size) {
    cl_int code = 1;
    const OwnedProgram program(cl.clCreateProgramWithIL(context, data, size, &code));
    EXPECT_EQ(cl_program(program) == nullptr, code != CL_SUCCESS);
    return code;
  };
  EXPECT_EQ(creates(nullptr, binary.size()), CL_INVALID_VALUE);
  EXPECT_EQ(creates(binary.data(), 0), CL_INVALID_VALUE);
  EXPECT_EQ(creates(binary.data(), binary.size() - 1), CL_INVALID_VALUE);
  EXPECT_EQ(creates(binary.data(), 16), CL_INVALID_VALUE);
  EXPECT_EQ(creates("kernel void k() {}  ", 20), CL_INVALID_VALUE);
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateProgramWithIL(nullptr, binary.data(), binary.size(), &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
}

TEST_F(Spirv, WhatIsMissingIsNamed) {
  std::string text = prelude + scale_entry + built_in + types + scale_body;
  const std::string known = "OpCapability Groups";
  text.replace(text.find(known), known.size(), "OpCapability Shader");
  const OwnedProgram program = fromSpirv(assemble(text));
  EXPECT_EQ(build(program), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(log(program).find("capability"), std::string::npos) << log(program);
}

// Damaged modules end in an error or in a program, never in a crash.
TEST_F(Spirv, DamageEndsInAnError) {
  const std::string whole = module(specialised_entry, specialised_constants, specialised_body);
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string damaged = whole;
    const size_t flips = 1 + random() % 3;
    for (size_t i = 0; i < flips; ++i)
      damaged[20 + random() % (damaged.size() - 20)] ^= static_cast<char>(1u << random() % 8);
    if (round % 5 == 0) damaged.resize(damaged.size() / 4 * 3 / 4 * 4);
    cl_int code = 1;
    const OwnedProgram program(
        cl.clCreateProgramWithIL(context, damaged.data(), damaged.size(), &code));
    if (!cl_program(program)) {
      EXPECT_EQ(code, CL_INVALID_VALUE);
      continue;
    }
    const cl_int outcome = build(program);
    EXPECT_TRUE(outcome == CL_SUCCESS || outcome == CL_BUILD_PROGRAM_FAILURE) << outcome;
    EXPECT_EQ(outcome == CL_SUCCESS, log(program).find("error") == std::string::npos);
  }
  builtSpirv(whole);
}

}  // namespace
}  // namespace weft::e2e
