// What SPIR-V's extensions and its pipes do, and how a device says that it has them.
#include <algorithm>
#include <cstring>

#include "tests/e2e/spirv_text.h"

namespace weft::e2e {
namespace {

// Of cl_khr_spirv_queries; not in every header.
constexpr cl_device_info instruction_sets = 0x12b9, spirv_extensions = 0x12ba,
                         spirv_capabilities = 0x12bb;

class SpirvExtensions : public Programs {
 protected:
  template <class T>
  std::vector<T> listOf(cl_device_info name) const {
    size_t bytes = 0;
    EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), name, 0, nullptr, &bytes), CL_SUCCESS);
    std::vector<T> list(bytes / sizeof(T));
    EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), name, bytes, list.data(), nullptr), CL_SUCCESS);
    return list;
  }
  bool hasCapability(cl_uint number) const {
    const auto numbers = listOf<cl_uint>(spirv_capabilities);
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }
  // A kernel that stores what `body` leaves in %result. Its second parameter may be a %pipe.
  OwnedProgram program(const std::string& capabilities, const std::string& body,
                       const std::string& more = "", bool takes_pipe = false) {
    const std::string text =
        "OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\n"
        "OpCapability Int8\nOpCapability GenericPointer\n" +
        capabilities + R"(
      OpMemoryModel Physical64 OpenCL
      OpEntryPoint Kernel %k "k"
      %void = OpTypeVoid
      %bool = OpTypeBool
      %uchar = OpTypeInt 8 0
      %uint = OpTypeInt 32 0
      %ulong = OpTypeInt 64 0
      %float = OpTypeFloat 32
      %uchar4 = OpTypeVector %uchar 4
      %uint2 = OpTypeVector %uint 2
      %global_uint = OpTypePointer CrossWorkgroup %uint
      %global_float = OpTypePointer CrossWorkgroup %float
      %zero = OpConstant %uint 0
      %one = OpConstant %uint 1
      %four = OpConstant %uint 4
      %eight = OpConstant %uint 8
    )" + more +
        "%signature = OpTypeFunction %void %global_uint " + (takes_pipe ? "%pipe_t" : "") + R"(
      %k = OpFunction %void None %signature
      %out = OpFunctionParameter %global_uint
    )" + (takes_pipe ? "%pipe = OpFunctionParameter %pipe_t\n" : "") +
        "%start = OpLabel\n" + body + "OpStore %out %result Aligned 4\nOpReturn\nOpFunctionEnd\n";
    OwnedProgram made = programFromText(context, text);
    EXPECT_EQ(build(made), CL_SUCCESS) << log(made);
    return made;
  }
  cl_uint result(const OwnedProgram& made, cl_uint before) {
    const OwnedKernel k = kernel(made, "k");
    const OwnedMem out = upload(std::vector<cl_uint>{before});
    set(k, out);
    run(k, {{1}});
    return download<cl_uint>(out).front();
  }
};

TEST_F(SpirvExtensions, AreListed) {
  const auto sets = listOf<const char*>(instruction_sets);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_STREQ(sets[0], "OpenCL.std");
  const auto names = listOf<const char*>(spirv_extensions);
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](std::string name) { return name == "SPV_KHR_linkonce_odr"; }));
  EXPECT_TRUE(hasCapability(6)) << "Kernel";
  EXPECT_EQ(hasCapability(17), deviceInfo<cl_bool>(CL_DEVICE_PIPE_SUPPORT) == CL_TRUE);
  EXPECT_FALSE(hasCapability(1)) << "Shader";
}

TEST_F(SpirvExtensions, EveryVersionThatIsListed) {
  const auto versions = listOf<cl_name_version>(CL_DEVICE_ILS_WITH_VERSION);
  EXPECT_EQ(versions.size(), 7u) << "1.0 to 1.6";
  constexpr spv_target_env environments[] = {
      SPV_ENV_UNIVERSAL_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_UNIVERSAL_1_2, SPV_ENV_UNIVERSAL_1_3,
      SPV_ENV_UNIVERSAL_1_4, SPV_ENV_UNIVERSAL_1_5, SPV_ENV_UNIVERSAL_1_6};
  for (const cl_name_version& version : versions) {
    const cl_uint minor = CL_VERSION_MINOR(version.version);
    ASSERT_LT(minor, std::size(environments));
    const std::string uniform = minor < 6 ? "" : "OpDecorateId %one UniformId %two\n";
    const OwnedProgram made = programFromText(context,
                                              "OpCapability Addresses\nOpCapability Kernel\n" +
                                                  std::string(minor < 6 ? "" : R"(
      OpCapability UniformDecoration)") + R"(
      OpMemoryModel Physical64 OpenCL
      OpEntryPoint Kernel %k "k"
      )" + uniform + R"(
      %void = OpTypeVoid
      %uint = OpTypeInt 32 0
      %global_uint = OpTypePointer CrossWorkgroup %uint
      %one = OpConstant %uint 1
      %two = OpConstant %uint 2
      %signature = OpTypeFunction %void %global_uint
      %k = OpFunction %void None %signature
      %out = OpFunctionParameter %global_uint
      %start = OpLabel
      %a = OpLoad %uint %out Aligned 4
      %sum = OpIAdd %uint %a %one
      OpStore %out %sum Aligned 4
      OpReturn
      OpFunctionEnd
    )",
                                              environments[minor]);
    ASSERT_EQ(build(made), CL_SUCCESS) << "1." << minor << ": " << log(made);
    EXPECT_EQ(result(made, minor), minor + 1);
  }
}

TEST_F(SpirvExtensions, OtherVersionsAndCapabilitiesFailTheBuild) {
  const char* body = "OpMemoryModel Physical64 OpenCL\n";
  const OwnedProgram shader =
      programFromText(context, std::string("OpCapability Kernel\nOpCapability Shader\n") + body);
  EXPECT_EQ(build(shader), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(log(shader).find("capability 1"), std::string::npos) << log(shader);
  const uint32_t words[] = {0x07230203, 0x00010700, 0, 1, 0, 2u << 16 | 17, 6};
  cl_int code = 1;
  const OwnedProgram newer(cl.clCreateProgramWithIL(context, words, sizeof words, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(build(newer), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(log(newer).find("1.6"), std::string::npos) << log(newer);
}

TEST_F(SpirvExtensions, ExpectAndAssume) {
  if (!hasCapability(5629)) GTEST_SKIP() << "no hints";
  const OwnedProgram made =
      program("OpCapability ExpectAssumeKHR\nOpExtension \"SPV_KHR_expect_assume\"\n",
              "%a = OpLoad %uint %out Aligned 4\n"
              "%b = OpExpectKHR %uint %a %one\n"
              "%pair = OpCompositeConstruct %uint2 %b %one\n"
              "%same = OpExpectKHR %uint2 %pair %pair\n"
              "%known = OpINotEqual %bool %b %zero\n"
              "OpAssumeTrueKHR %known\n"
              "%c = OpCompositeExtract %uint %same 0\n"
              "%result = OpIAdd %uint %c %four\n");
  EXPECT_EQ(result(made, 7), 11u);
}

TEST_F(SpirvExtensions, DotProducts) {
  if (!hasCapability(6019)) GTEST_SKIP() << "no dot products";
  const OwnedProgram made = program(
      "OpCapability DotProduct\nOpCapability DotProductInput4x8Bit\n"
      "OpCapability DotProductInput4x8BitPacked\nOpExtension \"SPV_KHR_integer_dot_product\"\n",
      "%a = OpLoad %uint %out Aligned 4\n"
      "%bytes = OpBitcast %uchar4 %a\n"
      "%u = OpUDotKHR %uint %bytes %bytes\n"
      "%s = OpSDotKHR %uint %a %a PackedVectorFormat4x8Bit\n"
      "%su = OpSUDotAccSatKHR %uint %a %a %most PackedVectorFormat4x8Bit\n"
      "%us = OpIAdd %uint %u %s\n"
      "%result = OpIAdd %uint %us %su\n",
      "%most = OpConstant %uint 0x7fffff00\n");
  // Bytes 254, 3, 2, 1.
  const int u = 254 * 254 + 9 + 4 + 1, s = 4 + 9 + 4 + 1, su = -2 * 254 + 9 + 4 + 1;
  EXPECT_EQ(result(made, 0x010203fe), cl_uint(u) + cl_uint(s) + 0x7fffff00u + cl_uint(su));
}

TEST_F(SpirvExtensions, ClocksAndBits) {
  if (!hasCapability(5055) || !hasCapability(6025)) GTEST_SKIP() << "no clock or no bits";
  const OwnedProgram made = program(
      "OpCapability ShaderClockKHR\nOpCapability BitInstructions\n"
      "OpExtension \"SPV_KHR_shader_clock\"\nOpExtension \"SPV_KHR_bit_instructions\"\n",
      "%a = OpLoad %uint %out Aligned 4\n"
      "%t0 = OpReadClockKHR %ulong %one\n"
      "%t1 = OpReadClockKHR %uint2 %one\n"
      "%wide = OpBitcast %ulong %t1\n"
      "%later = OpUGreaterThanEqual %bool %wide %t0\n"
      "%bit = OpSelect %uint %later %one %zero\n"
      "%field = OpBitFieldUExtract %uint %a %four %eight\n"
      "%result = OpBitFieldInsert %uint %field %bit %eight %four\n");
  EXPECT_EQ(result(made, 0x12345678), 0x167u);
}

TEST_F(SpirvExtensions, FloatAtomics) {
  if (!hasCapability(6033) || !hasCapability(5612)) GTEST_SKIP() << "no atomics of float";
  const OwnedProgram made = program(
      "OpCapability AtomicFloat32AddEXT\nOpCapability AtomicFloat32MinMaxEXT\n"
      "OpExtension \"SPV_EXT_shader_atomic_float_add\"\n"
      "OpExtension \"SPV_EXT_shader_atomic_float_min_max\"\n",
      "%place = OpBitcast %global_float %out\n"
      "%a = OpAtomicFAddEXT %float %place %one %zero %half\n"
      "%b = OpAtomicFMaxEXT %float %place %one %zero %ten\n"
      "%c = OpAtomicFMinEXT %float %place %one %zero %twenty\n"
      "%ab = OpFAdd %float %a %b\n"
      "%abc = OpFAdd %float %ab %c\n"
      "%result = OpBitcast %uint %abc\n",
      "%half = OpConstant %float 0.5\n%ten = OpConstant %float 10\n"
      "%twenty = OpConstant %float 20\n");
  const float one = 1, sum = 1 + 1.5f + 10;
  cl_uint before = 0, after = 0;
  std::memcpy(&before, &one, sizeof before);
  std::memcpy(&after, &sum, sizeof after);
  EXPECT_EQ(result(made, before), after);
}

// One kernel writes a packet, with a reservation, and another reads it.
TEST_F(SpirvExtensions, Pipes) {
  if (!hasCapability(17)) GTEST_SKIP() << "no pipes";
  const std::string types =
      "%id_t = OpTypeReserveId\n%generic_uchar = OpTypePointer Generic %uchar\n"
      "%private_uint = OpTypePointer Function %uint\n"
      "%generic_uint = OpTypePointer Generic %uint\n";
  const std::string start =
      "%packet = OpVariable %private_uint Function\n"
      "%word = OpPtrCastToGeneric %generic_uint %packet\n"
      "%bytes = OpBitcast %generic_uchar %word\n";
  const OwnedProgram writer =
      program("OpCapability Pipes\n",
              start +
                  "%a = OpLoad %uint %out Aligned 4\n"
                  "OpStore %packet %a Aligned 4\n"
                  "%id = OpReserveWritePipePackets %id_t %pipe %one %four %four\n"
                  "%valid = OpIsValidReserveId %bool %id\n"
                  "%failed = OpReservedWritePipe %uint %pipe %id %zero %bytes %four %four\n"
                  "OpCommitWritePipe %pipe %id %four %four\n"
                  "%yes = OpSelect %uint %valid %one %zero\n"
                  "%result = OpISub %uint %yes %failed\n",
              types + "%pipe_t = OpTypePipe WriteOnly\n", true);
  const OwnedProgram reader = program("OpCapability Pipes\n",
                                      start +
                                          "%n = OpGetNumPipePackets %uint %pipe %four %four\n"
                                          "%failed = OpReadPipe %uint %pipe %bytes %four %four\n"
                                          "%b = OpLoad %uint %packet Aligned 4\n"
                                          "%c = OpIAdd %uint %b %n\n"
                                          "%result = OpISub %uint %c %failed\n",
                                      types + "%pipe_t = OpTypePipe ReadOnly\n", true);
  cl_int code = 1;
  const OwnedMem pipe(cl.clCreatePipe(context, 0, 4, 8, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedMem out = upload(std::vector<cl_uint>{1234});
  for (const OwnedProgram* made : {&writer, &reader}) {
    const OwnedKernel k = kernel(*made, "k");
    set(k, out, pipe);
    run(k, {{1}});
    EXPECT_EQ(download<cl_uint>(out).front(), made == &writer ? 1u : 1235u);
  }
}

// A pipe of the program's own: what one launch leaves in it the next one finds.
TEST_F(SpirvExtensions, PipeStorage) {
  if (!hasCapability(60)) GTEST_SKIP() << "no storage for pipes";
  const OwnedProgram made =
      program("OpCapability Pipes\nOpCapability PipeStorage\n",
              "%packet = OpVariable %private_uint Function\n"
              "%word = OpPtrCastToGeneric %generic_uint %packet\n"
              "%bytes = OpBitcast %generic_uchar %word\n"
              "%in = OpCreatePipeFromPipeStorage %write_t %storage\n"
              "%a = OpLoad %uint %out Aligned 4\n"
              "OpStore %packet %a Aligned 4\n"
              "%failed_a = OpWritePipe %uint %in %bytes %four %four\n"
              "%b = OpIAdd %uint %a %four\n"
              "OpStore %packet %b Aligned 4\n"
              "%failed_b = OpWritePipe %uint %in %bytes %four %four\n"
              "%from = OpCreatePipeFromPipeStorage %read_t %storage\n"
              "%failed_c = OpReadPipe %uint %from %bytes %four %four\n"
              "%c = OpLoad %uint %packet Aligned 4\n"
              "%ab = OpIAdd %uint %failed_a %failed_b\n"
              "%abc = OpIAdd %uint %ab %failed_c\n"
              "%errors = OpIMul %uint %abc %thousand\n"
              "%result = OpISub %uint %c %errors\n",
              "%generic_uchar = OpTypePointer Generic %uchar\n"
              "%private_uint = OpTypePointer Function %uint\n"
              "%generic_uint = OpTypePointer Generic %uint\n"
              "%thousand = OpConstant %uint 1000\n"
              "%write_t = OpTypePipe WriteOnly\n%read_t = OpTypePipe ReadOnly\n"
              "%storage_t = OpTypePipeStorage\n"
              "%storage = OpConstantPipeStorage %storage_t 4 4 3\n");
  EXPECT_EQ(result(made, 10), 10u);
  EXPECT_EQ(result(made, 20), 14u);
  // Three packets fit: of the next two one is refused.
  EXPECT_EQ(result(made, 30), 1020u);
}

}  // namespace
}  // namespace weft::e2e
