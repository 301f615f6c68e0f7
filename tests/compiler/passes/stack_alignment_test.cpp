// Functions whose vectors have to leave their registers.
#include "compiler/passes/stack_alignment.h"

#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/SourceMgr.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

// Of a function @f with this code: bytes, 0 as the ABI has it.
uint64_t alignment(const std::string& code) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(
      "declare void @other()\ndefine void @f(ptr %p, i64 %n) {\n" + code + "}\n", problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str();
    return 0;
  }
  compiler::alignStacks(*module, hostMachine());
  return module->getFunction("f")->getFnStackAlign().valueOrOne().value() - 1;
}

// A loop that carries so many vectors and does this, too.
std::string loop(unsigned vectors, const std::string& more) {
  std::string phis, sums, stores;
  for (unsigned i = 0; i < vectors; ++i) {
    const std::string n = std::to_string(i);
    phis += "%x" + n + " = phi <8 x float> [ zeroinitializer, %entry ], [ %y" + n + ", %loop ]\n";
    sums += "%y" + n + " = fadd <8 x float> %x" + n + ", splat (float 1.0)\n";
    stores += "store <8 x float> %y" + n + ", ptr %p\n";
  }
  return "entry:\n br label %loop\nloop:\n %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n" + phis +
         sums + more + "%j = add i64 %i, 1\n%c = icmp ult i64 %j, %n\n" +
         "br i1 %c, label %loop, label %end\nend:\n" + stores + "ret void\n";
}

bool hasLongVectors() {
  return hostMachine().getTargetTriple().isX86() &&
         hostMachine().getMCSubtargetInfo()->checkFeatures("+avx2");
}

TEST(StackAlignment, OfWhatHasMoreVectorsThanRegisters) {
  if (!hasLongVectors()) GTEST_SKIP() << "vectors are no longer than the stack is aligned";
  EXPECT_GE(alignment(loop(40, "")), 31u);
  EXPECT_EQ(alignment(loop(3, "")), 0u);
}

TEST(StackAlignment, OfLoopsThatCallWhileTheyHaveVectors) {
  if (!hasLongVectors()) GTEST_SKIP() << "vectors are no longer than the stack is aligned";
  EXPECT_GE(alignment(loop(3, "call void @other()\n")), 31u);
  EXPECT_EQ(alignment(loop(0, "call void @other()\n")), 0u);
  // Once is not often.
  EXPECT_EQ(alignment("%x = load <8 x float>, ptr %p\ncall void @other()\n"
                      "store <8 x float> %x, ptr %p\nret void\n"),
            0u);
}

// As short as registers of the ABI.
TEST(StackAlignment, NotOfShortVectors) {
  std::string code = loop(40, "call void @other()\n");
  for (size_t at = 0; (at = code.find("<8 x", at)) != std::string::npos;)
    code.replace(at, 4, "<4 x");
  EXPECT_EQ(alignment(code), 0u);
}

}  // namespace
}  // namespace weft::test
