// Modules that break SPIR-V's rules: they are refused in words.
#include "tests/e2e/spirv_parts.h"

namespace weft::e2e {
namespace {

class SpirvDamage : public SpirvParts {
 protected:
  void expectRefusal(const Parts& parts) {
    const std::string text = moduleOf(parts);
    const OwnedProgram program = programFromText(context, text, SPV_ENV_UNIVERSAL_1_4);
    ASSERT_NE(cl_program(program), nullptr) << text;
    EXPECT_EQ(build(program), CL_BUILD_PROGRAM_FAILURE) << text;
    const std::string said = log(program);
    EXPECT_NE(said.find("error: "), std::string::npos) << text;
    EXPECT_EQ(said.find("crashed"), std::string::npos) << said << text;
  }
};

TEST_F(SpirvDamage, TypesOfWhatTypesAreNotMadeOf) {
  for (const char* declarations :
       {"OpTypeForwardPointer %loop CrossWorkgroup\n %loop = OpTypePointer CrossWorkgroup %loop\n"
        "%takes_loop = OpTypeFunction %void %loop\n",
        "%none = OpTypeVector %uint3 2\n", "%none = OpTypeVector %uint 0\n",
        "%none = OpTypeArray %void %c3\n", "%none = OpTypeArray %signature %c3\n",
        "%none = OpTypeStruct %void\n", "%none = OpTypeFunction %signature\n",
        "%none = OpTypeFunction %uint %void\n", "%none = OpTypeArray %uint %f1\n"}) {
    const bool takes_loop = std::string(declarations).find("takes_loop") != std::string::npos;
    expectRefusal({.body = "%r = OpCopyObject %uint %v\n",
                   .declarations = declarations,
                   .functions = takes_loop ? "%l = OpFunction %void None %takes_loop\n"
                                             "%lp = OpFunctionParameter %loop\n"
                                             "%ls = OpLabel\nOpReturn\nOpFunctionEnd\n"
                                           : "",
                   .entries = takes_loop ? "OpEntryPoint Kernel %k \"k\" %global_id\n"
                                           "OpEntryPoint Kernel %l \"l\"\n"
                                         : "OpEntryPoint Kernel %k \"k\" %global_id\n"});
  }
}

TEST_F(SpirvDamage, ConstantsOfOtherTypes) {
  for (const char* declarations :
       {"%n = OpConstantComposite %uint2 %c1\n", "%n = OpConstantComposite %uint2 %c1 %f1\n",
        "%n = OpConstantComposite %uint %c1 %c1\n", "%n = OpConstantNull %void\n",
        "%n = OpConstantNull %signature\n", "%n = OpSpecConstantOp %uint IAdd %c1 %f1\n",
        "%n = OpSpecConstantOp %uint FAdd %c1 %c2\n",
        "%n = OpSpecConstantOp %uint CompositeExtract %c1 5\n",
        "%n = OpSpecConstantOp %uint Select %c1 %c1 %f1\n",
        "%n = OpSpecConstantOp %uint SDiv %c1 %signature\n",
        "%n = OpSpecConstantOp %uint IAdd %m %c1\n %m = OpSpecConstantOp %uint IAdd %n %c1\n",
        "%n = OpSpecConstantOp %uint IAdd %n %c1\n",
        "%n = OpVariable %global_uint CrossWorkgroup %f1\n",
        "%n = OpVariable %uint CrossWorkgroup\n"})
    expectRefusal({.body = "%r = OpCopyObject %uint %v\n", .declarations = declarations});
}

TEST_F(SpirvDamage, OperandsOfOtherTypes) {
  for (const char* body : {"%r = OpIAdd %uint %v %f1\n",
                           "%r = OpFAdd %uint %v %v\n",
                           "%r = OpIAdd %uint %v %ids\n",
                           "%r = OpShiftLeftLogical %uint %v %ids\n",
                           "%r = OpShiftLeftLogical %uint %v %f1\n",
                           "%r = OpSNegate %uint %f1\n",
                           "%r = OpFNegate %uint %v\n",
                           "%r = OpNot %uint %out\n",
                           "%r = OpSelect %uint %v %c1 %c2\n",
                           "%r = OpUConvert %uint %f1\n",
                           "%r = OpUConvert %uint %ids\n",
                           "%r = OpConvertFToU %uint %v\n",
                           "%r = OpConvertPtrToU %uint %v\n",
                           "%r = OpBitcast %uint %ids\n",
                           "%r = OpBitCount %uint %f1\n",
                           "%r = OpBitReverse %uint %f1\n",
                           "%x = OpIAddCarry %uint %v %v\n %r = OpIAdd %uint %v %v\n",
                           "%q = OpIEqual %bool %v %f1\n %r = OpSelect %uint %q %v %v\n",
                           "%q = OpFOrdLessThan %bool %v %v\n %r = OpSelect %uint %q %v %v\n",
                           "%q = OpIsNan %bool %v\n %r = OpSelect %uint %q %v %v\n",
                           "%q = OpAny %bool %v\n %r = OpSelect %uint %q %v %v\n",
                           "%q = OpDot %float %v %v\n %r = OpConvertFToU %uint %q\n",
                           "%x = OpVectorTimesScalar %ulong3 %ids %f1\n %r = OpIAdd %uint %v %v\n",
                           "%r = OpGenericCastToPtr %uint %v\n",
                           "%r = OpCopyObject %ulong %v\n",
                           "%r = OpFunctionCall %uint %k\n",
                           "%r = OpFunctionCall %uint %k %v\n",
                           "%r = OpGroupBroadcast %uint %c2 %v %f1\n",
                           "%r = OpExtInst %uint %std s_abs %signature\n"})
    expectRefusal({.body = body});
}

TEST_F(SpirvDamage, MembersAndPlacesThatAreNotThere) {
  for (const char* body :
       {"%x = OpCompositeExtract %ulong %ids 3\n %r = OpUConvert %uint %x\n",
        "%r = OpCompositeExtract %uint %v 0\n",
        "%x = OpCompositeInsert %ulong3 %v %ids 1\n %r = OpUConvert %uint %v\n",
        "%x = OpCompositeInsert %ulong3 %id %ids 1 1\n %r = OpUConvert %uint %v\n",
        "%x = OpCompositeConstruct %uint2 %v %v %v\n %r = OpCompositeExtract %uint %x 0\n",
        "%x = OpCompositeConstruct %uint2 %v %f1\n %r = OpCompositeExtract %uint %x 0\n",
        "%x = OpVectorShuffle %uint2 %ids %ids 0 1\n %r = OpCompositeExtract %uint %x 0\n",
        "%x = OpVectorShuffle %ulong3 %ids %ids 0 9 1\n %r = OpUConvert %uint %id\n",
        "%r = OpVectorExtractDynamic %uint %v %c1\n",
        "%r = OpVectorInsertDynamic %ulong3 %ids %v %c1\n",
        "%p = OpAccessChain %global_uint %out %c1 %c1\n %r = OpLoad %uint %p\n",
        "%p = OpPtrAccessChain %global_uint %out %f1\n %r = OpLoad %uint %p\n",
        "%p = OpPtrAccessChain %global_uint %v %c1\n %r = OpLoad %uint %p\n",
        "%r = OpLoad %uint %v\n",
        "%r = OpLoad %void %out\n",
        "%r = OpLoad %uint %out Aligned 3\n",
        "%r = OpLoad %uint %out Aligned 0\n",
        "OpStore %v %out\n %r = OpIAdd %uint %v %v\n",
        "OpCopyMemory %v %v\n %r = OpIAdd %uint %v %v\n",
        "OpCopyMemorySized %place %out %f1\n %r = OpIAdd %uint %v %v\n",
        "%r = OpSizeOf %uint %v\n",
        "%r = OpPtrDiff %uint %v %v\n"})
    expectRefusal({.body = body});
}

TEST_F(SpirvDamage, DecorationsOfWhatCannotHaveThem) {
  const char* const own = "%own = OpVariable %own_uint Function\n";
  expectRefusal({.body = "%r = OpCopyObject %uint %v\n",
                 .decorations = "OpDecorate %own Alignment 3\n",
                 .variables = own});
  expectRefusal({.body = "%r = OpCopyObject %uint %v\n",
                 .decorations = "OpDecorate %own Alignment 0\n",
                 .variables = own});
  expectRefusal({.body = "%r = OpCopyObject %uint %v\n",
                 .declarations = "%shared = OpVariable %global_uint CrossWorkgroup\n",
                 .decorations = "OpDecorate %shared Alignment 12\n"});
  expectRefusal(
      {.body = "%r = OpCopyObject %uint %v\n", .decorations = "OpDecorate %out Alignment 5\n"});
  expectRefusal({.body = "%r = OpLoad %uint %id_of\n",
                 .declarations = "%input = OpTypePointer Input %float\n"
                                 "%id_of = OpVariable %input Input\n",
                 .decorations = "OpDecorate %id_of BuiltIn SubgroupId\n"});
  expectRefusal({.body = "%x = OpLoad %uint2 %id_of\n %r = OpCompositeExtract %uint %x 0\n",
                 .declarations = "%input = OpTypePointer Input %uint2\n"
                                 "%id_of = OpVariable %input Input\n",
                 .decorations = "OpDecorate %id_of BuiltIn LocalInvocationId\n"});
}

TEST_F(SpirvDamage, BlocksThatEndTwiceOrNowhere) {
  for (const char* body :
       {"OpBranch %b\n %r = OpIAdd %uint %v %v\n %b = OpLabel\n",
        "OpReturn\n %r = OpIAdd %uint %v %v\n",
        "OpBranchConditional %v %b %b\n %b = OpLabel\n %r = OpIAdd %uint %v %v\n",
        "OpBranch %v\n %b = OpLabel\n %r = OpIAdd %uint %v %v\n",
        "OpBranch %b\n %b = OpLabel\n %r = OpPhi %uint %f1 %start\n",
        "OpBranch %b\n %b = OpLabel\n %r = OpPhi %signature %v %start\n",
        "OpBranch %b\n %r = OpIAdd %uint %v %v\n OpBranch %b\n %b = OpLabel\n OpReturn\n"
        "%e = OpLabel\n"})
    expectRefusal({.body = body});
}

}  // namespace
}  // namespace weft::e2e
