// Functions with very many loops, which are rotated before LLVM's loop passes run.
#include <gtest/gtest.h>

#include "tests/compiler/passes/kernel_jit.h"

namespace weft::test {
namespace {

using compiler::Vectorising;

// Loops one behind the other and one in the other, most of which are tested before their first
// turn; some are left in the middle, some are never entered.
std::string manyLoops(int count) {
  std::string text =
      "kernel void many(global int* out, int n) {\n"
      "  const int id = get_global_id(0);\n"
      "  int x = id;\n"
      "  for (int turn = 0; turn < n; ++turn) {\n";
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    text += "    for (int a = 0; a < (x + " + number + ") % 5; ++a) {\n      x += out[id] + a;\n";
    if (i % 3 == 0) text += "      for (int b = a; b < n && x % 7 != 3; b += 2) x = 3 * x + b;\n";
    if (i % 4 == 1) text += "      if (x % 11 == " + std::to_string(i % 11) + ") break;\n";
    text += "    }\n";
  }
  return text + "  }\n  out[id] = x;\n}\n";
}

TEST(LoopRotation, OfVeryManyLoopsKeepsTheirTurns) {
  constexpr uint64_t size = 64;
  const std::string source = manyLoops(120);
  const auto run = [&](bool optimize, Vectorising vectorise) {
    std::vector<int> out(size);
    for (uint64_t i = 0; i < size; ++i) out[i] = static_cast<int>(i * 37 % 101);
    Program(source, optimize, vectorise)
        .run("many", {1, {size, 1, 1}, {16, 1, 1}, {0, 0, 0}},
             {Program::buffer(out.data()), Program::value(3)});
    return out;
  };
  const std::vector<int> want = run(false, Vectorising::never);
  EXPECT_EQ(run(true, Vectorising::never), want);
  EXPECT_EQ(run(true, Vectorising::automatic), want);
}

}  // namespace
}  // namespace weft::test
