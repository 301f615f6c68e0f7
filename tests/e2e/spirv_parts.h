// Modules in SPIR-V's assembly language around a few lines that a test is about.
#pragma once

#include "tests/e2e/spirv_text.h"

namespace weft::e2e {

// The parts of a module with a kernel %k that turns each number %v of a buffer into %r.
struct Parts {
  std::string body;
  std::string declarations{};
  std::string decorations{};
  std::string functions{};  // before the kernel
  std::string variables{};  // of the kernel
  std::string entries = "OpEntryPoint Kernel %k \"k\" %global_id\n";
  std::string capabilities{};  // and extensions
  std::string sets{};
};

inline std::string moduleOf(const Parts& parts) {
  return R"(
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpCapability Int64
    OpCapability Int16
    OpCapability Int8
    OpCapability GenericPointer
  )" + parts.capabilities +
         "%std = OpExtInstImport \"OpenCL.std\"\n" + parts.sets +
         "OpMemoryModel Physical64 OpenCL\n" + parts.entries +
         "OpDecorate %global_id BuiltIn GlobalInvocationId\n" + parts.decorations + R"(
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uchar = OpTypeInt 8 0
    %ushort = OpTypeInt 16 0
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    %float = OpTypeFloat 32
    %uint2 = OpTypeVector %uint 2
    %uint3 = OpTypeVector %uint 3
    %uint4 = OpTypeVector %uint 4
    %bool4 = OpTypeVector %bool 4
    %ulong3 = OpTypeVector %ulong 3
    %global_uint = OpTypePointer CrossWorkgroup %uint
    %own_uint = OpTypePointer Function %uint
    %generic_uint = OpTypePointer Generic %uint
    %input_ulong3 = OpTypePointer Input %ulong3
    %c0 = OpConstant %uint 0
    %c1 = OpConstant %uint 1
    %c2 = OpConstant %uint 2
    %c3 = OpConstant %uint 3
    %c5 = OpConstant %uint 5
    %c7 = OpConstant %uint 7
    %c100 = OpConstant %uint 100
    %f0 = OpConstant %float 0
    %f1 = OpConstant %float 1
    %signature = OpTypeFunction %void %global_uint
    %global_id = OpVariable %input_ulong3 Input
  )" + parts.declarations +
         parts.functions + R"(
    %k = OpFunction %void None %signature
    %out = OpFunctionParameter %global_uint
    %start = OpLabel
  )" + parts.variables +
         R"(
    %ids = OpLoad %ulong3 %global_id
    %id = OpCompositeExtract %ulong %ids 0
    %place = OpInBoundsPtrAccessChain %global_uint %out %id
    %v = OpLoad %uint %place Aligned 4
  )" + parts.body +
         R"(
    OpStore %place %r Aligned 4
    OpReturn
    OpFunctionEnd
  )";
}

class SpirvParts : public Programs {
 protected:
  using Numbers = std::vector<cl_uint>;

  OwnedProgram built(const Parts& parts) {
    OwnedProgram program = programFromText(context, moduleOf(parts), SPV_ENV_UNIVERSAL_1_4);
    EXPECT_EQ(build(program), CL_SUCCESS) << log(program);
    return program;
  }
  Numbers outputOf(const OwnedProgram& program, const Numbers& numbers, const char* name = "k") {
    const OwnedMem data = upload(numbers);
    const OwnedKernel made = kernel(program, name);
    set(made, data);
    run(made, {{numbers.size()}, {}});
    return download<cl_uint>(data);
  }
  Numbers results(const Parts& parts, const Numbers& numbers) {
    return outputOf(built(parts), numbers);
  }
};

}  // namespace weft::e2e
