// Events of software GPUs say what was recorded last, as those of HIP do.
#include <gtest/gtest.h>

#include "tests/software_gpu/device.h"
#include "tests/software_gpu/stream.h"

namespace weft::software {
namespace {

TEST(Event, IsThatOfTheLastRecordingWhicheverIsReachedFirst) {
  Device device(0, {}, {});
  Event event(device, false);
  const uint64_t slow = event.issue(), fast = event.issue();
  EXPECT_FALSE(event.reached());
  event.reach(fast);
  const Nanoseconds when = event.when();
  event.reach(slow);
  EXPECT_TRUE(event.reached());
  EXPECT_EQ(event.when(), when);
  event.await(event.issued());
  event.issue();
  EXPECT_FALSE(event.reached());
}

}  // namespace
}  // namespace weft::software
