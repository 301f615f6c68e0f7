#include <gtest/gtest.h>

#include <bit>
#include <climits>
#include <cmath>

#include "tests/compiler/builtins/program.h"

namespace weft::test {
namespace {

TEST(Basic, VectorsOfEveryWidthGiveTheScalarsBits) {
  Program program("basic");
  ASSERT_TRUE(program.unresolved().empty());
  float values[24];
  for (float& value : values) value = 0.75f;
  program.get<void(float*)>("sines")(values);
  for (float value : values) {
    EXPECT_NEAR(value, std::sin(0.75), 1e-6);
    EXPECT_EQ(value, values[0]);
  }
}

TEST(Basic, Integers) {
  Program program("basic");
  int values[6] = {INT_MAX, 1, -5, 9, std::bit_cast<int>(1e20f), 4};
  program.get<void(int*)>("integers")(values);
  EXPECT_EQ(values[0], INT_MAX);
  EXPECT_EQ(values[1], 7);
  EXPECT_EQ(values[2], 7);
  EXPECT_EQ(values[3], 9);
  EXPECT_EQ(values[4], INT_MAX);
  EXPECT_EQ(values[5], 7);
}

}  // namespace
}  // namespace weft::test
