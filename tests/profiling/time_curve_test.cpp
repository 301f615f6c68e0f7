#include "profiling/time_curve.h"

#include <gtest/gtest.h>

namespace weft::profiling {
namespace {

constexpr int64_t now = 1'700'000'000;

Curve curveOf(std::initializer_list<std::pair<double, double>> size_and_time, uint64_t count = 9) {
  Curve curve;
  for (const auto& [size, time] : size_and_time) {
    Samples samples = Samples::of(size, time, now);
    samples.count = count;
    curve[Samples::bucketOf(size)] = samples;
  }
  return curve;
}

double timeAt(const Curve& curve, double size) { return predict(curve, size, now)->nanoseconds; }

TEST(TimeCurve, NothingKnown) {
  EXPECT_FALSE(predict({}, 100, now));
  EXPECT_FALSE(predict(curveOf({{100, 100}}), 0, now));
}

TEST(TimeCurve, OneSizeIsProportional) {
  const Curve curve = curveOf({{1000, 5000}});
  EXPECT_DOUBLE_EQ(timeAt(curve, 1000), 5000);
  EXPECT_DOUBLE_EQ(timeAt(curve, 4000), 20000);
  EXPECT_DOUBLE_EQ(timeAt(curve, 100), 500);
}

// 2000 ns and 3 ns for each work-item.
TEST(TimeCurve, FindsFixedCostOutside) {
  const Curve curve = curveOf({{1000, 5000}, {4000, 14000}, {64000, 194000}});
  EXPECT_NEAR(timeAt(curve, 100), 2300, 1);
  EXPECT_NEAR(timeAt(curve, 1'000'000), 3'002'000, 1);
}

TEST(TimeCurve, PassesThroughWhatWasMeasured) {
  const Curve curve = curveOf({{1000, 5000}, {4000, 14000}, {64000, 194000}});
  for (const double size : {1000.0, 4000.0, 64000.0})
    EXPECT_NEAR(timeAt(curve, size), 2000 + 3 * size, 1e-6);
  // A quadratic kernel is a line in logarithms.
  EXPECT_NEAR(timeAt(curveOf({{100, 1e4}, {10000, 1e8}}), 1000), 1e6, 1);
}

TEST(TimeCurve, NeverFallsBelowNothing) {
  // Faster than in proportion from 1000 to 2000: no fixed cost comes out of that.
  const Curve curve = curveOf({{1000, 1000}, {2000, 9000}});
  EXPECT_GE(timeAt(curve, 10), 10);
  // Twice the size in less time: noise, so more work takes no less.
  EXPECT_GE(timeAt(curveOf({{1000, 9000}, {2000, 8000}}), 100000), 8000);
}

TEST(TimeCurve, ConfidenceFallsWithAgeDistanceAndSpread) {
  const Curve curve = curveOf({{1024, 5000}});
  const double best = predict(curve, 1024, now)->confidence;
  EXPECT_GT(best, 0.85);
  EXPECT_LT(predict(curve, 1024 * 64, now)->confidence, best / 2);
  EXPECT_LT(predict(curve, 1024, now + 365 * 24 * 3600)->confidence, best / 10);
  EXPECT_LT(predict(curveOf({{1024, 5000}}, 1), 1024, now)->confidence, 0.51);
  Curve noisy = curve;
  noisy.begin()->second.variance = noisy.begin()->second.rate * noisy.begin()->second.rate;
  EXPECT_LT(predict(noisy, 1024, now)->confidence, 0.51 * best);
}

TEST(Samples, FollowAChange) {
  Samples samples = Samples::of(100, 100, now);
  for (int i = 0; i < 1000; ++i) samples.add(Samples::of(100, 100, now));
  EXPECT_DOUBLE_EQ(samples.rate, 1);
  EXPECT_EQ(samples.count, 1001u);
  EXPECT_EQ(samples.spread(), 0);
  for (int i = 0; i < 100; ++i) samples.add(Samples::of(100, 300, now));
  EXPECT_NEAR(samples.rate, 3, 0.2);
}

TEST(Samples, MeanAndVarianceOfAFew) {
  Samples samples;
  for (const double time : {100, 200, 300, 400}) samples.add(Samples::of(100, time, now));
  EXPECT_DOUBLE_EQ(samples.rate, 2.5);
  EXPECT_DOUBLE_EQ(samples.variance, 1.25);
  EXPECT_DOUBLE_EQ(samples.size, 100);
  // As one after the other, so in two halves.
  Samples first, second;
  for (const double time : {100, 200}) first.add(Samples::of(100, time, now));
  for (const double time : {300, 400}) second.add(Samples::of(100, time, now));
  first.add(second);
  EXPECT_DOUBLE_EQ(first.rate, 2.5);
  EXPECT_DOUBLE_EQ(first.variance, 1.25);
}

}  // namespace
}  // namespace weft::profiling
