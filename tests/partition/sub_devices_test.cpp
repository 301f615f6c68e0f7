#include "partition/sub_devices.h"

#include <gtest/gtest.h>

namespace weft::partition {
namespace {

using Counts = std::vector<uint32_t>;

constexpr Divisible eight{8, 8};

template <class F>
cl_int codeOf(F&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  return CL_SUCCESS;
}

TEST(Equally, FillsTheDevice) {
  EXPECT_EQ(equally(eight, 1), Counts(8, 1));
  EXPECT_EQ(equally(eight, 4), Counts(2, 4));
}

TEST(Equally, TheRestIsNotUsed) { EXPECT_EQ(equally(eight, 3), Counts(2, 3)); }

TEST(Equally, Refuses) {
  EXPECT_EQ(codeOf([] { equally(eight, 0); }), CL_INVALID_VALUE);
  EXPECT_EQ(codeOf([] { equally(eight, 5); }), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(codeOf([] { equally(eight, 8); }), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(codeOf([] { equally(eight, 9); }), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(codeOf([] { equally(eight, ~uint64_t{0}); }), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(codeOf([] { equally({8, 0}, 1); }), CL_DEVICE_PARTITION_FAILED);
}

TEST(ByCounts, GivesWhatIsAsked) {
  const uint64_t counts[] = {3, 1, 4};
  EXPECT_EQ(byCounts(eight, counts), (Counts{3, 1, 4}));
}

TEST(ByCounts, Refuses) {
  const auto code = [](const std::vector<uint64_t>& counts, Divisible device = eight) {
    return codeOf([&] { byCounts(device, counts); });
  };
  EXPECT_EQ(code({}), CL_INVALID_VALUE);
  EXPECT_EQ(code({9}), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(code({4, 5}), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(code({0}), CL_INVALID_DEVICE_PARTITION_COUNT);
  // Sums that wrap around.
  EXPECT_EQ(code({4, ~uint64_t{0}}), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(code({1, 1, 1}, {8, 2}), CL_INVALID_DEVICE_PARTITION_COUNT);
}

}  // namespace
}  // namespace weft::partition
