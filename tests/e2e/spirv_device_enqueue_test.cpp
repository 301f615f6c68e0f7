// SPIR-V that enqueues kernels.
#include "tests/e2e/device_queues.h"
#include "tests/e2e/spirv_text.h"

namespace weft::e2e {
namespace {

// Kernel "k" is given `out`. What is enqueued gets the address of a pointer to `out`.
const std::string prelude = R"(
  OpCapability Addresses
  OpCapability Kernel
  OpCapability Int64
  OpCapability Int8
  OpCapability GenericPointer
  OpCapability DeviceEnqueue
  OpCapability SubgroupDispatch
  OpMemoryModel Physical64 OpenCL
  OpEntryPoint Kernel %k "k" %global_id
  OpDecorate %global_id BuiltIn GlobalInvocationId
  %void = OpTypeVoid
  %bool = OpTypeBool
  %uchar = OpTypeInt 8 0
  %uint = OpTypeInt 32 0
  %ulong = OpTypeInt 64 0
  %ulong3 = OpTypeVector %ulong 3
  %zero = OpConstant %uint 0
  %one = OpConstant %uint 1
  %two = OpConstant %uint 2
  %three = OpConstant %uint 3
  %eight = OpConstant %uint 8
  %sixteen = OpConstant %uint 16
  %wide_0 = OpConstant %ulong 0
  %wide_1 = OpConstant %ulong 1
  %wide_2 = OpConstant %ulong 2
  %wide_3 = OpConstant %ulong 3
  %wide_4 = OpConstant %ulong 4
  %wide_8 = OpConstant %ulong 8
  %sizes = OpTypeArray %ulong %wide_3
  %pair = OpTypeArray %ulong %wide_2
  %range = OpTypeStruct %uint %sizes %sizes %sizes
  %queue = OpTypeQueue
  %event = OpTypeDeviceEvent
  %global_uint = OpTypePointer CrossWorkgroup %uint
  %global_uchar = OpTypePointer CrossWorkgroup %uchar
  %local_uint = OpTypePointer Workgroup %uint
  %generic_uchar = OpTypePointer Generic %uchar
  %generic_event = OpTypePointer Generic %event
  %generic_out = OpTypePointer Generic %global_uint
  %private_uchar = OpTypePointer Function %uchar
  %private_event = OpTypePointer Function %event
  %private_range = OpTypePointer Function %range
  %private_wide = OpTypePointer Function %ulong
  %private_out = OpTypePointer Function %global_uint
  %input_ulong3 = OpTypePointer Input %ulong3
  %global_id = OpVariable %input_ulong3 Input
  %no_event = OpConstantNull %generic_event
  %signature = OpTypeFunction %void %global_uint
  %simple = OpTypeFunction %void %generic_uchar
  %with_local = OpTypeFunction %void %private_uchar %local_uint
)";
// Adds one to out[global id].
const std::string count = R"(
  %count = OpFunction %void None %simple
  %count_block = OpFunctionParameter %generic_uchar
  %count_start = OpLabel
  %count_captured = OpBitcast %generic_out %count_block
  %count_out = OpLoad %global_uint %count_captured Aligned 8
  %count_ids = OpLoad %ulong3 %global_id
  %count_id = OpCompositeExtract %ulong %count_ids 0
  %count_place = OpInBoundsPtrAccessChain %global_uint %count_out %count_id
  %count_old = OpLoad %uint %count_place Aligned 4
  %count_new = OpIAdd %uint %count_old %one
  OpStore %count_place %count_new Aligned 4
  OpReturn
  OpFunctionEnd
)";
const std::string begin = R"(
  %k = OpFunction %void None %signature
  %out = OpFunctionParameter %global_uint
  %start = OpLabel
  %captured = OpVariable %private_out Function
  %go = OpVariable %private_event Function
  %first = OpVariable %private_event Function
  %size = OpVariable %private_wide Function
  %shape = OpVariable %private_range Function
  OpStore %captured %out Aligned 8
  %bytes = OpBitcast %private_uchar %captured
  %block = OpPtrCastToGeneric %generic_uchar %bytes
  %q = OpGetDefaultQueue %queue
)";
const std::string end = R"(
  OpReturn
  OpFunctionEnd
)";

class SpirvDeviceEnqueue : public DeviceEnqueue {
 protected:
  OwnedProgram fromText(const std::string& text) { return programFromText(context, text); }
  std::vector<cl_uint> left(const std::string& text, size_t n) {
    const OwnedProgram program = fromText(text);
    EXPECT_EQ(build(program), CL_SUCCESS) << log(program);
    const OwnedKernel k = kernel(program, "k");
    const OwnedMem out = upload(std::vector<cl_uint>(n));
    set(k, out);
    run(k, {{1}});
    return download<cl_uint>(out);
  }
};

TEST_F(SpirvDeviceEnqueue, EventsOrderWhatIsEnqueued) {
  const auto values = left(prelude + begin + R"(
    %user = OpCreateUserEvent %event
    OpStore %go %user
    %go_list = OpPtrCastToGeneric %generic_event %go
    %first_list = OpPtrCastToGeneric %generic_event %first
    %r = OpBuildNDRange %range %wide_4 %wide_0 %wide_2
    %a = OpEnqueueKernel %uint %q %zero %r %one %go_list %first_list %count %block %eight %eight
    %times = OpInBoundsPtrAccessChain %global_uint %out %wide_8
    %times_bytes = OpBitcast %global_uchar %times
    %ended = OpLoad %event %first
    OpCaptureEventProfilingInfo %ended %one %times_bytes
    %b = OpEnqueueMarker %uint %q %one %first_list %go_list
    %marker = OpLoad %event %go
    OpRetainEvent %marker
    OpReleaseEvent %marker
    %valid = OpIsValidEvent %bool %marker
    %c = OpEnqueueKernel %uint %q %one %r %one %go_list %no_event %count %block %eight %eight
    OpSetUserEventStatus %user %zero
    OpReleaseEvent %user
    OpReleaseEvent %ended
    OpReleaseEvent %marker
    %invalid = OpIsValidEvent %bool %user
    %x = OpSelect %uint %valid %one %zero
    %y = OpSelect %uint %invalid %two %zero
    %xy = OpBitwiseOr %uint %x %y
    %ab = OpBitwiseOr %uint %a %b
    %abc = OpBitwiseOr %uint %ab %c
    %sum = OpIAdd %uint %xy %abc
    OpStore %out %sum Aligned 4
  )" + end + count,
                           12);
  EXPECT_EQ(std::vector(values.begin(), values.begin() + 8),
            (std::vector<cl_uint>{1, 0, 2, 2, 2, 2, 0, 0}));
  EXPECT_TRUE(values[8] || values[9]) << "no time was written";
}

// As many work-items as the local memory has room for write into it and then out of it.
TEST_F(SpirvDeviceEnqueue, LocalMemoryAndRangesOfMoreDimensions) {
  const auto child = R"(
    %child = OpFunction %void None %with_local
    %child_block = OpFunctionParameter %private_uchar
    %memory = OpFunctionParameter %local_uint
    %child_start = OpLabel
    %child_captured = OpBitcast %private_out %child_block
    %child_out = OpLoad %global_uint %child_captured Aligned 8
    %ids = OpLoad %ulong3 %global_id
    %column = OpCompositeExtract %ulong %ids 0
    %row = OpCompositeExtract %ulong %ids 1
    %above = OpIMul %ulong %row %wide_4
    %id = OpIAdd %ulong %above %column
    %in_group = OpBitwiseAnd %ulong %column %wide_1
    %cell = OpInBoundsPtrAccessChain %local_uint %memory %in_group
    %narrow = OpUConvert %uint %id
    OpStore %cell %narrow Aligned 4
    OpControlBarrier %two %two %fence
    %other = OpBitwiseXor %ulong %in_group %wide_1
    %other_cell = OpInBoundsPtrAccessChain %local_uint %memory %other
    %found = OpLoad %uint %other_cell Aligned 4
    %place = OpInBoundsPtrAccessChain %global_uint %child_out %id
    OpStore %place %found Aligned 4
    OpReturn
    OpFunctionEnd
  )";
  const std::string constants = R"(
    %fence = OpConstant %uint 272
    %all = OpConstantComposite %pair %wide_4 %wide_2
    %group = OpConstantComposite %pair %wide_2 %wide_1
    %none = OpConstantComposite %pair %wide_0 %wide_0
  )";
  // Sizes as numbers and a range as a value, then both by address.
  for (const bool by_address : {false, true}) {
    const std::string enqueue = by_address ? R"(
    OpStore %size %wide_8
    OpStore %shape %r
    %done = OpEnqueueKernel %uint %q %one %shape %zero %no_event %no_event %child %bytes %eight %eight %size
  )"
                                           : R"(
    %done = OpEnqueueKernel %uint %q %one %r %zero %no_event %no_event %child %bytes %eight %eight %eight
  )";
    EXPECT_EQ(left(prelude + constants + begin + "%r = OpBuildNDRange %range %all %group %none\n" +
                       enqueue + end + child,
                   8),
              (std::vector<cl_uint>{1, 0, 3, 2, 5, 4, 7, 6}))
        << by_address;
  }
}

TEST_F(SpirvDeviceEnqueue, QueriesAboutFunctions) {
  const auto values = left(prelude + begin + R"(
    %r = OpBuildNDRange %range %wide_8 %wide_4 %wide_0
    %v0 = OpGetKernelWorkGroupSize %uint %count %block %eight %eight
    %v1 = OpGetKernelPreferredWorkGroupSizeMultiple %uint %count %block %eight %eight
    %v2 = OpGetKernelNDrangeSubGroupCount %uint %r %count %block %eight %eight
    %v3 = OpGetKernelNDrangeMaxSubGroupSize %uint %r %count %block %eight %eight
    %v4 = OpGetKernelLocalSizeForSubgroupCount %uint %two %count %block %eight %eight
    %v5 = OpGetKernelMaxNumSubgroups %uint %count %block %eight %eight
    %p1 = OpInBoundsPtrAccessChain %global_uint %out %wide_1
    %p2 = OpInBoundsPtrAccessChain %global_uint %out %wide_2
    %p3 = OpInBoundsPtrAccessChain %global_uint %out %wide_3
    %p4 = OpInBoundsPtrAccessChain %global_uint %out %wide_4
    %p5 = OpInBoundsPtrAccessChain %global_uint %p4 %wide_1
    OpStore %out %v0 Aligned 4
    OpStore %p1 %v1 Aligned 4
    OpStore %p2 %v2 Aligned 4
    OpStore %p3 %v3 Aligned 4
    OpStore %p4 %v4 Aligned 4
    OpStore %p5 %v5 Aligned 4
  )" + end + count,
                           6);
  const auto largest = deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  EXPECT_EQ(values[0], largest);
  EXPECT_GT(values[1], 0u);
  EXPECT_EQ(values[2], (4 + values[3] - 1) / values[3]);
  EXPECT_EQ(values[4] % 2, 0u);
  EXPECT_GE(values[5], 1u);
  EXPECT_EQ(values[5], (largest + values[4] / 2 - 1) / (values[4] / 2));
}

// What takes a generic pointer is no kernel that a program could launch.
TEST_F(SpirvDeviceEnqueue, WhatIsEnqueuedIsNoKernel) {
  std::string listed = prelude;
  const std::string entry = "OpEntryPoint Kernel %k";
  listed.insert(listed.find(entry), "OpEntryPoint Kernel %count \"count\" %global_id\n");
  const OwnedProgram program = fromText(listed + begin + end + count);
  ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
  EXPECT_EQ(info<size_t>(cl.clGetProgramInfo, cl_program(program), CL_PROGRAM_NUM_KERNELS), 1u);
  kernel(program, "k");
}

TEST_F(SpirvDeviceEnqueue, DamagedModulesAreRefused) {
  const std::string wrong[] = {
      // No queue, no range, a function that gives something, a kernel of numbers.
      "%a = OpEnqueueMarker %uint %one %zero %no_event %no_event\n",
      "%a = OpBuildNDRange %sizes %wide_1 %wide_1 %wide_1\n",
      "%a = OpGetKernelWorkGroupSize %uint %k %block %eight %eight\n"
      "%b = OpEnqueueKernel %uint %q %zero %sizes %zero %no_event %no_event %k %block %eight "
      "%eight\n",
      "%a = OpGetKernelWorkGroupSize %uint %one %block %eight %eight\n",
      "%r = OpBuildNDRange %range %wide_1 %wide_1 %wide_0\n"
      "%a = OpEnqueueKernel %uint %one %zero %r %zero %no_event %no_event %count %block %eight "
      "%eight\n"};
  for (const std::string& body : wrong) {
    const OwnedProgram program = fromText(prelude + begin + body + end + count);
    EXPECT_EQ(build(program), CL_BUILD_PROGRAM_FAILURE) << body;
    EXPECT_NE(log(program).find("error"), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace weft::e2e
