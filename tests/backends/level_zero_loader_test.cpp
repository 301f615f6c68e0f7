// Missing and broken loaders of Level Zero: no device and one line each.
#include <gtest/gtest.h>

#include "backends/level_zero/backend.h"

namespace weft::test {
namespace {

std::string lineOf(const std::string& library) {
  std::vector<port::Diagnostic> lines;
  EXPECT_TRUE(level_zero::makeBackend(library, nullptr)->discover(lines).empty());
  const std::string line = lines.size() == 1 ? lines[0].message : "";
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  return line;
}

TEST(LevelZeroLoader, IsNotFound) {
  const std::string line = lineOf("libweft_absent.so.1");
  EXPECT_NE(line.find("libweft_absent.so.1: not found"), std::string::npos) << line;
}

TEST(LevelZeroLoader, LacksAnEntryPoint) {
  const std::string line = lineOf("libm.so.6");
  EXPECT_NE(line.find("lacks zeInit"), std::string::npos) << line;
}

}  // namespace
}  // namespace weft::test
