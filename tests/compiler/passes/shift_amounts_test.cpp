// Amounts of vectors' shifts that are as large as their elements or larger.
#include "compiler/passes/shift_amounts.h"

#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace weft::test {
namespace {

std::string bounded(const std::string& shift) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::string source =
      "define void @f(<4 x i32> %x, <4 x i32> %y, i32 %n) {\n  %s = " + shift + "\n  ret void\n}";
  const auto module = llvm::parseAssemblyString(source, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str();
    return {};
  }
  compiler::boundShiftAmounts(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->getFunction("f")->front().front().print(stream);
  return text.substr(text.find("= ") + 2);
}

TEST(ShiftAmounts, AreWithinTheElements) {
  EXPECT_EQ(bounded("ashr <4 x i32> %x, <i32 19, i32 255, i32 32, i32 31>"),
            "ashr <4 x i32> %x, <i32 19, i32 0, i32 0, i32 31>");
  EXPECT_EQ(bounded("shl <4 x i32> %x, <i32 -1, i32 1, i32 poison, i32 2>"),
            "shl <4 x i32> %x, <i32 0, i32 1, i32 poison, i32 2>");
  EXPECT_EQ(bounded("lshr <4 x i32> %x, splat (i32 40)"), "lshr <4 x i32> %x, zeroinitializer");
}

TEST(ShiftAmounts, OthersStay) {
  for (const std::string shift :
       {"ashr <4 x i32> %x, <i32 19, i32 0, i32 5, i32 31>", "shl <4 x i32> %x, %y",
        "shl i32 %n, 5", "add <4 x i32> %x, <i32 19, i32 255, i32 32, i32 31>"})
    EXPECT_EQ(bounded(shift), shift);
}

}  // namespace
}  // namespace weft::test
