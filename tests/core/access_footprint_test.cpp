// Unions of repeated blocks against a byte for each of theirs.
#include "core/access_footprint.h"

#include <random>

#include <gtest/gtest.h>

namespace weft::test {
namespace {

constexpr size_t size = 4096;

// 1: read, 2: written.
std::vector<int> marks(const std::vector<Footprint>& footprints) {
  std::vector<int> bytes(size, 0);
  for (const Footprint& f : footprints) {
    int64_t blocks = 1;
    for (unsigned d = 0; d < f.dimensions; ++d) blocks *= f.dimension[d].count;
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t at = f.begin, rest = block;
      for (unsigned d = 0; d < f.dimensions; ++d) {
        at += f.dimension[d].stride * (rest % f.dimension[d].count);
        rest /= f.dimension[d].count;
      }
      for (int64_t i = std::max<int64_t>(at, 0); i < std::min<int64_t>(at + f.bytes, size); ++i)
        bytes[static_cast<size_t>(i)] |= f.reads | f.writes << 1;
    }
  }
  return bytes;
}

std::vector<TouchedRange> rangesOf(const std::vector<Footprint>& footprints, unsigned max_runs) {
  TouchedBytes touched(max_runs);
  for (const Footprint& footprint : footprints) touched.add(footprint);
  std::vector<TouchedRange> ranges;
  touched.collect(size, ranges);
  return ranges;
}

Footprint write(int64_t begin, int64_t bytes) {
  Footprint f;
  f.begin = begin;
  f.bytes = bytes;
  f.writes = f.complete = true;
  return f;
}

TEST(AccessFootprint, RandomOnesAreCovered) {
  std::mt19937_64 random(5);
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<Footprint> footprints;
    for (int64_t n = 1 + below(5); n > 0; --n) {
      Footprint f = write(below(size) - 64, 1 + below(24));
      f.reads = below(2);
      f.writes = !f.reads || below(2);
      f.complete = f.writes && below(2);
      for (int64_t d = below(4); d > 0; --d) f.repeat(below(300) - 40, 1 + below(9));
      footprints.push_back(f);
    }
    const unsigned max_runs = 1 + static_cast<unsigned>(below(12));
    const std::vector<int> touched = marks(footprints);
    const auto ranges = rangesOf(footprints, max_runs);
    ASSERT_LE(ranges.size(), 2 * max_runs);
    std::vector<int> told(size, 0);
    size_t last = 0;
    for (const TouchedRange& range : ranges) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_GE(range.begin, last);
      last = range.end;
      for (size_t i = range.begin; i < range.end; ++i) {
        told[i] = range.reads | range.writes << 1;
        ASSERT_TRUE(range.reads || touched[i] == 2) << "round " << round << ", byte " << i;
      }
    }
    for (size_t i = 0; i < size; ++i)
      ASSERT_EQ(touched[i] & ~told[i], 0) << "round " << round << ", byte " << i;
  }
}

TEST(AccessFootprint, InnerGapsAreFilledFirst) {
  using Ranges = std::vector<TouchedRange>;
  Footprint planes = write(4, 8);
  planes.repeat(16, 10);
  planes.repeat(1000, 3);
  EXPECT_EQ(rangesOf({planes}, 32).size(), 30u);
  EXPECT_EQ(rangesOf({planes}, 8),
            (Ranges{{4, 156, true, true}, {1004, 1156, true, true}, {2004, 2156, true, true}}));
  EXPECT_EQ(rangesOf({planes}, 2), (Ranges{{4, 2156, true, true}}));
}

TEST(AccessFootprint, NearRangesAreJoinedFirst) {
  using Ranges = std::vector<TouchedRange>;
  const std::vector<Footprint> all = {write(0, 10), write(20, 10), write(500, 10), write(1000, 10),
                                      write(1012, 10)};
  EXPECT_EQ(rangesOf(all, 3).size(), 5u);
  EXPECT_EQ(rangesOf(all, 2), (Ranges{{0, 10, false, true},
                                      {20, 30, false, true},
                                      {500, 510, false, true},
                                      {1000, 1022, true, true}}));
  EXPECT_EQ(rangesOf(all, 1), (Ranges{{0, 510, true, true}, {1000, 1022, true, true}}));
}

}  // namespace
}  // namespace weft::test
