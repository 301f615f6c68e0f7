// The group instructions of SPIR-V, among the lanes of a sub-group.
#include "tests/e2e/spirv_text.h"

namespace weft::e2e {
namespace {

class SpirvSubGroups : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (!deviceInfo<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS))
      GTEST_SKIP() << "the device has no sub-groups";
  }
};

// The odd lanes add their numbers; then all ask who is odd, how many are before them, what lane 2
// has, and what the lane after theirs has.
constexpr char text[] = R"(
  OpCapability Addresses
  OpCapability Kernel
  OpCapability Int64
  OpCapability Groups
  OpCapability SubgroupDispatch
  OpCapability GroupNonUniform
  OpCapability GroupNonUniformArithmetic
  OpCapability GroupNonUniformBallot
  OpCapability GroupNonUniformRotateKHR
  OpExtension "SPV_KHR_subgroup_rotate"
  OpMemoryModel Physical64 OpenCL
  OpEntryPoint Kernel %k "k" %lane_id
  OpDecorate %lane_id BuiltIn SubgroupLocalInvocationId
  %void = OpTypeVoid
  %bool = OpTypeBool
  %uint = OpTypeInt 32 0
  %uint4 = OpTypeVector %uint 4
  %input_uint = OpTypePointer Input %uint
  %global_uint = OpTypePointer CrossWorkgroup %uint
  %zero = OpConstant %uint 0
  %one = OpConstant %uint 1
  %two = OpConstant %uint 2
  %eight = OpConstant %uint 8
  %sub_group = OpConstant %uint 3
  %lane_id = OpVariable %input_uint Input
  %signature = OpTypeFunction %void %global_uint
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %start = OpLabel
  %lane = OpLoad %uint %lane_id
  %bit = OpBitwiseAnd %uint %lane %one
  %odd = OpIEqual %bool %bit %one
  OpSelectionMerge %join None
  OpBranchConditional %odd %then %join
  %then = OpLabel
  %sum = OpGroupNonUniformIAdd %uint %sub_group Reduce %lane
  OpBranch %join
  %join = OpLabel
  %part = OpPhi %uint %zero %start %sum %then
  %mask = OpGroupNonUniformBallot %uint4 %sub_group %odd
  %low = OpCompositeExtract %uint %mask 0
  %before = OpGroupIAdd %uint %sub_group ExclusiveScan %one
  %third = OpGroupBroadcast %uint %sub_group %lane %two
  %next = OpGroupNonUniformRotateKHR %uint %sub_group %lane %one %eight
  %a = OpIAdd %uint %part %low
  %b = OpIAdd %uint %a %before
  %c = OpIAdd %uint %b %third
  %d = OpIAdd %uint %c %next
  %place = OpInBoundsPtrAccessChain %global_uint %out %lane
  OpStore %place %d Aligned 4
  OpReturn
  OpFunctionEnd
)";

TEST_F(SpirvSubGroups, InstructionsSeeTheLanesThatAreThere) {
  const OwnedProgram program = programFromText(context, text);
  ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_uint>(8));
  set(k, out);
  run(k, {{8}, {8}});
  const auto values = download<cl_uint>(out);
  for (cl_uint i = 0; i < 8; ++i)
    EXPECT_EQ(values[i], (i % 2 ? 16 : 0) + 0xaa + i + 2 + (i + 1) % 8) << i;
}

// Variables that are masks of lanes.
TEST_F(SpirvSubGroups, MasksOfLanes) {
  std::string masks, variables, interface, stores, place = "%first";
  for (const std::string name : {"Eq", "Ge", "Gt", "Le", "Lt"}) {
    const std::string mask = "%mask_" + name, next = "%behind_" + name;
    interface += " " + mask;
    masks += "OpDecorate " + mask + " BuiltIn Subgroup" + name + "Mask\n";
    variables += mask + " = OpVariable %input_uint4 Input\n";
    stores += mask + "_all = OpLoad %uint4 " + mask + "\n";
    stores += mask + "_low = OpCompositeExtract %uint " + mask + "_all 0\n";
    stores += "OpStore " + place + " " + mask + "_low Aligned 4\n";
    stores += next + " = OpInBoundsPtrAccessChain %global_uint " + place + " %one\n";
    place = next;
  }
  const OwnedProgram program = programFromText(context, R"(
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Int64
    OpCapability GroupNonUniformBallot
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %k "k" %lane_id)" + interface + R"(
    OpDecorate %lane_id BuiltIn SubgroupLocalInvocationId
    )" + masks + R"(
    %void = OpTypeVoid
    %uint = OpTypeInt 32 0
    %uint4 = OpTypeVector %uint 4
    %global_uint = OpTypePointer CrossWorkgroup %uint
    %input_uint = OpTypePointer Input %uint
    %input_uint4 = OpTypePointer Input %uint4
    %one = OpConstant %uint 1
    %five = OpConstant %uint 5
    %lane_id = OpVariable %input_uint Input
    )" + variables + R"(
    %signature = OpTypeFunction %void %global_uint
    %k = OpFunction %void None %signature
    %out = OpFunctionParameter %global_uint
    %start = OpLabel
    %lane = OpLoad %uint %lane_id
    %number = OpIMul %uint %lane %five
    %first = OpInBoundsPtrAccessChain %global_uint %out %number
    )" + stores + "OpReturn\nOpFunctionEnd\n");
  ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_uint>(40));
  set(k, out);
  run(k, {{8}, {8}});
  const auto values = download<cl_uint>(out);
  for (cl_uint lane = 0; lane < 8; ++lane) {
    const cl_uint one = 1u << lane, below = one - 1, all = 0xff;
    const cl_uint expected[] = {one, all & ~below, all & ~below & ~one, below | one, below};
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(values[5 * lane + i], expected[i]) << lane << " " << i;
  }
}

}  // namespace
}  // namespace weft::e2e
