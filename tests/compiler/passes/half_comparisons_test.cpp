// Comparisons of vectors of halves for processors that have instructions for them.
#include "compiler/passes/half_comparisons.h"

#include <string>

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

namespace weft::test {
namespace {

std::string compared(const std::string& comparison, const char* features = "+avx512fp16") {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  std::string text;
  const char* const triple = "x86_64-unknown-linux-gnu";
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, text);
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64", features, {}, llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::string source =
      "define void @f(<8 x half> %x, <8 x half> %y, half %a, half %b, <8 x float> %z) {\n"
      "  %s = " +
      comparison + "\n  ret void\n}";
  const auto module = llvm::parseAssemblyString(source, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str();
    return {};
  }
  compiler::compareHalvesAsFloats(*module, *machine);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  text.clear();
  llvm::raw_string_ostream stream(text);
  module->getFunction("f")->front().getTerminator()->getPrevNode()->print(stream);
  return text.substr(text.find("= ") + 2);
}

TEST(HalfComparisons, ThatSayWhichIsLessAreOfFloats) {
  for (const std::string predicate : {"olt", "ole", "ogt", "oge", "ult", "ule", "ugt", "uge"})
    EXPECT_EQ(compared("fcmp " + predicate + " <8 x half> %x, %y"),
              "fcmp " + predicate + " <8 x float> %1, %2");
  EXPECT_EQ(compared("fcmp nnan olt <8 x half> %x, zeroinitializer"),
            "fcmp nnan olt <8 x float> %1, zeroinitializer");
}

TEST(HalfComparisons, OthersStay) {
  for (const std::string comparison :
       {"fcmp oeq <8 x half> %x, %y", "fcmp une <8 x half> %x, %y", "fcmp uno <8 x half> %x, %y",
        "fcmp olt half %a, %b", "fcmp olt <8 x float> %z, %z"})
    EXPECT_EQ(compared(comparison), comparison);
  EXPECT_EQ(compared("fcmp olt <8 x half> %x, %y", "+avx512f"), "fcmp olt <8 x half> %x, %y");
}

}  // namespace
}  // namespace weft::test
