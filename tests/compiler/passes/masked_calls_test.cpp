// Calls of functions that have vector forms, in branches that not all lanes take.
#include <regex>

#include <gtest/gtest.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

// The code of the kernel k, where f has a form of four numbers.
std::string loweredText(const std::string& source) {
  llvm::LLVMContext context;
  const auto module = compileOpenCl(context, source);
  llvm::Function& function = *module->getFunction("f");
  auto* const four = llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), 4);
  auto* form = llvm::Function::Create(llvm::FunctionType::get(four, {four}, false),
                                      llvm::Function::ExternalLinkage, "four", *module);
  llvm::appendToCompilerUsed(*module, {form});
  function.addFnAttr(llvm::VFABI::MappingsAttrName, "_ZGV_LLVM_N4v_f(four)");
  auto kernels = describeKernels(*module);
  compiler::LoweringOptions options;
  options.vectorise = compiler::Vectorising::always;
  EXPECT_FALSE(compiler::lowerKernels(*module, hostMachine(), kernels, options));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

const std::regex one_for_others(
    R"(select <\d+ x i1> %\S+, <\d+ x float> %\S+, <\d+ x float> <float 1\.0)");

// What they have may be numbers for which the function takes long.
TEST(MaskedCalls, AskForOneInLanesThatDoNotRun) {
  const std::string text = loweredText(
      "__attribute__((const)) float f(float);\n"
      "kernel void k(global const float* in, global float* out) {\n"
      "  size_t i = get_global_id(0); float x = in[i];\n"
      "  if (x < 3) out[i] = f(x); else out[i] = x * x; }\n");
  EXPECT_TRUE(std::regex_search(text, std::regex("call <4 x float> @four")));
  EXPECT_TRUE(std::regex_search(text, one_for_others)) << text;
}

// Only rows that fill no vector are masked then.
TEST(MaskedCalls, TakeWhatThereIsWhereAllRun) {
  const std::string text = loweredText(
      "__attribute__((const)) float f(float);\n"
      "kernel void k(global const float* in, global float* out) {\n"
      "  size_t i = get_global_id(0); out[i] = f(in[i]); }\n");
  bool any = false;
  llvm::SmallVector<llvm::StringRef> functions;
  llvm::StringRef(text).split(functions, "\ndefine ");
  for (const llvm::StringRef function : functions)
    any |= function.contains("call <4 x float> @four") &&
           !std::regex_search(function.str(), one_for_others);
  EXPECT_TRUE(any) << text;
}

}  // namespace
}  // namespace weft::test
