// What gets linked, what is named as missing, which SLEEF symbols a target gets.
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <cmath>

#include "compiler/builtins/builtins.h"
#include "compiler/passes/analyses.h"
#include "tests/compiler/builtins/program.h"

namespace weft::test {
namespace {

TEST(Unresolved, AreNamedAsTheProgramWroteThem) {
  const Program program("missing");
  const std::vector<std::string> expected = {
      "absent(float4, global const uchar2*, local volatile long*)", "undeclared_elsewhere"};
  EXPECT_EQ(program.unresolved(), expected);
}

TEST(Link, OnlyWhatIsCalled) {
  llvm::LLVMContext context;
  const auto module = loadModule("loop", context);
  const size_t own = 3;
  ASSERT_FALSE(compiler::linkBuiltins(*module));
  size_t defined = 0;
  for (const llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    ++defined;
    EXPECT_TRUE(function.hasInternalLinkage() || function.getName() == "sines" ||
                function.getName() == "wide" || function.getName() == "cosines");
  }
  EXPECT_EQ(defined, own + 5) << "sin, pow, exp, log and native_cos";
}

struct Level {
  const char* features;
  std::vector<const char*> wanted;
  std::vector<const char*> unwanted;
};

TEST(VectorMath, SymbolsSuitTheTarget) {
  const Level levels[] = {
      {"+sse2",
       {"Sleef_cinz_sinf1_u35purec", "Sleef_cinz_expf4_u10sse2", "Sleef_cinz_logd2_u10sse2"},
       {"Sleef_finz", "sse4", "avx"}},
      {"+sse4.2",
       {"Sleef_cinz_expf4_u10sse4", "Sleef_cinz_cosf4_u10sse4"},
       {"sse2(", "avx", "cosf4_u35"}},
      {"+avx2,+fma",
       {"__weft_late_sin_float(float", "__weft_inline_exp_float16", "Sleef_finz_logd4_u10avx2",
        "Sleef_finz_cosf4_u35avx2128"},
       {"Sleef_cinz", "avx512", "Sleef_finz_expf"}},
      {"+avx512f,+avx2,+fma",
       {"@__weft_own_pow_float16(", "_ZGV_LLVM_N16v_Sleef_finz_sinf1_u35purecfma",
        "Sleef_finz_sinf16_u35avx512f"},
       {"Sleef_cinz", "Sleef_finz_pow"}},
  };
  for (const Level& level : levels) {
    const Program program("loop", level.features);
    for (const char* wanted : level.wanted)
      EXPECT_NE(program.text().find(wanted), std::string::npos) << level.features << " " << wanted;
    for (const char* unwanted : level.unwanted)
      EXPECT_EQ(program.text().find(unwanted), std::string::npos) << level.features << unwanted;
    EXPECT_EQ(program.text().find("__weft_sleef"), std::string::npos);
  }
}

// Without fused multiply-add too, and with vectors split and padded.
TEST(VectorMath, OldProcessorsGetTheSameValues) {
  const Program program("loop", "+sse2");
  alignas(64) float r[16];
  alignas(64) double d[4] = {1, 10, 0.5, 0};
  for (int i = 0; i < 16; ++i) r[i] = 0.25f * static_cast<float>(i);
  program.get<void(float*, double*)>("wide")(r, d);
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(r[i], std::exp(0.25 * i), 1e-6 * std::exp(0.25 * i));
  EXPECT_DOUBLE_EQ(d[1], std::log(10.0));
  EXPECT_DOUBLE_EQ(d[2], std::log(0.5));
}

// Of the function `sines`, when the loop vectoriser has run.
std::string optimisedSines(llvm::Module& module, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) function.addFnAttr("target-features", "+avx2,+fma");
  compiler::Analyses analyses(machine);
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses.modules);
  std::string text;
  llvm::raw_string_ostream(text) << *module.getFunction("sines");
  return text;
}

TEST(VectorMath, TheLoopVectoriserFindsTheVariants) {
  llvm::LLVMContext context;
  const auto module = loadModule("loop", context);
  const auto machine = makeMachine("+avx2,+fma");
  module->setDataLayout(machine->createDataLayout());
  ASSERT_FALSE(compiler::linkBuiltins(*module));
  ASSERT_FALSE(compiler::addVectorVariants(*module, *machine));
  const std::string text = optimisedSines(*module, *machine);
  EXPECT_NE(text.find("@__weft_late_sin_float8(<8 x float>"), std::string::npos) << text;
  EXPECT_NE(text.find("@__weft_own_pow_float8(<8 x float>"), std::string::npos);
  EXPECT_TRUE(module->getFunction("__weft_late_sin_float8")->isDeclaration());

  auto linked = compiler::linkLateMath(*module, *machine);
  ASSERT_TRUE(linked && *linked);
  llvm::Function* late = module->getFunction("__weft_late_sin_float8");
  ASSERT_FALSE(late->isDeclaration());
  EXPECT_TRUE(late->hasFnAttribute(llvm::Attribute::AlwaysInline));
  EXPECT_TRUE(module->getFunction("Sleef_finz_sinf8_u35avx2")) << "for large arguments";
  EXPECT_TRUE(
      module->getFunction("__weft_own_pow_float8")->hasFnAttribute(llvm::Attribute::NoInline));
}

TEST(VectorMath, NothingIsLinkedLateWithoutNeed) {
  llvm::LLVMContext context;
  const auto module = loadModule("memory", context);
  const auto machine = makeMachine("+avx2,+fma");
  ASSERT_FALSE(compiler::linkBuiltins(*module));
  ASSERT_FALSE(compiler::addVectorVariants(*module, *machine));
  auto linked = compiler::linkLateMath(*module, *machine);
  ASSERT_TRUE(!!linked);
  EXPECT_FALSE(*linked);
}

// What a function of eight doubles calls that the library has for single ones only.
void expectWidened(const std::string& name, llvm::ArrayRef<bool> are_real) {
  llvm::LLVMContext context;
  llvm::Module module("late", context);
  const auto machine = makeMachine("+avx2,+fma");
  module.setDataLayout(machine->createDataLayout());
  auto* result = llvm::FixedVectorType::get(llvm::Type::getDoubleTy(context), 8);
  llvm::SmallVector<llvm::Type*> parameters;
  for (const bool is_real : are_real)
    parameters.push_back(is_real ? result
                                 : llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 8));
  auto* type = llvm::FunctionType::get(result, parameters, false);
  auto* form = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                      "__weft_own_" + name + "_double8", module);
  auto* caller = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "k", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", caller));
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : caller->args()) arguments.push_back(&argument);
  builder.CreateRet(builder.CreateCall(form, arguments));

  auto linked = compiler::linkLateMath(module, *machine);
  ASSERT_TRUE(linked && *linked) << name;
  EXPECT_FALSE(llvm::verifyModule(module)) << name;
  ASSERT_EQ(form->size(), 1u) << name;
  for (const llvm::Instruction& instruction : form->getEntryBlock()) {
    EXPECT_FALSE(llvm::isa<llvm::ExtractElementInst>(instruction)) << name;
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      EXPECT_TRUE(call->getCalledFunction()->isIntrinsic()) << name;
    }
  }
}

// Of a function that calls it so often: how many of the calls are to be inlined?
size_t inlinedCalls(unsigned count) {
  llvm::LLVMContext context;
  llvm::Module module("late", context);
  const auto machine = makeMachine("+avx2,+fma");
  module.setDataLayout(machine->createDataLayout());
  llvm::Type* real = llvm::Type::getDoubleTy(context);
  auto* type = llvm::FunctionType::get(real, {real}, false);
  llvm::FunctionCallee exp = module.getOrInsertFunction("__weft_own_exp_double", type);
  auto* caller = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "k", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", caller));
  llvm::Value* value = caller->getArg(0);
  for (unsigned i = 0; i < count; ++i) value = builder.CreateCall(exp, {value});
  builder.CreateRet(value);
  auto linked = compiler::linkLateMath(module, *machine);
  EXPECT_TRUE(linked && *linked);
  return llvm::count_if(caller->getEntryBlock(), [](const llvm::Instruction& instruction) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->hasFnAttr(llvm::Attribute::AlwaysInline) &&
           !call->getAttributes().hasFnAttr(llvm::Attribute::NoInline);
  });
}

TEST(LateMath, ManyCallsStayCalls) {
  EXPECT_EQ(inlinedCalls(3), 3u);
  EXPECT_EQ(inlinedCalls(100), 0u);
}

TEST(LateMath, ElementsBecomeVectors) {
  for (const char* name : {"acosh", "asinh", "atanh", "cbrt", "cosh", "erf", "erfc", "exp", "exp10",
                           "exp2", "expm1", "log10", "log1p", "log2", "sinh", "sinpi", "tanh"})
    expectWidened(name, {true});
  for (const char* name : {"hypot", "pow", "powr"}) expectWidened(name, {true, true});
  expectWidened("rootn", {true, false});
}

}  // namespace
}  // namespace weft::test
