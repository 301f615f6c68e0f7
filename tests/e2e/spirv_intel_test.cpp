// What Intel's SYCL compiler says in SPIR-V besides the core: SPV_INTEL_subgroups, the aliasing and
// the floating-point flags; and compare-and-exchange, whose function takes a private pointer.
#include <cstring>

#include <algorithm>

#include "tests/e2e/spirv_text.h"

namespace weft::e2e {
namespace {

constexpr uint32_t lanes = 16;

class SpirvIntel : public Programs {
 protected:
  // `body` has %in and %out at the work-item, %lane, and leaves %result.
  static std::string text(const std::string& body, const std::string& more = "",
                          const std::string& extensions = "") {
    return R"(
      OpCapability Addresses
      OpCapability Kernel
      OpCapability Int64
      OpCapability SubgroupDispatch
      OpCapability SubgroupShuffleINTEL
      OpCapability SubgroupBufferBlockIOINTEL
      )" + extensions +
           R"(
      OpExtension "SPV_INTEL_subgroups"
      OpMemoryModel Physical64 OpenCL
      OpEntryPoint Kernel %k "k" %lane_id %id
      OpExecutionMode %k SubgroupSize 16
      )" + more +
           R"(
      OpDecorate %lane_id BuiltIn SubgroupLocalInvocationId
      OpDecorate %id BuiltIn GlobalInvocationId
      %void = OpTypeVoid
      %uint = OpTypeInt 32 0
      %ulong = OpTypeInt 64 0
      %uint2 = OpTypeVector %uint 2
      %ulong3 = OpTypeVector %ulong 3
      %float = OpTypeFloat 32
      %input_uint = OpTypePointer Input %uint
      %input_ulong3 = OpTypePointer Input %ulong3
      %global_uint = OpTypePointer CrossWorkgroup %uint
      %zero = OpConstant %uint 0
      %one = OpConstant %uint 1
      %three = OpConstant %uint 3
      %hundred = OpConstant %uint 100
      %thousand = OpConstant %uint 1000
      %sixteen = OpConstant %uint 16
      %lane_id = OpVariable %input_uint Input
      %id = OpVariable %input_ulong3 Input
      %signature = OpTypeFunction %void %global_uint %global_uint
      %k = OpFunction %void None %signature
      %from = OpFunctionParameter %global_uint
      %to = OpFunctionParameter %global_uint
      %start = OpLabel
      %lane = OpLoad %uint %lane_id
      %ids = OpLoad %ulong3 %id
      %i = OpCompositeExtract %ulong %ids 0
      %in = OpInBoundsPtrAccessChain %global_uint %from %i
      %out = OpInBoundsPtrAccessChain %global_uint %to %i
      %a = OpLoad %uint %in Aligned 4
      )" + body +
           R"(
      OpStore %out %result Aligned 4
      OpReturn
      OpFunctionEnd
    )";
  }
  std::vector<cl_uint> results(const std::string& module) {
    size_t sizes[8] = {};
    cl.clGetDeviceInfo(testDevice(), CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, nullptr);
    if (!std::ranges::count(sizes, lanes)) return {};
    const OwnedProgram program = programFromText(context, module);
    EXPECT_EQ(build(program), CL_SUCCESS) << log(program);
    std::vector<cl_uint> numbers(lanes);
    for (cl_uint i = 0; i < lanes; ++i) numbers[i] = i * i + 1;
    const OwnedMem in = upload(numbers), out = upload(std::vector<cl_uint>(3 * lanes));
    const OwnedKernel k = kernel(program, "k");
    set(k, in, out);
    run(k, {{lanes}, {lanes}});
    return download<cl_uint>(out);
  }
  // Compares what every lane got with expected(lane).
  template <class F>
  void expectLanes(const std::string& module, const F& expected) {
    const auto got = results(module);
    if (got.empty()) GTEST_SKIP() << "the device has no sub-groups of that size";
    for (cl_uint lane = 0; lane < lanes; ++lane) EXPECT_EQ(got[lane], expected(lane)) << lane;
  }
};

constexpr auto number = [](cl_uint lane) { return lane * lane + 1; };

TEST_F(SpirvIntel, Shuffles) {
  expectLanes(text("%next = OpIAdd %uint %lane %three\n"
                   "%place = OpUMod %uint %next %sixteen\n"
                   "%got = OpSubgroupShuffleINTEL %uint %a %place\n"
                   "%other = OpSubgroupShuffleXorINTEL %uint %a %one\n"
                   "%high = OpIMul %uint %other %thousand\n"
                   "%result = OpIAdd %uint %got %high\n"),
              [](cl_uint lane) { return number((lane + 3) % lanes) + 1000 * number(lane ^ 1); });
}

TEST_F(SpirvIntel, ShufflesFromTheNeighbour) {
  expectLanes(text("%b = OpIAdd %uint %a %hundred\n"
                   "%result = OpSubgroupShuffleDownINTEL %uint %a %b %three\n"),
              [](cl_uint lane) {
                return lane + 3 < lanes ? number(lane + 3) : number(lane + 3 - lanes) + 100;
              });
  expectLanes(
      text("%b = OpIAdd %uint %a %hundred\n"
           "%result = OpSubgroupShuffleUpINTEL %uint %b %a %three\n"),
      [](cl_uint lane) { return lane >= 3 ? number(lane - 3) : number(lane + lanes - 3) + 100; });
}

TEST_F(SpirvIntel, ShufflesVectors) {
  expectLanes(text("%b = OpIAdd %uint %a %hundred\n"
                   "%pair = OpCompositeConstruct %uint2 %a %b\n"
                   "%got = OpSubgroupShuffleXorINTEL %uint2 %pair %three\n"
                   "%x = OpCompositeExtract %uint %got 0\n"
                   "%y = OpCompositeExtract %uint %got 1\n"
                   "%result = OpIMul %uint %x %y\n"),
              [](cl_uint lane) { return number(lane ^ 3) * (number(lane ^ 3) + 100); });
}

// A block of two rows is written behind the result and read back.
TEST_F(SpirvIntel, Blocks) {
  const auto got =
      results(text("%one_each = OpSubgroupBlockReadINTEL %uint %from\n"
                   "%b = OpIAdd %uint %one_each %hundred\n"
                   "%pair = OpCompositeConstruct %uint2 %a %b\n"
                   "%behind = OpInBoundsPtrAccessChain %global_uint %to %sixteen\n"
                   "OpSubgroupBlockWriteINTEL %behind %pair\n"
                   "%again = OpSubgroupBlockReadINTEL %uint2 %behind\n"
                   "%x = OpCompositeExtract %uint %again 0\n"
                   "%y = OpCompositeExtract %uint %again 1\n"
                   "%result = OpIMul %uint %x %y\n"));
  if (got.empty()) GTEST_SKIP() << "the device has no sub-groups of that size";
  for (cl_uint lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(got[lane], number(lane) * (number(lane) + 100)) << lane;
    EXPECT_EQ(got[lanes + lane], number(lane)) << lane;
    EXPECT_EQ(got[2 * lanes + lane], number(lane) + 100) << lane;
  }
}

// What is said of aliasing changes nothing, and a reassociated sum of small integers is exact.
TEST_F(SpirvIntel, AliasingAndFastMath) {
  expectLanes(text("%f = OpConvertUToF %float %a\n"
                   "%g = OpFAdd %float %f %f\n"
                   "%h = OpFAdd %float %g %f\n"
                   "%n = OpConvertFToU %uint %h\n"
                   "OpStore %out %n Aligned|AliasScopeINTELMask 4 %list\n"
                   "%back = OpLoad %uint %out Aligned|NoAliasINTELMask 4 %list\n"
                   "%result = OpIAdd %uint %back %one\n",
                   "%domain = OpAliasDomainDeclINTEL\n"
                   "%scope = OpAliasScopeDeclINTEL %domain\n"
                   "%list = OpAliasScopeListDeclINTEL %scope\n"
                   "OpDecorate %g FPFastMathMode AllowContractFastINTEL|AllowReassocINTEL\n"
                   "OpDecorate %h FPFastMathMode AllowContractFastINTEL|AllowReassocINTEL\n",
                   "OpCapability MemoryAccessAliasingINTEL\n"
                   "OpCapability FPFastMathModeINTEL\n"
                   "OpExtension \"SPV_INTEL_memory_access_aliasing\"\n"
                   "OpExtension \"SPV_INTEL_fp_fast_math_mode\"\n"),
              [](cl_uint lane) { return 3 * number(lane) + 1; });
}

// The wish not to be optimised changes nothing that a program could see.
TEST_F(SpirvIntel, FunctionsNotToOptimise) {
  std::string module = text("%result = OpIMul %uint %a %three\n", "",
                            "OpCapability OptNoneINTEL\nOpExtension \"SPV_INTEL_optnone\"\n");
  const std::string plain = "OpFunction %void None";
  module.replace(module.find(plain), plain.size(), "OpFunction %void OptNoneINTEL");
  expectLanes(module, [](cl_uint lane) { return 3 * number(lane); });
}

TEST_F(SpirvIntel, CompareExchangeOfGlobalMemory) {
  expectLanes(text("OpStore %out %lane Aligned 4\n"
                   "%found = OpAtomicCompareExchange %uint %out %one %zero %zero %a %three\n"
                   "%now = OpAtomicLoad %uint %out %one %zero\n"
                   "%high = OpIMul %uint %now %hundred\n"
                   "%result = OpIAdd %uint %found %high\n"),
              [](cl_uint lane) { return lane + 100 * (lane == 3 ? number(lane) : lane); });
}

}  // namespace
}  // namespace weft::e2e
