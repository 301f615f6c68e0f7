#include "compiler/passes/wide_products.h"

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

constexpr char halves[] = R"(
define <8 x i32> @f(<8 x i32> %a, <8 x i32> %b) {
  %wide.a = zext <8 x i32> %a to <8 x i64>
  %wide.b = zext <8 x i32> %b to <8 x i64>
  %low = mul <8 x i32> %b, %a
  %product = mul nuw <8 x i64> %wide.a, %wide.b
  %shifted = lshr <8 x i64> %product, splat (i64 32)
  %high = trunc nuw <8 x i64> %shifted to <8 x i32>
  %result = xor <8 x i32> %high, %low
  ret <8 x i32> %result
})";

constexpr char upper[] = R"(
define <8 x i32> @f(<8 x i32> %a) {
  %wide.a = zext <8 x i32> %a to <8 x i64>
  %other = mul <8 x i32> %a, splat (i32 5)
  %product = mul nuw <8 x i64> %wide.a, splat (i64 4294967291)
  %shifted = lshr <8 x i64> %product, splat (i64 32)
  %high = trunc nuw <8 x i64> %shifted to <8 x i32>
  %result = xor <8 x i32> %high, %other
  ret <8 x i32> %result
})";

int productsOf32Bits(const char* source) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(source, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getMessage().str();
    return -1;
  }
  compiler::shareWideProducts(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  return static_cast<int>(llvm::count_if(
      llvm::instructions(*module->getFunction("f")), [](const llvm::Instruction& instruction) {
        return instruction.getOpcode() == llvm::Instruction::Mul &&
               instruction.getType()->getScalarSizeInBits() == 32;
      }));
}

TEST(WideProducts, LowerHalvesAreTakenFromWholeProducts) { EXPECT_EQ(productsOf32Bits(halves), 0); }

TEST(WideProducts, OtherProductsStay) { EXPECT_EQ(productsOf32Bits(upper), 1); }

}  // namespace
}  // namespace weft::test
