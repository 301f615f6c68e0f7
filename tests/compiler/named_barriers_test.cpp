// What GPUs' code has for named barriers.
#include <spirv-tools/libspirv.hpp>

#include "tests/compiler/fixture.h"

namespace weft {
namespace {

using test::contains;
using test::count;
using test::output;

class NamedBarriersTest : public test::CompilerTest {
 protected:
  port::CompileResult build(const std::string& assembly, const port::Target& target) {
    std::vector<uint32_t> words;
    EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_2).Assemble(assembly, &words)) << assembly;
    port::CompileRequest made =
        request({reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)}, "");
    made.intermediate = true;
    made.target = target;
    made.features.extensions.emplace_back("cl_khr_subgroup_named_barrier");
    made.features.feature_macros.emplace_back("__opencl_c_subgroups");
    return compiler().build(made);
  }
  std::string payload(const std::string& assembly, const port::Target& target) {
    const auto result = build(assembly, target);
    EXPECT_TRUE(result.ok) << result.log;
    const Image image = readImage(result.image).value_or(Image{});
    return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
  }
};

const port::Target nvidia = {port::TargetKind::nvptx, "sm_80", ""};

// A kernel with so many barriers, which waits at each; `scope` is SPIR-V's number.
std::string waiting(unsigned barriers, unsigned scope = 2) {
  std::string text = R"(
    OpCapability Addresses
    OpCapability Kernel
    OpCapability SubgroupDispatch
    OpCapability NamedBarrier
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %f "f"
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %barrier_t = OpTypeNamedBarrier
    %zero = OpConstant %uint 0
    %three = OpConstant %uint 3
    %order = OpConstant %uint 0x108
    %scope = OpConstant %uint )" +
                     std::to_string(scope) + R"(
    %signature = OpTypeFunction %void %uint
    %f = OpFunction %void None %signature
    %x = OpFunctionParameter %uint
    %start = OpLabel
  )";
  for (unsigned i = 0; i < barriers; ++i)
    text += "%b" + std::to_string(i) + " = OpNamedBarrierInitialize %barrier_t %three\n";
  for (unsigned i = 0; i < barriers; ++i)
    text += "OpMemoryNamedBarrier %b" + std::to_string(i) + " %scope %order\n";
  return text;
}
const std::string end = "OpReturn\nOpFunctionEnd\n";

TEST_F(NamedBarriersTest, AreTheHardwaresOnNvidia) {
  const std::string text = payload(waiting(2) + end, nvidia);
  EXPECT_EQ(count(text, "barrier.sync \t1, %r"), 1) << text;
  EXPECT_EQ(count(text, "barrier.sync \t2, %r"), 1) << text;
  EXPECT_EQ(count(text, "shl.b32"), 2) << "warps into threads:" << text;
  EXPECT_EQ(count(text, "membar"), 0) << text;
  EXPECT_EQ(count(text, "bar.sync \t0;"), 4) << "two at each beginning:" << text;
}

TEST_F(NamedBarriersTest, OrderMoreThanTheGroupsMemoryIfAsked) {
  constexpr unsigned device_scope = 1;
  const std::string text = payload(waiting(1, device_scope) + end, nvidia);
  EXPECT_EQ(count(text, "membar.gl"), 2) << text;
}

// Which it is, is known when the kernel runs.
TEST_F(NamedBarriersTest, MayBeChosen) {
  const std::string text = payload(waiting(2) + R"(
    %is_zero = OpIEqual %bool %x %zero
    OpSelectionMerge %join None
    OpBranchConditional %is_zero %then %else
    %then = OpLabel
    OpBranch %join
    %else = OpLabel
    OpBranch %join
    %join = OpLabel
    %chosen = OpPhi %barrier_t %b0 %then %b1 %else
    OpMemoryNamedBarrier %chosen %scope %order
  )" + end,
                                   nvidia);
  EXPECT_EQ(count(text, "barrier.sync \t%r"), 1) << text;
}

TEST_F(NamedBarriersTest, AreNoMoreThanTheHardwareHas) {
  EXPECT_EQ(count(payload(waiting(15) + end, nvidia), "barrier.sync \t15, "), 1);
  const auto result = build(waiting(16) + end, nvidia);
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains(result.log, "kernel 'f': the device has no more than 15 named barriers"))
      << result.log;
}

// Whose waves count themselves, and sleep meanwhile.
TEST_F(NamedBarriersTest, AreCountedOnAmd) {
  for (const char* cpu : {"gfx1030", "gfx1100", "gfx1201"}) {
    SCOPED_TRACE(cpu);
    const std::string path =
        write("code", payload(waiting(2) + end, {port::TargetKind::amdgcn, cpu, ""}));
    const std::string code = output(WEFT_OBJDUMP " -d --mcpu=" + std::string(cpu) + " " + path);
    EXPECT_EQ(count(code, "s_sleep 1"), 2) << code;
    EXPECT_EQ(count(code, "ds_add_rtn_u32"), 2) << code;
    const std::string symbols = output(WEFT_READELF " --dyn-symbols " + path);
    EXPECT_EQ(count(symbols, " UND "), 1) << "the first, which is none:" << symbols;
  }
}

}  // namespace
}  // namespace weft
