#include "compiler/passes/invariant_divisions.h"

#include "tests/compiler/passes/function_passes.h"

namespace weft::test {
namespace {

// A loop that divides under a condition.
std::string hoisted(const std::string& divide) {
  return passed(
      "define void @f(ptr %p, i32 %x, i32 %n, i32 %turns) {\n"
      "entry:\n  br label %loop\n"
      "loop:\n  %i = phi i32 [ 0, %entry ], [ %next, %end ]\n"
      "  %c = trunc i32 %i to i1\n  br i1 %c, label %then, label %end\n"
      "then:\n  " +
          divide +
          "\n"
          "  %a = getelementptr i32, ptr %p, i32 %q\n  store i32 %i, ptr %a\n  br label %end\n"
          "end:\n  %next = add i32 %i, 1\n  %more = icmp ult i32 %next, %turns\n"
          "  br i1 %more, label %loop, label %exit\n"
          "exit:\n  ret void\n}\n",
      compiler::HoistInvariantDivisions());
}

bool isBeforeLoop(const std::string& text, const std::string& operation) {
  return text.find(operation) < text.find("loop:");
}

TEST(InvariantDivisions, AreMadeBeforeTheLoop) {
  const std::string text = hoisted("%q = urem i32 %x, %n");
  EXPECT_TRUE(isBeforeLoop(text, "urem")) << text;
  EXPECT_EQ(count(text, "icmp eq i32"), 1) << text;  // by zero, that is by 1
  EXPECT_EQ(count(text, "i32 1, i32"), 1) << text;
  const std::string least = hoisted("%q = sdiv exact i32 %x, %n");
  EXPECT_TRUE(isBeforeLoop(least, "sdiv i32")) << least;
  EXPECT_EQ(count(least, "icmp eq i32"), 3) << least;
}

TEST(InvariantDivisions, OthersStay) {
  for (const std::string divide : {"%q = urem i32 %i, %n", "%q = sdiv i32 %x, %i"}) {
    const std::string text = hoisted(divide);
    EXPECT_FALSE(isBeforeLoop(text, divide)) << text;
    EXPECT_EQ(count(text, divide), 1) << text;
  }
}

}  // namespace
}  // namespace weft::test
