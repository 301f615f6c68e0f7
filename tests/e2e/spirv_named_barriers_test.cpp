// Named barriers, which are for some sub-groups of a work-group.
#include <algorithm>
#include <string>

#include "tests/e2e/spirv_text.h"

namespace weft::e2e {
namespace {

class NamedBarriers : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (deviceInfo<cl_uint>(CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR) == 0)
      GTEST_SKIP() << "the device has no named barriers";
  }
};

TEST(NamedBarrierCounts, AreAtLeastEightWhereThereAreAny) {
  const bool said =
      deviceString(CL_DEVICE_EXTENSIONS).find("cl_khr_subgroup_named_barrier") != std::string::npos;
  const auto count = deviceInfo<cl_uint>(CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR);
  EXPECT_TRUE(said ? count >= 8 : count == 0) << count;
}

// Two of four sub-groups hand each other values in local memory; the others wait at the end.
constexpr char pair_text[] = R"(
  OpCapability Addresses
  OpCapability Kernel
  OpCapability Int64
  OpCapability SubgroupDispatch
  OpCapability NamedBarrier
  OpMemoryModel Physical64 OpenCL
  OpEntryPoint Kernel %k "k" %item_id %sub_group_id
  OpDecorate %item_id BuiltIn LocalInvocationIndex
  OpDecorate %sub_group_id BuiltIn SubgroupId
  %void = OpTypeVoid
  %bool = OpTypeBool
  %uint = OpTypeInt 32 0
  %ulong = OpTypeInt 64 0
  %barrier_t = OpTypeNamedBarrier
  %n64 = OpConstant %uint 64
  %words = OpTypeArray %uint %n64
  %input_uint = OpTypePointer Input %uint
  %input_ulong = OpTypePointer Input %ulong
  %global_uint = OpTypePointer CrossWorkgroup %uint
  %local_words = OpTypePointer Workgroup %words
  %local_uint = OpTypePointer Workgroup %uint
  %zero = OpConstant %uint 0
  %one = OpConstant %uint 1
  %two = OpConstant %uint 2
  %three = OpConstant %uint 3
  %thousand = OpConstant %uint 1000
  %group = OpConstant %uint 2
  %order = OpConstant %uint 0x108
  %item_id = OpVariable %input_ulong Input
  %sub_group_id = OpVariable %input_uint Input
  %shared = OpVariable %local_words Workgroup
  %signature = OpTypeFunction %void %global_uint %uint
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %last = OpFunctionParameter %uint
  %start = OpLabel
  %long_item = OpLoad %ulong %item_id
  %item = OpUConvert %uint %long_item
  %sub_group = OpLoad %uint %sub_group_id
  %barrier = OpNamedBarrierInitialize %barrier_t %two
  %first_two = OpULessThan %bool %sub_group %two
  OpSelectionMerge %join None
  OpBranchConditional %first_two %loop %join
  %loop = OpLabel
  %round = OpPhi %uint %zero %start %next_round %loop
  %value = OpPhi %uint %item %start %sum %loop
  %mine = OpInBoundsAccessChain %local_uint %shared %item
  %mirror = OpISub %uint %last %item
  %other = OpInBoundsAccessChain %local_uint %shared %mirror
  OpStore %mine %value Aligned 4
  OpMemoryNamedBarrier %barrier %group %order
  %theirs = OpLoad %uint %other Aligned 4
  %sum = OpIAdd %uint %theirs %one
  OpMemoryNamedBarrier %barrier %group %order
  %next_round = OpIAdd %uint %round %one
  %more = OpULessThan %bool %next_round %three
  OpLoopMerge %done %loop None
  OpBranchConditional %more %loop %done
  %done = OpLabel
  OpBranch %join
  %join = OpLabel
  %result = OpPhi %uint %thousand %start %sum %done
  OpControlBarrier %group %group %order
  %place = OpInBoundsPtrAccessChain %global_uint %out %item
  OpStore %place %result Aligned 4
  OpReturn
  OpFunctionEnd
)";

TEST_F(NamedBarriers, AreForSomeSubGroups) {
  const OwnedProgram program = programFromText(context, pair_text);
  ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
  const OwnedKernel k = kernel(program, "k");
  size_t four = 4, items = 0;
  ASSERT_EQ(cl.clGetKernelSubGroupInfo(k, testDevice(), CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
                                       sizeof four, &four, sizeof items, &items, nullptr),
            CL_SUCCESS);
  const auto half = static_cast<cl_uint>(items / 2);
  const OwnedMem out = upload(std::vector<cl_uint>(items));
  set(k, out, half - 1);
  run(k, {{items}, {items}});
  const auto values = download<cl_uint>(out);
  // After an odd number of rounds each has what the mirrored one began with.
  for (cl_uint i = 0; i < items; ++i)
    EXPECT_EQ(values[i], i < half ? half - 1 - i + 3 : 1000u) << i;
}

// Eight barriers, each for the sub-groups of a mask. Round for round and barrier for barrier, each
// work-item of these writes a number to its place in local memory, and behind the barrier adds what
// is in the places of its lane in all of them. Every other round has places of its own: who is
// behind may still read.
constexpr cl_uint barriers = 8, per_round = 1000;

const std::string head = R"(
  OpCapability Addresses
  OpCapability Kernel
  OpCapability Int64
  OpCapability SubgroupDispatch
  OpCapability NamedBarrier
  OpMemoryModel Physical64 OpenCL
  OpEntryPoint Kernel %k "k" %item_id %global_id %sub_group_id %lane_id %width_id
)";
const std::string declarations = R"(
  OpDecorate %item_id BuiltIn LocalInvocationIndex
  OpDecorate %global_id BuiltIn GlobalInvocationId
  OpDecorate %sub_group_id BuiltIn SubgroupId
  OpDecorate %lane_id BuiltIn SubgroupLocalInvocationId
  OpDecorate %width_id BuiltIn SubgroupMaxSize
  %void = OpTypeVoid
  %bool = OpTypeBool
  %uint = OpTypeInt 32 0
  %ulong = OpTypeInt 64 0
  %ulong3 = OpTypeVector %ulong 3
  %barrier_t = OpTypeNamedBarrier
  %n256 = OpConstant %uint 256
  %n4096 = OpConstant %uint 4096
  %words = OpTypeArray %uint %n4096
  %input_uint = OpTypePointer Input %uint
  %input_ulong = OpTypePointer Input %ulong
  %input_ulong3 = OpTypePointer Input %ulong3
  %global_uint = OpTypePointer CrossWorkgroup %uint
  %local_words = OpTypePointer Workgroup %words
  %local_uint = OpTypePointer Workgroup %uint
  %n0 = OpConstant %uint 0
  %n1 = OpConstant %uint 1
  %n2 = OpConstant %uint 2
  %n3 = OpConstant %uint 3
  %n4 = OpConstant %uint 4
  %n5 = OpConstant %uint 5
  %n6 = OpConstant %uint 6
  %n7 = OpConstant %uint 7
  %n8 = OpConstant %uint 8
  %n32 = OpConstant %uint 32
  %per_round = OpConstant %uint 1000
  %order = OpConstant %uint 0x108
  %item_id = OpVariable %input_ulong Input
  %global_id = OpVariable %input_ulong3 Input
  %sub_group_id = OpVariable %input_uint Input
  %lane_id = OpVariable %input_uint Input
  %width_id = OpVariable %input_uint Input
  %shared = OpVariable %local_words Workgroup
  %step_type = OpTypeFunction %uint %barrier_t %uint %uint %uint %uint %uint
  %signature = OpTypeFunction %void %global_uint %global_uint %uint %uint
)";
// What is there in the places of the lane, behind the barrier; 0 where the mask leaves it out.
const std::string step = R"(
  %step = OpFunction %uint None %step_type
  %barrier = OpFunctionParameter %barrier_t
  %mask = OpFunctionParameter %uint
  %item = OpFunctionParameter %uint
  %items = OpFunctionParameter %uint
  %value = OpFunctionParameter %uint
  %places = OpFunctionParameter %uint
  %begin = OpLabel
  %sub_group = OpLoad %uint %sub_group_id
  %lane = OpLoad %uint %lane_id
  %width = OpLoad %uint %width_id
  %own_shift = OpShiftRightLogical %uint %mask %sub_group
  %own_bit = OpBitwiseAnd %uint %own_shift %n1
  %takes_part = OpIEqual %bool %own_bit %n1
  OpBranchConditional %takes_part %write %left_out
  %left_out = OpLabel
  OpReturnValue %n0
  %write = OpLabel
  %own_place = OpIAdd %uint %places %item
  %own = OpInBoundsAccessChain %local_uint %shared %own_place
  OpStore %own %value Aligned 4
  OpMemoryNamedBarrier %barrier %n2 %order
  OpBranch %loop
  %loop = OpLabel
  %other = OpPhi %uint %n0 %write %next %again
  %sum = OpPhi %uint %n0 %write %next_sum %again
  %shift = OpShiftRightLogical %uint %mask %other
  %bit = OpBitwiseAnd %uint %shift %n1
  %is_member = OpIEqual %bool %bit %n1
  %first = OpIMul %uint %other %width
  %from = OpIAdd %uint %first %lane
  %is_there = OpULessThan %bool %from %items
  %counts = OpLogicalAnd %bool %is_member %is_there
  OpBranchConditional %counts %read %again
  %read = OpLabel
  %their_place = OpIAdd %uint %places %from
  %theirs = OpInBoundsAccessChain %local_uint %shared %their_place
  %their_value = OpLoad %uint %theirs Aligned 4
  %longer_sum = OpIAdd %uint %sum %their_value
  OpBranch %again
  %again = OpLabel
  %next_sum = OpPhi %uint %sum %loop %longer_sum %read
  %next = OpIAdd %uint %other %n1
  %more = OpULessThan %bool %next %n32
  OpBranchConditional %more %loop %done
  %done = OpLabel
  OpReturnValue %next_sum
  OpFunctionEnd
)";

// With sub-groups of `width` work-items, or 0: the device's.
std::string eightBarriers(cl_uint width) {
  std::string text = head;
  if (width != 0) text += "OpExecutionMode %k SubgroupSize " + std::to_string(width) + "\n";
  text += declarations + step + R"(
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %masks = OpFunctionParameter %global_uint
  %k_items = OpFunctionParameter %uint
  %rounds = OpFunctionParameter %uint
  %start = OpLabel
  %long_item = OpLoad %ulong %item_id
  %k_item = OpUConvert %uint %long_item
  )";
  for (cl_uint i = 0; i < barriers; ++i) {
    const std::string n = std::to_string(i);
    text += "%mask_place" + n + " = OpInBoundsPtrAccessChain %global_uint %masks %n" + n + "\n";
    text += "%mask" + n + " = OpLoad %uint %mask_place" + n + " Aligned 4\n";
    text += "%count" + n + " = OpBitCount %uint %mask" + n + "\n";
    text += "%barrier" + n + " = OpNamedBarrierInitialize %barrier_t %count" + n + "\n";
  }
  text += R"(
  OpBranch %turn
  %turn = OpLabel
  %round = OpPhi %uint %n0 %start %next_round %turn
  %total_0 = OpPhi %uint %n0 %start %total_8 %turn
  %base = OpIMul %uint %round %per_round
  %parity = OpBitwiseAnd %uint %round %n1
  )";
  for (cl_uint i = 0; i < barriers; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += "%scaled" + n + " = OpIMul %uint %k_item %n" + next + "\n";
    text += "%given" + n + " = OpIAdd %uint %scaled" + n + " %base\n";
    text += "%row" + n + " = OpIAdd %uint %n" + n + " %n" + n + "\n";
    text += "%own_row" + n + " = OpIAdd %uint %row" + n + " %parity\n";
    text += "%places" + n + " = OpIMul %uint %own_row" + n + " %n256\n";
    text += "%part" + n + " = OpFunctionCall %uint %step %barrier" + n + " %mask" + n +
            " %k_item %k_items %given" + n + " %places" + n + "\n";
    text += "%total_" + next + " = OpIAdd %uint %total_" + n + " %part" + n + "\n";
  }
  return text + R"(
  %next_round = OpIAdd %uint %round %n1
  %goes_on = OpULessThan %bool %next_round %rounds
  OpBranchConditional %goes_on %turn %finish
  %finish = OpLabel
  %ids = OpLoad %ulong3 %global_id
  %id = OpCompositeExtract %ulong %ids 0
  %place = OpInBoundsPtrAccessChain %global_uint %out %id
  OpStore %place %total_8 Aligned 4
  OpReturn
  OpFunctionEnd
  )";
}

// Sets of sub-groups of which the first two are disjoint, and others overlap with these.
std::vector<cl_uint> masksOf(cl_uint sub_groups) {
  const cl_uint all = ~0u >> (32 - sub_groups), half = (1u << sub_groups / 2) - 1;
  const cl_uint last = 1u << (sub_groups - 1), even = 0x55555555;
  return {half, all & ~half, all & even, all & ~even, all, last, 1 | last, all & ~1u};
}

cl_uint expected(const std::vector<cl_uint>& masks, cl_uint item, cl_uint items, cl_uint width,
                 cl_uint rounds) {
  cl_uint total = 0;
  for (cl_uint i = 0; i < barriers; ++i) {
    if (!(masks[i] >> item / width & 1)) continue;
    for (cl_uint from = item % width; from < items; from += width)
      if (masks[i] >> from / width & 1)
        for (cl_uint round = 0; round < rounds; ++round)
          total += round * per_round + from * (i + 1);
  }
  return total;
}

// The last sub-group of each work-group is smaller than the others.
TEST_F(NamedBarriers, EightOfOverlappingSets) {
  constexpr cl_uint items = 229, groups = 5, rounds = 20;
  const auto sizes = listOf<size_t>(testDevice(), CL_DEVICE_SUB_GROUP_SIZES_INTEL);
  for (const cl_uint required : {0u, 8u}) {
    SCOPED_TRACE(required);
    const OwnedProgram program = programFromText(context, eightBarriers(required));
    const cl_int built = build(program);
    // A software GPU has more sizes than it says.
    if (built != CL_SUCCESS && required != 0 && std::ranges::count(sizes, required) == 0) continue;
    ASSERT_EQ(built, CL_SUCCESS) << log(program);
    const OwnedKernel k = kernel(program, "k");
    size_t local = items, size = 0;
    ASSERT_EQ(cl.clGetKernelSubGroupInfo(k, testDevice(), CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                         sizeof local, &local, sizeof size, &size, nullptr),
              CL_SUCCESS);
    const auto width = static_cast<cl_uint>(size);
    const auto masks = masksOf((items + width - 1) / width);
    const OwnedMem out = upload(std::vector<cl_uint>(items * groups)), given = upload(masks);
    set(k, out, given, items, rounds);
    run(k, {{items * groups}, {items}});
    const auto values = download<cl_uint>(out);
    for (cl_uint i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], expected(masks, i % items, items, width, rounds)) << i;
  }
}

}  // namespace
}  // namespace weft::e2e
