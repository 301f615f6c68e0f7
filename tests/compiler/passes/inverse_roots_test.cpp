#include "compiler/passes/inverse_roots.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include "tests/compiler/passes/function_passes.h"

namespace weft::test {
namespace {

std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context, const std::string& source) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(source + "!0 = !{float 2.5}\n", problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  return module;
}

std::string text(const llvm::Module& module) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  EXPECT_FALSE(llvm::verifyModule(module, &stream));
  module.print(stream, nullptr);
  return result;
}

// Null where LLVM is without x86.
std::unique_ptr<llvm::TargetMachine> machine(const char* features) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  std::string error;
  const char* const triple = "x86_64-unknown-linux-gnu";
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::TargetMachine>(
      target ? target->createTargetMachine(triple, "x86-64", features, {}, llvm::Reloc::PIC_)
             : nullptr);
}

// What becomes of 1 / sqrt(x), both marked as given.
std::string estimated(const std::string& type, const std::string& one,
                      const char* features = "+avx512f,+avx512vl",
                      const char* root_mark = ", !fpmath !0",
                      const char* quotient_mark = ", !fpmath !0", const std::string& more = {}) {
  llvm::LLVMContext context;
  const std::string suffix =
      type == "float" ? "f32" : "v" + type.substr(1, type.find(' ') - 1) + "f32";
  const auto module = parse(
      context, "declare " + type + " @llvm.sqrt." + suffix + "(" + type + ")\ndefine " + type +
                   " @f(" + type + " %x, ptr %p) {\n" + "  %r = call " + type + " @llvm.sqrt." +
                   suffix + "(" + type + " %x)" + root_mark + "\n  %q = fdiv " + type + " " + one +
                   ", %r" + quotient_mark + "\n" + more + "  ret " + type + " %q\n}\n");
  const auto target = machine(features);
  if (!module || !target) return {};
  compiler::allowEstimates(*module);
  compiler::estimateInverseRoots(*module, *target);
  return text(*module);
}

TEST(InverseRoots, AreEstimatedInAllWidths) {
  if (!machine("")) GTEST_SKIP() << "no x86";
  const auto check = [](const std::string& type, const char* instruction, size_t times) {
    const std::string code = estimated(type, type == "float" ? "1.0" : "splat (float 1.0)");
    EXPECT_EQ(count(code, std::string("call ") + instruction), times) << code;
    EXPECT_EQ(count(code, "fdiv"), 0u) << code;
    EXPECT_EQ(count(code, "= call " + type + " @llvm.sqrt"), 0u) << code;
  };
  const char* const four = "<4 x float> @llvm.x86.avx512.rsqrt14.ps.128";
  const char* const eight = "<8 x float> @llvm.x86.avx512.rsqrt14.ps.256";
  const char* const sixteen = "<16 x float> @llvm.x86.avx512.rsqrt14.ps.512";
  check("float", four, 1);
  check("<2 x float>", four, 1);
  check("<3 x float>", four, 1);
  check("<4 x float>", four, 1);
  check("<6 x float>", eight, 1);
  check("<8 x float>", eight, 1);
  check("<16 x float>", sixteen, 1);
  check("<24 x float>", sixteen, 2);
  check("<64 x float>", sixteen, 4);
}

TEST(InverseRoots, StayWhereTheyHaveToBeExact) {
  if (!machine("")) GTEST_SKIP() << "no x86";
  const char* const all = "+avx512f,+avx512vl";
  const char* const mark = ", !fpmath !0";
  const auto stays = [](const std::string& code) { return count(code, "fdiv") == 1; };
  EXPECT_FALSE(stays(estimated("float", "1.0")));
  EXPECT_TRUE(stays(estimated("float", "1.0", all, "", mark)));
  EXPECT_TRUE(stays(estimated("float", "1.0", all, mark, "")));
  EXPECT_TRUE(stays(estimated("float", "2.0")));
  EXPECT_TRUE(stays(estimated("<2 x float>", "<float 1.0, float 2.0>")));
  // Without the instructions in all widths.
  EXPECT_TRUE(stays(estimated("float", "1.0", "+avx2")));
  EXPECT_TRUE(stays(estimated("<16 x float>", "splat (float 1.0)", "+avx512f")));
  // The root itself is wanted.
  EXPECT_TRUE(stays(estimated("float", "1.0", all, mark, mark, "  store float %r, ptr %p\n")));
}

TEST(InverseRoots, CallsAreMarkedThatNeedNotBeExact) {
  llvm::LLVMContext context;
  const auto module = parse(context,
                            "declare float @_Z4sqrtf(float)\n"
                            "declare double @_Z5rsqrtd(double)\n"
                            "declare <4 x float> @_Z5rsqrtDv4_f(<4 x float>)\n"
                            "declare float @_Z9half_sqrtf(float)\n"
                            "define float @_Z11native_sqrtf(float %x) { ret float %x }\n"
                            "define float @f(float %x, <4 x float> %y, double %z) {\n"
                            "  %a = call float @_Z4sqrtf(float %x)\n"
                            "  %b = call float @_Z4sqrtf(float %x), !fpmath !0\n"
                            "  %c = call <4 x float> @_Z5rsqrtDv4_f(<4 x float> %y)\n"
                            "  %d = call double @_Z5rsqrtd(double %z)\n"
                            "  %e = call float @_Z11native_sqrtf(float %x)\n"
                            "  %g = call float @_Z9half_sqrtf(float %x)\n"
                            "  ret float %a\n}\n");
  compiler::markInverseRoots(*module);
  const std::string code = text(*module);
  EXPECT_EQ(count(code, "call float @_Z4sqrtf(float %x)\n"), 1u) << code;
  EXPECT_EQ(count(code, "call float @llvm.sqrt.f32(float %x), !fpmath"), 2u) << code;
  EXPECT_EQ(count(code, "call <4 x float> @llvm.sqrt.v4f32(<4 x float> %y), !fpmath"), 1u) << code;
  EXPECT_EQ(count(code, "fdiv <4 x float>"), 1u) << code;
  EXPECT_EQ(count(code, "call double @_Z5rsqrtd"), 0u) << code;
  EXPECT_EQ(count(code, "fdiv double 1.0"), 1u) << code;
  EXPECT_EQ(count(code, "call float @_Z11native_sqrtf"), 1u) << code;
}

}  // namespace
}  // namespace weft::test
