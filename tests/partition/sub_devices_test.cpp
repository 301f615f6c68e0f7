#include "partition/sub_devices.h"

#include <CL/cl_ext.h>
#include <gtest/gtest.h>

namespace weft::partition {
namespace {

using Sets = std::vector<port::UnitSet>;

// Of whose units nothing is known.
Divisible plain(uint32_t units, uint32_t max_sub_devices) {
  port::Capabilities device;
  device.compute_units = units;
  device.max_sub_devices = max_sub_devices;
  return divisible(device);
}
const Divisible eight = plain(8, 8);

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
  EXPECT_EQ(equally(eight, 4), (Sets{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(equally(eight, 1).size(), 8u);
}

TEST(Equally, TheRestIsNotUsed) { EXPECT_EQ(equally(eight, 3), (Sets{{0, 1, 2}, {3, 4, 5}})); }

TEST(Equally, Refuses) {
  EXPECT_EQ(codeOf([] { equally(eight, 0); }), CL_INVALID_VALUE);
  EXPECT_EQ(codeOf([] { equally(eight, 5); }), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(codeOf([] { equally(eight, 8); }), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(codeOf([] { equally(eight, 9); }), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(codeOf([] { equally(eight, ~uint64_t{0}); }), CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(codeOf([] { equally(plain(8, 0), 1); }), CL_DEVICE_PARTITION_FAILED);
}

TEST(ByCounts, GivesWhatIsAsked) {
  const uint64_t counts[] = {4, 3, 1};
  EXPECT_EQ(byCounts(eight, counts), (Sets{{0, 1, 2, 3}, {4, 5, 6}, {7}}));
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
  EXPECT_EQ(code({1, 1, 1}, plain(8, 2)), CL_INVALID_DEVICE_PARTITION_COUNT);
}

TEST(ByNames, OneDeviceOfThoseNamed) {
  const uint64_t names[] = {5, 0, 3};
  EXPECT_EQ(byNames(eight, names), (Sets{{0, 3, 5}}));
}

TEST(ByNames, Refuses) {
  const auto code = [](const std::vector<uint64_t>& names) {
    return codeOf([&] { byNames(eight, names); });
  };
  EXPECT_EQ(code({}), CL_INVALID_VALUE);
  EXPECT_EQ(code({8}), CL_INVALID_PARTITION_NAME_EXT);
  EXPECT_EQ(code({1, 2, 1}), CL_INVALID_PARTITION_NAME_EXT);
}

}  // namespace
}  // namespace weft::partition
