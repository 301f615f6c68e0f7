#include "core/byte_rows.h"

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

// Two slices of three rows of four bytes.
constexpr ByteRows box{100, 4, 3, 2, 16, 64};

std::set<size_t> bytesOf(const ByteRows& rows) {
  std::set<size_t> all;
  for (size_t i = 0; i < rows.count(); ++i)
    for (size_t b = 0; b < rows.bytes; ++b) all.insert(rows.row(i) + b);
  return all;
}

TEST(ByteRows, CountsThroughRowsAndSlices) {
  EXPECT_EQ(box.count(), 6u);
  EXPECT_EQ(box.row(2), 132u);
  EXPECT_EQ(box.row(3), 164u);
  EXPECT_EQ(box.end(), 200u);
  const ByteRows line{5, 7};
  EXPECT_EQ(line.count(), 1u);
  EXPECT_EQ(line.end(), 12u);
}

// Every place, pitch and kind of rows near the box, against the sets of their bytes.
TEST(ByteRows, OverlapWhereTheyShareAByte) {
  const std::set<size_t> mine = bytesOf(box);
  size_t shared = 0;
  for (size_t begin = 80; begin < 210; ++begin)
    for (const ByteRows& shape : {ByteRows{0, 1}, ByteRows{0, 13}, ByteRows{0, 4, 3, 2, 16, 64},
                                  ByteRows{0, 6, 5, 1, 20, 100}, ByteRows{0, 12, 4, 1, 16, 64}}) {
      ByteRows other = shape;
      other.begin = begin;
      bool shares = false;
      for (const size_t byte : bytesOf(other)) shares |= mine.contains(byte);
      EXPECT_EQ(overlap(box, other), shares) << begin << ' ' << shape.bytes;
      EXPECT_EQ(overlap(other, box), shares) << begin << ' ' << shape.bytes;
      shared += shares;
    }
  EXPECT_GT(shared, 100u);
}

}  // namespace
}  // namespace weft
