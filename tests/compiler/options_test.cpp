#include "compiler/options.h"

#include <gtest/gtest.h>

namespace weft::compiler {
namespace {

using port::OptionUse;
using Words = std::vector<std::string>;

TEST(SplitOptions, SplitsAtWhiteSpace) {
  EXPECT_EQ(splitOptions("  -a\t-b\n-c "), (Words{"-a", "-b", "-c"}));
  EXPECT_TRUE(splitOptions(" ").empty());
}

TEST(SplitOptions, KeepsQuotedTextTogether) {
  EXPECT_EQ(splitOptions("-DX=\"a b\" -I '/my dir'"), (Words{"-DX=a b", "-I", "/my dir"}));
  EXPECT_EQ(splitOptions("-D \"\""), (Words{"-D", ""}));
}

TEST(SplitOptions, BackslashKeepsQuotesAndBlanks) {
  EXPECT_EQ(splitOptions(R"(-DS=\"text\" -I/a\ b)"), (Words{"-DS=\"text\"", "-I/a b"}));
  EXPECT_EQ(splitOptions(R"(-DP=C:\dir)"), (Words{R"(-DP=C:\dir)"}));
}

TEST(ParseOptions, TakesDefinitionsJoinedAndSeparate) {
  const Options options = parseOptions("-DA -D B=2 -DC='x y'", OptionUse::build);
  EXPECT_EQ(options.error, "");
  EXPECT_EQ(options.frontend, (Words{"-D", "A", "-D", "B=2", "-D", "C=x y"}));
}

TEST(ParseOptions, TakesIncludePaths) {
  const Options options = parseOptions("-I/inc -I other", OptionUse::compile);
  EXPECT_EQ(options.error, "");
  EXPECT_EQ(options.include_paths, (Words{"/inc", "other"}));
}

TEST(ParseOptions, SetsWhatTheLinkNeeds) {
  const Options options = parseOptions(
      "-cl-fast-relaxed-math -cl-opt-disable -g -cl-kernel-arg-info", OptionUse::build);
  EXPECT_EQ(options.error, "");
  EXPECT_TRUE(options.relaxed_math);
  EXPECT_TRUE(options.denorms_are_zero);  // is included
  EXPECT_FALSE(options.optimise);
  EXPECT_TRUE(options.debug);
  EXPECT_TRUE(options.kernel_argument_info);
}

struct Case {
  const char* options;
  OptionUse use;
};

class Accepted : public testing::TestWithParam<Case> {};
TEST_P(Accepted, HasNoError) {
  EXPECT_EQ(parseOptions(GetParam().options, GetParam().use).error, "") << GetParam().options;
}
INSTANTIATE_TEST_SUITE_P(
    Options, Accepted,
    testing::Values(
        Case{"", OptionUse::build}, Case{"-cl-std=CL1.0", OptionUse::build},
        Case{"-cl-std=CL1.1", OptionUse::build}, Case{"-cl-std=CL1.2", OptionUse::compile},
        Case{"-cl-std=CL2.0", OptionUse::build}, Case{"-cl-std=CL3.0", OptionUse::build},
        Case{"-cl-std=CLC++", OptionUse::build},
        Case{"-cl-single-precision-constant", OptionUse::build},
        Case{"-cl-denorms-are-zero", OptionUse::link},
        Case{"-cl-fp32-correctly-rounded-divide-sqrt", OptionUse::build},
        Case{"-cl-strict-aliasing", OptionUse::build},
        Case{"-cl-uniform-work-group-size", OptionUse::build},
        Case{"-cl-no-subgroup-ifp", OptionUse::build}, Case{"-cl-mad-enable", OptionUse::build},
        Case{"-cl-no-signed-zeros", OptionUse::link},
        Case{"-cl-unsafe-math-optimizations", OptionUse::link},
        Case{"-cl-finite-math-only", OptionUse::link},
        Case{"-cl-fast-relaxed-math", OptionUse::link}, Case{"-w", OptionUse::build},
        Case{"-Werror", OptionUse::compile}, Case{"-create-library", OptionUse::link},
        Case{"-create-library -enable-link-options", OptionUse::link},
        Case{"-Rweft", OptionUse::link}, Case{"-x spir -spir-std=1.2", OptionUse::build},
        Case{"-save-temps", OptionUse::build}, Case{"-save-temps=dir", OptionUse::build},
        Case{"-O3", OptionUse::build}, Case{"-cl-nv-verbose", OptionUse::build},
        Case{"-cl-nv-maxrregcount=32", OptionUse::build},
        Case{"-cl-nv-maxrregcount 32", OptionUse::build},
        Case{"-cl-intel-greater-than-4GB-buffer-required", OptionUse::build}));

class Rejected : public testing::TestWithParam<Case> {};
TEST_P(Rejected, HasAnError) {
  EXPECT_NE(parseOptions(GetParam().options, GetParam().use).error, "") << GetParam().options;
}
INSTANTIATE_TEST_SUITE_P(
    Options, Rejected,
    testing::Values(
        Case{"-this-is-not-an-option", OptionUse::build}, Case{"source.cl", OptionUse::build},
        Case{"-", OptionUse::build}, Case{"-D", OptionUse::build}, Case{"-I", OptionUse::compile},
        Case{"-D ''", OptionUse::build}, Case{"-D1=2", OptionUse::build},
        Case{"-cl-std=CL9.9", OptionUse::build}, Case{"-cl-std=", OptionUse::build},
        Case{"-create-library", OptionUse::build}, Case{"-create-library", OptionUse::compile},
        Case{"-enable-link-options", OptionUse::link}, Case{"-DX=1", OptionUse::link},
        Case{"-cl-mad-enable", OptionUse::link}, Case{"-cl-std=CL1.2", OptionUse::link},
        Case{"-wrong", OptionUse::build}, Case{"-cl-fast-relaxed-mathx", OptionUse::build}));

TEST(ParseOptions, NamesTheUnknownOption) {
  EXPECT_EQ(parseOptions("-g --nope -w", OptionUse::build).error, "unknown option '--nope'");
}

}  // namespace
}  // namespace weft::compiler
