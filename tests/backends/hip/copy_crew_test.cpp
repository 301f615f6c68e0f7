// Copies that several threads share.
#include "backends/hip/copy_crew.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::hip {
namespace {

std::vector<std::byte> someBytes(size_t size, size_t seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i + seed) * 0x9e3779b1 >> 13);
  return bytes;
}

// One row, and rows with gaps that stay as they are; sizes that granules do not divide.
void checkCopies(CopyCrew& crew, unsigned seed) {
  struct Case {
    size_t width, rows, from_pitch, to_pitch;
  };
  const Case cases[] = {{100, 1, 100, 100},
                        {1'300'007, 1, 1'300'007, 1'300'007},
                        {1000, 1003, 1000, 1024},
                        {300'000, 7, 300'016, 300'001},
                        {3, 400'000, 5, 4}};
  for (const Case& c : cases) {
    const auto source = someBytes(c.from_pitch * c.rows, seed);
    for (const bool for_device : {false, true}) {
      auto target = someBytes(c.to_pitch * c.rows, seed + 1);
      auto expected = target;
      for (size_t row = 0; row < c.rows; ++row)
        std::copy_n(&source[row * c.from_pitch], c.width, &expected[row * c.to_pitch]);
      crew.copy({.destination = target.data(),
                 .destination_pitch = c.to_pitch,
                 .source = source.data(),
                 .source_pitch = c.from_pitch,
                 .width = c.width,
                 .rows = c.rows,
                 .for_device = for_device});
      EXPECT_TRUE(target == expected) << c.width << " x " << c.rows;
    }
  }
}

TEST(CopyCrew, CopiesWhatOneThreadWould) {
  for (const unsigned threads : {0u, 1u, 3u}) {
    CopyCrew crew(threads);
    for (unsigned round = 0; round < 5; ++round) checkCopies(crew, round);
  }
}

TEST(CopyCrew, ServesSeveralAtOnce) {
  CopyCrew crew(3);
  std::vector<std::thread> users;
  for (unsigned i = 0; i < 3; ++i)
    users.emplace_back([&, i] {
      for (unsigned round = 0; round < 5; ++round) checkCopies(crew, 10 * i + round);
    });
  for (std::thread& user : users) user.join();
}

TEST(CopyCrew, MayGoWithoutHavingWorked) {
  CopyCrew unused(2);
  for (int i = 0; i < 20; ++i) {
    CopyCrew crew(2);
    checkCopies(crew, 1);
  }
}

}  // namespace
}  // namespace weft::hip
