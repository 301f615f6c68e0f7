// Local memory and global memory are told apart.
#include <gtest/gtest.h>

#include <regex>

#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>

#include "compiler/passes/analyses.h"
#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

TEST(SpaceAliases, OfPointersToTheSpaces) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      "define void @f(ptr %private, ptr addrspace(1) %global, ptr addrspace(2) %constant,"
      " ptr addrspace(3) %local, ptr addrspace(4) %generic) { ret void }",
      diagnostic, context);
  ASSERT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function& function = *module->getFunction("f");
  compiler::Analyses analyses(hostMachine());
  auto& aliases = analyses.functions.getResult<llvm::AAManager>(function);
  for (unsigned a = 0; a < function.arg_size(); ++a)
    for (unsigned b = 0; b < a; ++b)
      EXPECT_EQ(aliases.isNoAlias(function.getArg(a), function.getArg(b)), a == 3 && b == 1)
          << a << " and " << b;
}

// A sum in global memory, in places that are not one behind the other, of what local memory has: it
// stays in a register as long as the loop runs.
TEST(SpaceAliases, KeepSumsInRegisters) {
  const std::string text = optimisedText(
      "kernel void sum(global float* out, local float* in, int n) {\n"
      "  for (int i = 0; i < n; ++i) out[4 * get_global_id(0)] += in[i];\n"
      "}\n",
      "sum", compiler::Vectorising::always);
  EXPECT_TRUE(std::regex_search(text, std::regex("phi <\\d+ x float>"))) << text;
}

}  // namespace
}  // namespace weft::test
