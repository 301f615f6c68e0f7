#include "compiler/passes/chosen_values.h"
#include "tests/compiler/passes/function_passes.h"

namespace weft::test {
namespace {

std::string chosen(const std::string& source) { return passed(source, compiler::ChooseValues()); }

TEST(ChosenValues, AreSelected) {
  const std::string text = chosen(R"(
    define float @f(i32 %k, float %x, float %y, float %z) {
    entry:
      switch i32 %k, label %other [ i32 0, label %end
                                    i32 1, label %one ]
    one:
      br label %end
    other:
      br label %end
    end:
      %v = phi float [ %x, %entry ], [ %y, %one ], [ %z, %other ]
      ret float %v
    })");
  EXPECT_EQ(count(text, "switch"), 0) << text;
  EXPECT_EQ(count(text, "select i1"), 2) << text;
  EXPECT_LT(text.find("float %y, float %z"), text.find("float %x, float %2")) << text;
}

TEST(ChosenValues, ThatAreWorkedOutStay) {
  for (const std::string one : {"store i32 1, ptr %p", "%s = add i32 %k, 1"}) {
    const std::string text = chosen(
        "define i32 @f(i32 %k, ptr %p) {\n"
        "entry: switch i32 %k, label %end [ i32 0, label %one\n"
        "                                   i32 3, label %end ]\n"
        "one: " +
        one +
        "\n br label %end\n"
        "end: %v = phi i32 [ 1, %entry ], [ 1, %entry ], [ 2, %one ]\n"
        " ret i32 %v }\n");
    EXPECT_EQ(count(text, "switch"), 1) << text;
  }
}

}  // namespace
}  // namespace weft::test
