// What the SPIR-V specification allows and translators from OpenCL C seldom write: modules as other
// compilers make them.
#include "tests/e2e/spirv_parts.h"

namespace weft::e2e {
namespace {

using SpirvProducers = SpirvParts;

constexpr cl_uint quiet_nan = 0x7fc00000, one_as_float = 0x3f800000;

TEST_F(SpirvProducers, NumbersOfOtherWidthsSayHowFarToShift) {
  EXPECT_EQ(results({.body = R"(
      %narrow = OpUConvert %uchar %c3
      %up = OpShiftLeftLogical %uint %v %narrow
      %wide = OpUConvert %ulong %v
      %down = OpShiftRightLogical %ulong %wide %c2
      %low = OpUConvert %uint %down
      %r = OpBitwiseXor %uint %up %low
    )"},
                    {1, 2, 1000}),
            (Numbers{8, 16, 8000 ^ 250}));
}

// A program may ask for saturation between integers of one sign, too.
TEST_F(SpirvProducers, IntegersSaturateWhereTheyAreNarrowed) {
  const auto narrowed = [&](const char* instruction, const char* type) {
    return results({.body = std::string("%narrow = ") + instruction + " %" + type + R"( %v
                      %r = OpUConvert %uint %narrow
                    )",
                    .decorations = "OpDecorate %narrow SaturatedConversion\n"},
                   {5, 300, 70000, 0xfffffff0u, 0xff000000u});
  };
  EXPECT_EQ(narrowed("OpUConvert", "uchar"), (Numbers{5, 255, 255, 255, 255}));
  EXPECT_EQ(narrowed("OpUConvert", "ushort"), (Numbers{5, 300, 65535, 65535, 65535}));
  EXPECT_EQ(narrowed("OpSConvert", "uchar"), (Numbers{5, 127, 127, 0xf0, 0x80}));
}

// What one instruction may assume of its numbers says nothing about those behind it.
TEST_F(SpirvProducers, FastMathIsOneInstructionsOnly) {
  const std::string fast = "OpDecorate %sum FPFastMathMode Fast\n";
  const std::string is_nan = R"(
      %nan = OpIsNan %bool %number
      %r = OpSelect %uint %nan %c1 %c2
  )";
  EXPECT_EQ(results({.body = R"(
      %given = OpBitcast %float %v
      %sum = OpFAdd %float %given %f1
      %number = OpFunctionCall %float %same %given
    )" + is_nan,
                     .declarations = "%of_float = OpTypeFunction %float %float\n",
                     .decorations = fast,
                     .functions = R"(
      %same = OpFunction %float DontInline %of_float
      %parameter = OpFunctionParameter %float
      %inside = OpLabel
      %result = OpFMul %float %parameter %f1
      OpReturnValue %result
      OpFunctionEnd
    )"},
                    {quiet_nan, one_as_float}),
            (Numbers{1, 2}))
      << "a call";
  EXPECT_EQ(results({.body = R"(
      %given = OpBitcast %float %v
      %is_seven = OpIEqual %bool %v %c7
      OpBranchConditional %is_seven %one %two
      %one = OpLabel
      OpBranch %behind
      %two = OpLabel
      %sum = OpFAdd %float %given %f1
      OpBranch %behind
      %behind = OpLabel
      %number = OpPhi %float %f1 %one %given %two
    )" + is_nan,
                     .decorations = fast},
                    {quiet_nan, one_as_float}),
            (Numbers{1, 2}))
      << "a phi";
  EXPECT_EQ(results({.body = R"(
      %given = OpBitcast %float %v
      %sum = OpFAdd %float %given %f1
      %number = OpExtInst %float %std fmax %given %given
    )" + is_nan,
                     .decorations = fast},
                    {quiet_nan, one_as_float}),
            (Numbers{1, 2}))
      << "an extended instruction";
}

TEST_F(SpirvProducers, OneFunctionIsAKernelUnderSeveralNames) {
  const OwnedProgram program = built({.body = "%r = OpIAdd %uint %v %c7\n", .entries = R"(
      OpEntryPoint Kernel %k "k" %global_id
      OpEntryPoint Kernel %k "also k" %global_id
      OpExecutionMode %k LocalSize 2 1 1
  )"});
  EXPECT_EQ(outputOf(program, {1, 2}), (Numbers{8, 9}));
  EXPECT_EQ(outputOf(program, {3, 4}, "also k"), (Numbers{10, 11}));
  const OwnedKernel other = kernel(program, "also k");
  std::array<size_t, 3> size{};
  EXPECT_EQ(cl.clGetKernelWorkGroupInfo(other, testDevice(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                        sizeof size, size.data(), nullptr),
            CL_SUCCESS);
  EXPECT_EQ(size, (std::array<size_t, 3>{2, 1, 1}));
}

// OpName is for people: functions and variables without linkage may be called anything.
TEST_F(SpirvProducers, NamesOfWhatIsNotExportedMeanNothing) {
  for (const char* name : {"k", "_Z3absi", "llvm.memcpy.p0.p0.i64", "printf"}) {
    EXPECT_EQ(
        results({.body = R"(
        %more = OpFunctionCall %uint %helper %v
        %size = OpExtInst %uint %std s_abs %more
        OpStore %kept %size
        %r = OpLoad %uint %kept
      )",
                 .declarations = R"(
        %kept = OpVariable %global_uint CrossWorkgroup %c7
        %of_uint = OpTypeFunction %uint %uint
      )",
                 .decorations = "",
                 .functions = R"(
        %helper = OpFunction %uint None %of_uint
        %parameter = OpFunctionParameter %uint
        %inside = OpLabel
        %result = OpISub %uint %c3 %parameter
        OpReturnValue %result
        OpFunctionEnd
      )",
                 .entries = "OpEntryPoint Kernel %k \"k\" %global_id %kept\nOpName %helper \"" +
                            std::string(name) + "\"\nOpName %kept \"" + name + "\"\n"},
                {10}),
        (Numbers{7}))
        << name;
  }
}

TEST_F(SpirvProducers, SizesAndWherePointersPoint) {
  EXPECT_EQ(results({.body = "%r = OpSizeOf %uint %variable\n",
                     .declarations = R"(
      %padded = OpTypeStruct %uchar %uint3 %uchar
      %own_padded = OpTypePointer Function %padded
    )",
                     .variables = "%variable = OpVariable %own_padded Function\n",
                     .capabilities = ""},
                    {0}),
            (Numbers{48}));
  EXPECT_EQ(results({.body = R"(
      %anywhere = OpPtrCastToGeneric %generic_uint %place
      %r = OpGenericPtrMemSemantics %uint %anywhere
    )"},
                    {0}),
            (Numbers{0x200}))
      << "CrossWorkgroupMemory";
}

// A cast to local memory of what is global gives a null pointer.
TEST_F(SpirvProducers, CastsThatFail) {
  EXPECT_EQ(results({.body = R"(
      %anywhere = OpPtrCastToGeneric %generic_uint %place
      %shared = OpGenericCastToPtrExplicit %local_uint %anywhere Workgroup
      %address = OpConvertPtrToU %ulong %shared
      %low = OpUConvert %uint %address
      %is_null = OpIEqual %bool %low %c0
      %r = OpSelect %uint %is_null %c1 %c2
    )",
                     .declarations = "%local_uint = OpTypePointer Workgroup %uint\n"},
                    {0}),
            (Numbers{1}));
}

TEST_F(SpirvProducers, WhatIsForDebuggersIsPassedOver) {
  EXPECT_EQ(results({.body = R"(
      %inside = OpExtInst %void %foreign 2 %v
      %scope = OpExtInst %void %debug DebugNoScope
      %r = OpIAdd %uint %v %c1
    )",
                     .declarations = R"(
      %outside = OpExtInst %void %foreign 1 %c0
      %nothing = OpExtInst %void %debug DebugInfoNone
    )",
                     .capabilities = "OpExtension \"SPV_KHR_non_semantic_info\"\n",
                     .sets = R"(
      %foreign = OpExtInstImport "NonSemantic.Foreign.1"
      %debug = OpExtInstImport "OpenCL.DebugInfo.100"
    )"},
                    {4}),
            (Numbers{5}));
}

// Copies a number behind an odd place to an aligned one: with `copy`, from %odd to %to.
class SpirvCopies : public SpirvParts {
 protected:
  void expectCopy(const std::string& copy) {
    const OwnedProgram program = programFromText(context, R"(
      OpCapability Addresses
      OpCapability Kernel
      OpCapability Int64
      OpCapability Int8
      OpMemoryModel Physical64 OpenCL
      OpEntryPoint Kernel %k "k"
      %void = OpTypeVoid
      %uchar = OpTypeInt 8 0
      %uint = OpTypeInt 32 0
      %ulong = OpTypeInt 64 0
      %uint4 = OpTypeVector %uint 4
      %bytes = OpTypePointer CrossWorkgroup %uchar
      %words = OpTypePointer CrossWorkgroup %uint4
      %one = OpConstant %ulong 1
      %sixteen = OpConstant %ulong 16
      %signature = OpTypeFunction %void %words %bytes
      %k = OpFunction %void None %signature
      %to = OpFunctionParameter %words
      %from = OpFunctionParameter %bytes
      %start = OpLabel
      %behind = OpInBoundsPtrAccessChain %bytes %from %one
      %odd = OpBitcast %words %behind
      )" + copy + R"(
      OpReturn
      OpFunctionEnd
  )",
                                                 SPV_ENV_UNIVERSAL_1_4);
    ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
    std::vector<cl_uchar> bytes(32), expected(16);
    for (cl_uchar i = 0; i < 32; ++i) bytes[i] = i;
    for (cl_uchar i = 0; i < 16; ++i) expected[i] = i + 1;
    const OwnedMem from = upload(bytes), to = upload(std::vector<cl_uchar>(16));
    const OwnedKernel k = kernel(program, "k");
    set(k, to, from);
    run(k, {{1}});
    EXPECT_EQ(download<cl_uchar>(to), expected);
  }
};

// Since version 1.4 a copy says for itself how each of its pointers is aligned.
TEST_F(SpirvCopies, FromWhereNothingIsAligned) {
  expectCopy("OpCopyMemory %to %odd Aligned 16 Aligned 1");
}

// LLVM's translator writes an alignment of 0, which is none, where LLVM knows nothing.
TEST_F(SpirvCopies, OfBytesWithoutAnAlignment) {
  expectCopy("OpCopyMemorySized %to %odd %sixteen Aligned 0");
}

// They need not be to global memory.
TEST_F(SpirvProducers, PointersInStructuresThatTheyPointTo) {
  EXPECT_EQ(results({.body = R"(
      %number = OpInBoundsAccessChain %own_uint %first %c0
      OpStore %number %v
      %node_value = OpCompositeConstruct %node %c5 %first
      OpStore %second %node_value
      %loaded = OpLoad %node %second
      %next = OpCompositeExtract %own_node %loaded 1
      %found = OpInBoundsAccessChain %own_uint %next %c0
      %r = OpLoad %uint %found
    )",
                     .declarations = R"(
      OpTypeForwardPointer %own_node Function
      %node = OpTypeStruct %uint %own_node
      %own_node = OpTypePointer Function %node
    )",
                     .variables = R"(
      %first = OpVariable %own_node Function
      %second = OpVariable %own_node Function
    )"},
                    {4, 9}),
            (Numbers{4, 9}));
}

TEST_F(SpirvProducers, AtomicsOnWhatAWorkItemOwns) {
  EXPECT_EQ(results({.body = R"(
      OpStore %variable %v
      %before = OpAtomicIAdd %uint %variable %c1 %c0 %c1
      %found = OpAtomicCompareExchange %uint %variable %c1 %c0 %c0 %c100 %c7
      %now = OpAtomicLoad %uint %variable %c1 %c0
      %r = OpIAdd %uint %now %found
    )",
                     .variables = "%variable = OpVariable %own_uint Function\n"},
                    {5, 6}),
            (Numbers{12, 107}));
}

TEST_F(SpirvProducers, AnyAndAll) {
  EXPECT_EQ(results({.body = R"(
      %numbers = OpCompositeConstruct %uint4 %v %c1 %v %v
      %truths = OpUGreaterThan %bool4 %numbers %zeros
      %any = OpAny %bool %truths
      %one = OpCompositeConstruct %uint4 %v %c0 %c0 %c0
      %truth = OpUGreaterThan %bool4 %one %zeros
      %any_other = OpAny %bool %truth
      %all = OpAll %bool %truths
      %r1 = OpSelect %uint %any %c1 %c0
      %r2 = OpSelect %uint %all %c2 %c0
      %r3 = OpSelect %uint %any_other %c100 %c0
      %r4 = OpIAdd %uint %r1 %r2
      %r = OpIAdd %uint %r3 %r4
    )",
                     .declarations = "%zeros = OpConstantNull %uint4\n"},
                    {0, 1}),
            (Numbers{1, 103}));
}

// LLVM counts edges, of which this switch has three to one block; translators may, too.
TEST_F(SpirvProducers, ValuesOfRepeatedEdges) {
  EXPECT_EQ(results({.body = R"(
      OpSwitch %v %first 1 %second 2 %second 3 %second
      %first = OpLabel
      OpBranch %second
      %second = OpLabel
      %r = OpPhi %uint %c100 %first %c1 %start %c1 %start %c1 %start
    )"},
                    {0, 1, 2, 3, 4}),
            (Numbers{100, 1, 1, 1, 100}));
}

// Since version 1.4; as phis, too, they become choices.
TEST_F(SpirvProducers, StructuresAreChosen) {
  EXPECT_EQ(results({.body = R"(
      %is_large = OpUGreaterThan %bool %v %c2
      %pair = OpCompositeConstruct %uint2 %v %c1
      %numbers = OpCompositeConstruct %two %v %c100
      %small = OpCompositeConstruct %nested %v %pair %numbers
      %large_1 = OpCompositeInsert %nested %c7 %small 0
      %large_2 = OpCompositeInsert %nested %c5 %large_1 1 1
      %large = OpCompositeInsert %nested %c3 %large_2 2 1
      %chosen = OpSelect %nested %is_large %large %small
      %x = OpCompositeExtract %uint %chosen 0
      %y = OpCompositeExtract %uint %chosen 1 1
      %z = OpCompositeExtract %uint %chosen 2 1
      %xy = OpIMul %uint %x %y
      %r = OpIAdd %uint %xy %z
    )",
                     .declarations = R"(
      %two = OpTypeArray %uint %c2
      %nested = OpTypeStruct %uint %uint2 %two
    )"},
                    {1, 2, 3}),
            (Numbers{101, 102, 38}));
}

// Translators from LLVM write what they take from a constant before the constant itself.
TEST_F(SpirvProducers, ConstantsComeBeforeTheirParts) {
  EXPECT_EQ(results({.body = R"(
      %part = OpIAdd %uint %v %third
      %more = OpLoad %uint %shared
      %r = OpIAdd %uint %part %more
    )",
                     .declarations = R"(
      %shared = OpVariable %global_uint CrossWorkgroup %sum
      %sum = OpSpecConstantOp %uint BitwiseOr %third %second
      %third = OpSpecConstantOp %uint CompositeExtract %numbers 2
      %second = OpSpecConstantOp %uint CompositeExtract %words 1
      %words = OpSpecConstantOp %uint8 Bitcast %longs
      %uint8 = OpTypeVector %uint 8
      %longs = OpConstantComposite %ulong4 %l0 %l0 %l0 %l0
      %ulong4 = OpTypeVector %ulong 4
      %l0 = OpConstant %ulong 171798691840
      %numbers = OpConstantComposite %uint4 %c3 %late %c7 %late
      %late = OpConstant %uint 40
    )"},
                    {1, 2}),
            (Numbers{1 + 7 + 47, 2 + 7 + 47}));
}

// Other languages' names have characters that linkers and assemblers make something else of.
TEST_F(SpirvProducers, KernelsHaveAnyName) {
  const char* const names[] = {"k@x", "a b",   "\u00e4\u20ac", "add<int, 4>(float*)",
                               "$1",  "x.y-z", "\\\""};
  for (const char* name : names) {
    std::string quoted;
    for (const char character : std::string(name)) {
      if (character == '"' || character == '\\') quoted += '\\';
      quoted += character;
    }
    const OwnedProgram program =
        built({.body = R"(
        %sum = OpFunctionCall %uint %f %v
        %more = OpLoad %uint %seven
        %r = OpIAdd %uint %sum %more
      )",
               .declarations = R"(
        %seven = OpVariable %global_uint CrossWorkgroup %c7
        %unary = OpTypeFunction %uint %uint
      )",
               .decorations = "OpDecorate %f LinkageAttributes \"f" + quoted +
                              "\" Export\n"
                              "OpDecorate %seven LinkageAttributes \"s" +
                              quoted + "\" Export\n",
               .functions = R"(
        %f = OpFunction %uint DontInline %unary
        %x = OpFunctionParameter %uint
        %f_start = OpLabel
        %f_sum = OpIAdd %uint %x %x
        OpReturnValue %f_sum
        OpFunctionEnd
      )",
               .entries = "OpEntryPoint Kernel %k \"" + quoted + "\" %global_id\n"});
    EXPECT_EQ(outputOf(program, {1, 2, 3}, name), (Numbers{9, 11, 13})) << name;
  }
}

}  // namespace
}  // namespace weft::e2e
