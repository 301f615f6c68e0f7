// Programs that come as SPIR-V: what code is made of them.
#include <spirv-tools/libspirv.hpp>

#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;

class SpirvSource : public test::CompilerTest {
 protected:
  std::string ptx(const std::string& assembly, const std::string& options) {
    std::vector<uint32_t> words;
    EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_2).Assemble(assembly, &words));
    port::CompileRequest made = request(
        {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)}, options);
    made.intermediate = true;
    made.target = {port::TargetKind::nvptx, "sm_80", ""};
    const auto result = compiler().build(made);
    EXPECT_TRUE(result.ok) << result.log;
    const Image image = readImage(result.image).value_or(Image{});
    return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
  }
};

// As those of OpenCL C are: a program in either language gives the same numbers.
TEST_F(SpirvSource, DivisionsAndRootsAreAsExactAsTheProgramAsks) {
  const std::string module = R"(
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpCapability Float64
    %std = OpExtInstImport "OpenCL.std"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f "f"
    %void = OpTypeVoid
    %float = OpTypeFloat 32
    %double = OpTypeFloat 64
    %floats = OpTypePointer CrossWorkgroup %float
    %doubles = OpTypePointer CrossWorkgroup %double
    %signature = OpTypeFunction %void %floats %doubles
    %f = OpFunction %void None %signature
    %a = OpFunctionParameter %floats
    %b = OpFunctionParameter %doubles
    %start = OpLabel
    %x = OpLoad %float %a Aligned 4
    %b_float = OpBitcast %floats %b
    %z = OpLoad %float %b_float Aligned 4
    %root = OpExtInst %float %std sqrt %x
    %quotient = OpFDiv %float %root %z
    OpStore %a %quotient Aligned 4
    %y = OpLoad %double %b Aligned 8
    %square = OpFMul %double %y %y
    %other = OpFDiv %double %square %y
    OpStore %b %other Aligned 8
    OpReturn
    OpFunctionEnd
  )";
  const std::string usual = ptx(module, "");
  EXPECT_TRUE(contains(usual, "div.full.f32") && contains(usual, "sqrt.approx.f32")) << usual;
  EXPECT_TRUE(contains(usual, "div.rn.f64")) << "doubles are exact: " << usual;
  const std::string exact = ptx(module, "-cl-fp32-correctly-rounded-divide-sqrt");
  EXPECT_TRUE(contains(exact, "div.rn.f32") && contains(exact, "sqrt.rn.f32")) << exact;
}

}  // namespace
}  // namespace weft
