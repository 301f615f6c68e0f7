// The order of terms in sums of vectors.
#include "compiler/passes/sum_order.h"

#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace weft::test {
namespace {

// The sums of `code`, one a line, without their types.
std::string ordered(const std::string& code) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::string source =
      "define <4 x i32> @f(<4 x i32> %x, <4 x i32> %y, <4 x i32> %z) {\n" + code + "\n}";
  const auto module = llvm::parseAssemblyString(source, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str();
    return {};
  }
  compiler::addLateTermsLast(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f")))
    if (instruction.getOpcode() == llvm::Instruction::Add) {
      instruction.getOperand(0)->printAsOperand(stream, false);
      stream << " + ";
      instruction.getOperand(1)->printAsOperand(stream, false);
      stream << '\n';
    }
  return text;
}

TEST(SumOrder, WhatIsThereLastIsAddedLast) {
  EXPECT_EQ(ordered("%late = xor <4 x i32> %x, %y\n"
                    "%a = add <4 x i32> %late, %z\n"
                    "%sum = add <4 x i32> %a, <i32 7, i32 7, i32 7, i32 7>\n"
                    "ret <4 x i32> %sum"),
            "%z + %1\n%late + %2\n");
}

TEST(SumOrder, TermsThatAreUsedElsewhereAndEqualOnesStay) {
  EXPECT_EQ(ordered("%late = xor <4 x i32> %x, %y\n"
                    "%a = add <4 x i32> %late, %z\n"
                    "%sum = add <4 x i32> %a, <i32 7, i32 7, i32 7, i32 7>\n"
                    "%both = xor <4 x i32> %sum, %a\n"
                    "ret <4 x i32> %both"),
            "%late + %z\n%a + <i32 7, i32 7, i32 7, i32 7>\n");
  EXPECT_EQ(ordered("%a = add <4 x i32> %x, %y\n"
                    "%sum = add <4 x i32> %a, %z\n"
                    "ret <4 x i32> %sum"),
            "%x + %y\n%a + %z\n");
}

TEST(SumOrder, LongSumsAreHalvedAgainAndAgain) {
  EXPECT_EQ(ordered("%a = add <4 x i32> %x, %y\n"
                    "%b = add <4 x i32> %a, %z\n"
                    "%sum = add <4 x i32> %b, <i32 9, i32 9, i32 9, i32 9>\n"
                    "ret <4 x i32> %sum"),
            "%x + %y\n%z + %2\n%1 + %3\n");
}

}  // namespace
}  // namespace weft::test
