#include "compiler/passes/clamped_sums.h"

#include "tests/compiler/passes/function_passes.h"

namespace weft::test {
namespace {

std::string clamped(const std::string& body, const std::string& type = "i32") {
  return passed("define " + type + " @f(" + type + " %x, " + type + " %n, ptr %p) {\n" + body +
                    "\n}\n" +
                    "declare i32 @llvm.smax.i32(i32, i32)\n"
                    "declare i32 @llvm.smin.i32(i32, i32)\n"
                    "declare i32 @llvm.umax.i32(i32, i32)\n"
                    "declare <4 x i32> @llvm.smax.v4i32(<4 x i32>, <4 x i32>)\n",
                compiler::ClampBeforeAdding());
}

TEST(ClampedSums, AreClampedBeforeTheyAreAdded) {
  const std::string text =
      clamped("%a = add nsw i32 %x, 2\n %c = call i32 @llvm.smax.i32(i32 %a, i32 0)\n ret i32 %c");
  EXPECT_EQ(count(text, "llvm.smax.i32(i32 %x, i32 -2)"), 1) << text;
  EXPECT_EQ(count(text, "add nsw i32"), 1) << text;
  EXPECT_EQ(count(text, ", 2\n"), 1) << text;
  const std::string vectors = clamped(
      "%a = add nsw <4 x i32> %x, splat (i32 -3)\n"
      "%c = call <4 x i32> @llvm.smax.v4i32(<4 x i32> %a, <4 x i32> zeroinitializer)\n"
      "ret <4 x i32> %c",
      "<4 x i32>");
  EXPECT_EQ(count(vectors, "(<4 x i32> %x, <4 x i32> <i32 3, i32 3, i32 3, i32 3>)"), 1) << vectors;
}

// x - 4 + 5, x + 1 and 1 more than x clamped to -1 are one value, and one load.
TEST(ClampedSums, OfSeveralTurnsAreOne) {
  const std::string text = clamped(
      "%a = add nsw i32 %x, -4\n %b = add nsw i32 %a, 5\n"
      "%c = call i32 @llvm.smax.i32(i32 %b, i32 0)\n %d = call i32 @llvm.smin.i32(i32 %c, i32 %n)\n"
      "%e = add nsw i32 %x, 1\n"
      "%g = call i32 @llvm.smax.i32(i32 %e, i32 0)\n %h = call i32 @llvm.smin.i32(i32 %g, i32 %n)\n"
      "%i = call i32 @llvm.smax.i32(i32 %x, i32 -1)\n %j = add nsw i32 %i, 1\n"
      "%k = call i32 @llvm.smin.i32(i32 %j, i32 %n)\n"
      "%p1 = getelementptr i32, ptr %p, i32 %d\n %v1 = load i32, ptr %p1\n"
      "%p2 = getelementptr i32, ptr %p, i32 %h\n %v2 = load i32, ptr %p2\n"
      "%p3 = getelementptr i32, ptr %p, i32 %k\n %v3 = load i32, ptr %p3\n"
      "%s = add i32 %v1, %v2\n %t = add i32 %s, %v3\n ret i32 %t");
  EXPECT_EQ(count(text, "call i32 @llvm.smax"), 1) << text;
  EXPECT_EQ(count(text, "call i32 @llvm.smin"), 1) << text;
  EXPECT_EQ(count(text, "= load"), 1) << text;
}

TEST(ClampedSums, ThatMayOverflowStay) {
  for (const std::string body :
       {"%a = add i32 %x, 2\n %c = call i32 @llvm.smax.i32(i32 %a, i32 0)\n ret i32 %c",
        "%a = add nsw i32 %x, 2\n %c = call i32 @llvm.umax.i32(i32 %a, i32 7)\n ret i32 %c",
        "%a = add nsw i32 %x, 2\n %c = call i32 @llvm.smax.i32(i32 %a, i32 %n)\n ret i32 %c",
        // The bound before would be less than the least number.
        "%a = add nsw i32 %x, 2\n"
        "%c = call i32 @llvm.smax.i32(i32 %a, i32 -2147483647)\n ret i32 %c"}) {
    const std::string text = clamped(body);
    EXPECT_EQ(count(text, "(i32 %a, "), 1) << text;
  }
}

}  // namespace
}  // namespace weft::test
