// Times of a device whose clock is the host's, and which takes a while to record an event.
#include "backends/hip/clock.h"

#include <gtest/gtest.h>

#include <map>

namespace weft::test {
namespace {

using namespace hip;

constexpr port::Nanoseconds delay = 400'000, second = 1'000'000'000;

struct Device {
  std::map<EventHandle, port::Nanoseconds> asked;
  port::Nanoseconds recorded_after = 0;  // of the delay
  std::map<EventHandle, port::Nanoseconds> recorded;
  uintptr_t last = 0;
} device;

class ClockTest : public testing::Test {
 protected:
  ClockTest() {
    device = {};
    api_.enter = [](int, void**) { return success; };
    api_.leave = [](void*) {};
    api_.streamCreateWithFlags = [](StreamHandle*, unsigned) { return success; };
    api_.streamDestroy = [](StreamHandle) { return success; };
    api_.eventCreateWithFlags = [](EventHandle* event, unsigned) {
      *event = reinterpret_cast<EventHandle>(++device.last);
      return success;
    };
    api_.eventDestroy = [](EventHandle) { return success; };
    api_.eventRecord = [](EventHandle event, StreamHandle) {
      device.asked[event] = hostNow();
      device.recorded[event] = device.asked[event] + device.recorded_after;
      return success;
    };
    api_.eventQuery = [](EventHandle event) {
      return hostNow() < device.asked[event] + delay ? not_ready : success;
    };
    api_.eventElapsedTime = [](float* milliseconds, EventHandle begin, EventHandle end) {
      *milliseconds = float(double(int64_t(device.recorded[end] - device.recorded[begin])) * 1e-6);
      return success;
    };
  }
  // A new base, whose event the device recorded at that part of the delay. The clock keeps the
  // older one where a busy machine holds the test up meanwhile.
  std::shared_ptr<const TimeBase> base(double part) {
    constexpr int most_tries = 1000;
    device.recorded_after = port::Nanoseconds(double(delay) * part);
    const auto older = base_;
    for (int i = 0; i < most_tries && base_ == older; ++i) base_ = clock_.base(time_ += 2 * second);
    return base_;
  }

  Api api_{};
  EventClock clock_{api_, 0};
  std::shared_ptr<const TimeBase> base_;
  port::Nanoseconds time_ = hostNow();
};

// Which of two bases an event is measured from makes no difference.
TEST_F(ClockTest, BasesSayTheSame) {
  const auto first = base(0.5);
  for (const double part : {0.05, 0.95, 0.3}) {
    const auto next = base(part);
    ASSERT_NE(next, first);
    const auto event = reinterpret_cast<EventHandle>(uintptr_t{1000});
    device.recorded[event] = hostNow();
    const auto difference = int64_t(clock_.time(*first, event) - clock_.time(*next, event));
    EXPECT_LT(std::abs(difference), int64_t(delay) / 20) << part;
  }
}

// But where the older one cannot be right.
TEST_F(ClockTest, WhatIsKnownBetterCounts) {
  const auto first = base(0);
  const auto next = base(1);
  const auto event = reinterpret_cast<EventHandle>(uintptr_t{1000});
  device.recorded[event] = hostNow();
  const auto error = int64_t(clock_.time(*next, event) - device.recorded[event]);
  EXPECT_LT(std::abs(error), int64_t(delay) / 10);
}

}  // namespace
}  // namespace weft::test
