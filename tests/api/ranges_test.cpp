// Rectangles: the overlap check against counting bytes, and sizes that would overflow.
#include "api/ranges.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace weft::api {
namespace {

constexpr size_t huge = std::numeric_limits<size_t>::max();

std::set<size_t> bytesOf(size_t start, const RectLayout& layout, const Region& region) {
  std::set<size_t> bytes;
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y)
      for (size_t x = 0; x < region[0]; ++x)
        bytes.insert(start + z * layout.slice_pitch + y * layout.row_pitch + x);
  return bytes;
}

TEST(Overlaps, AgreesWithCountingBytes) {
  std::mt19937 random(7);
  const auto pick = [&](size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random);
  };
  int overlapping = 0;
  for (int round = 0; round < 20000; ++round) {
    const Region region{pick(1, 4), pick(1, 3), pick(1, 3)};
    const size_t row = region[0] + pick(0, 5);
    const size_t slice = row * (region[1] + pick(0, 3));
    const RectLayout a{{pick(0, 3), pick(0, 3), pick(0, 2)}, row, slice};
    const RectLayout b{{pick(0, 3), pick(0, 3), pick(0, 2)}, row, slice};
    const auto bytes_a = bytesOf(a.offset(), a, region);
    const auto bytes_b = bytesOf(b.offset(), b, region);
    bool shared = false;
    for (const size_t byte : bytes_a) shared |= bytes_b.contains(byte);
    overlapping += shared;
    // The specification's check may say 'overlap' for rectangles that interleave in a way it does
    // not look for; it must never miss one.
    if (shared) {
      EXPECT_TRUE(overlaps(a.offset(), a, b.offset(), b, region));
    }
  }
  EXPECT_GT(overlapping, 1000);
}

TEST(Overlaps, SeesGaps) {
  const Region region{4, 3, 2};
  const RectLayout layout{{0, 0, 0}, 16, 16 * 8};
  EXPECT_TRUE(overlaps(0, layout, 0, layout, region));
  EXPECT_TRUE(overlaps(0, layout, 3, layout, region));
  EXPECT_FALSE(overlaps(0, layout, 4, layout, region));       // beside
  EXPECT_FALSE(overlaps(0, layout, 3 * 16, layout, region));  // below
  EXPECT_TRUE(overlaps(0, layout, 2 * 16, layout, region));
  EXPECT_FALSE(overlaps(0, layout, 2 * 16 * 8, layout, region));  // behind
}

TEST(ToLayout, ResolvesPitches) {
  const size_t origin[] = {1, 2, 3};
  const RectLayout tight = toLayout(origin, {5, 4, 3}, 0, 0);
  EXPECT_EQ(tight.row_pitch, 5u);
  EXPECT_EQ(tight.slice_pitch, 20u);
  EXPECT_EQ(tight.offset(), 1 + 2 * 5 + 3 * 20u);
  EXPECT_EQ(spanOf(tight, {5, 4, 3}), 60u);
  const RectLayout wide = toLayout(origin, {5, 4, 3}, 8, 0);
  EXPECT_EQ(wide.slice_pitch, 32u);
}

TEST(ToLayout, RefusesWhatDoesNotFitIntoMemory) {
  const size_t zero[] = {0, 0, 0};
  const size_t far[] = {huge, 0, 0};
  const size_t deep[] = {0, 0, huge / 2};
  EXPECT_THROW(toLayout(zero, {huge, 2, 1}, 0, 0), Error);
  EXPECT_THROW(toLayout(zero, {2, huge, 1}, 0, 0), Error);
  EXPECT_THROW(toLayout(zero, {1, 2, huge}, 0, 0), Error);
  EXPECT_THROW(toLayout(far, {1, 1, 1}, 0, 0), Error);
  EXPECT_THROW(toLayout(deep, {4, 1, 1}, 0, 0), Error);
  EXPECT_THROW(toLayout(zero, {1, 2, 1}, huge, 0), Error);
  EXPECT_THROW(toLayout(nullptr, {1, 1, 1}, 0, 0), Error);
}

TEST(RequireRange, DoesNotOverflow) {
  EXPECT_NO_THROW(requireRange(0, 10, 10));
  EXPECT_NO_THROW(requireRange(10, 0, 10));
  EXPECT_THROW(requireRange(0, 11, 10), Error);
  EXPECT_THROW(requireRange(11, 0, 10), Error);
  EXPECT_THROW(requireRange(1, huge, 10), Error);
  EXPECT_THROW(requireRange(huge, 2, 10), Error);
}

}  // namespace
}  // namespace weft::api
