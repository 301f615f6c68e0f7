// The code of numbers of 64 bits that a kernel handles as pairs of 32-bit words.
#include "compiler/passes/word_pairs.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

TEST(WordPairs, AreRotatedAsNumbers) {
  llvm::LLVMContext context;
  const auto module = compileOpenCl(context, R"(
    uint2 left(uint2 x, uint n) {
      return (uint2)(x.x << n | x.y >> (32 - n), x.y << n | x.x >> (32 - n));
    }
    uint2 leftFar(uint2 x, uint n) {
      return (uint2)(x.y << (n - 32) ^ x.x >> (64 - n), x.x << (n - 32) ^ x.y >> (64 - n));
    }
    ulong words(uint low, uint high, uint n) {
      return (ulong)(high << n | low >> (32 - n)) << 32 | (low << n | high >> (32 - n));
    }
    kernel void k(global ulong* p) {
      ulong a = p[0], b = p[1];
      a = as_ulong(left(as_uint2(a) ^ as_uint2(b), 7)) + b;
      b = as_ulong(leftFar(as_uint2(a) ^ as_uint2(b).yx, 40)) + a;
      a = as_ulong((as_uint2(a) >> 12) | (as_uint2(a).yx << 20)) + b;
      p[0] = words(a, a >> 32, 3);
    })");
  optimise(*module, hostMachine());
  llvm::Function& kernel = *module->getFunction("k");
  const auto printed = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << kernel;
    return text;
  };
  ASSERT_NE(printed().find("i32 @llvm.fshl"), std::string::npos) << printed();
  compiler::joinWordPairs(kernel);
  const std::string text = printed();
  EXPECT_EQ(text.find("i32 "), std::string::npos) << text;
  EXPECT_NE(text.find("i64 @llvm.fshl"), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::test
