// Kernels whose time is set take at least that, however many are begun at once.
#include "tests/software_gpu/pace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "core/ports/launch.h"

namespace weft::software {
namespace {

constexpr Nanoseconds group_ns = 20'000;

// Of 10 groups in the last of two dimensions those from `begin` to `end`, 5 in the first.
LaunchRequest launchOf(uint32_t begin, uint32_t end) {
  port::GpuLaunch launch;
  launch.record.work_dim = 2;
  launch.record.group_count[0] = 5;
  launch.record.group_count[1] = 10;
  launch.box.begin[1] = begin;
  launch.box.end[0] = 5;
  launch.box.end[1] = end;
  LaunchRequest request;
  request.grid = {5, end - begin, 1};
  request.parameter_bytes = 16 + sizeof launch;
  std::memcpy(request.parameters.data() + 16, &launch, sizeof launch);
  return request;
}

Nanoseconds timeOf(Pace& pace, const LaunchRequest& request) {
  const Nanoseconds begin = now();
  pace.spend(request);
  return now() - begin;
}

TEST(Pace, IsSetByTheWorkGroups) {
  Pace pace(1, double(group_ns), Pace::Profile::flat);
  EXPECT_TRUE(pace.isSet());
  EXPECT_GE(timeOf(pace, launchOf(0, 10)), 50 * group_ns);
  EXPECT_GE(timeOf(pace, launchOf(3, 5)), 10 * group_ns);
  EXPECT_FALSE(Pace(0.5, 0, Pace::Profile::flat).isSet());
}

TEST(Pace, IsThatOfOneDevice) {
  Pace pace(1, double(group_ns), Pace::Profile::flat);
  const Nanoseconds begin = now();
  std::thread other([&] { pace.spend(launchOf(0, 5)); });
  pace.spend(launchOf(5, 10));
  other.join();
  EXPECT_GE(now() - begin, 50 * group_ns);
}

// As much work as with even groups, but more of it in the middle.
TEST(Pace, MayBeUneven) {
  Pace pace(1, double(group_ns), Pace::Profile::hump);
  EXPECT_GE(timeOf(pace, launchOf(0, 10)), 49 * group_ns);
  EXPECT_GE(timeOf(pace, launchOf(4, 6)), 13 * group_ns);
}

}  // namespace
}  // namespace weft::software
