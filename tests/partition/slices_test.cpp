#include "partition/slices.h"

#include <gtest/gtest.h>

namespace weft::partition {
namespace {

constexpr port::GroupBox boxOf(uint64_t x, uint64_t y, uint64_t z) {
  return {{0, 0, 0}, {x, y, z}};
}

TEST(CutDimension, OutermostThatIsLongEnough) {
  EXPECT_EQ(cutDimension(boxOf(100, 1, 1), 16), 0u);
  EXPECT_EQ(cutDimension(boxOf(100, 100, 1), 16), 1u);
  EXPECT_EQ(cutDimension(boxOf(100, 100, 16), 16), 2u);
  EXPECT_EQ(cutDimension(boxOf(100, 100, 15), 16), 1u);
}

TEST(CutDimension, LongestWhereNoneIs) {
  EXPECT_EQ(cutDimension(boxOf(9, 3, 2), 16), 0u);
  EXPECT_EQ(cutDimension(boxOf(3, 9, 2), 16), 1u);
  EXPECT_EQ(cutDimension(boxOf(1, 1, 1), 16), 2u);
}

TEST(Cut, CountsFromTheBox) {
  const port::GroupBox box{{1, 10, 5}, {3, 20, 6}};
  const port::GroupBox part = cut(box, 1, {2, 7});
  EXPECT_EQ(part.begin[1], 12u);
  EXPECT_EQ(part.end[1], 17u);
  EXPECT_EQ(part.count(), 2u * 5 * 1);
}

}  // namespace
}  // namespace weft::partition
