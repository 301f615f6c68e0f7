#include "compiler/passes/local_atomics.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

namespace weft::test {
namespace {

constexpr char source[] = R"(
define i32 @f(ptr addrspace(3) %local, ptr addrspace(1) %global) {
  %generic = addrspacecast ptr addrspace(3) %local to ptr addrspace(4)
  %a = atomicrmw add ptr addrspace(3) %local, i32 1 monotonic
  %b = atomicrmw umax ptr addrspace(4) %generic, i32 %a seq_cst
  %c = cmpxchg ptr addrspace(3) %local, i32 %b, i32 7 seq_cst seq_cst
  %d = atomicrmw add ptr addrspace(1) %global, i32 1 monotonic
  %e = cmpxchg ptr addrspace(1) %global, i32 %d, i32 7 seq_cst seq_cst
  %f = extractvalue { i32, i1 } %c, 0
  ret i32 %f
})";

TEST(LocalAtomics, AreLoadsAndStoresAndOthersStay) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(source, problem, context);
  ASSERT_TRUE(module) << problem.getMessage().str();
  const auto count = [&] {
    return llvm::count_if(
        llvm::instructions(*module->getFunction("f")), [](const llvm::Instruction& instruction) {
          return llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction);
        });
  };
  compiler::markLocalAtomics(*module);
  EXPECT_EQ(count(), 5);  // lanes are still to be taken apart
  compiler::lowerLocalAtomics(*module);
  EXPECT_EQ(count(), 2);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
}

}  // namespace
}  // namespace weft::test
