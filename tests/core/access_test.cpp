#include "core/access.h"

#include <gtest/gtest.h>

#include <random>

#include "core/access_evaluation.h"
#include "guarded_store.h"

namespace weft {
namespace {

using test::guardedStore, test::step;

constexpr size_t size = 4096;

std::vector<TouchedRange> touched(const std::vector<ArgumentInfo>& arguments,
                                  const port::LaunchRecord& launch, int32_t n) {
  std::vector<ArgumentValue> values(arguments.size());
  values[1].setBytes(&n, sizeof n);
  std::vector<TouchedRange> ranges;
  AccessEvaluation(launch, values).touched(arguments[0], size, ranges);
  return ranges;
}

TEST(Access, EvaluatesForEachLaunch) {
  const auto arguments = guardedStore();
  ASSERT_TRUE(isValid(arguments[0].accesses[0], arguments));
  port::LaunchRecord launch;
  launch.global_size[0] = launch.group_count[0] = 100;
  using Ranges = std::vector<TouchedRange>;
  EXPECT_EQ(touched(arguments, launch, 1000), (Ranges{{0, 400, false, true}}));
  EXPECT_EQ(touched(arguments, launch, 10), (Ranges{{0, 40, false, true}}));
  EXPECT_EQ(touched(arguments, launch, 0), Ranges{});
  launch.global_offset[0] = 1000;
  EXPECT_EQ(touched(arguments, launch, 2000), (Ranges{{4000, 4096, false, true}}));
  launch.global_size[0] = 0;
  EXPECT_EQ(touched(arguments, launch, 2000), Ranges{});
}

// What the boxes that a launch is cut into touch adds up to what the launch does.
TEST(Access, EvaluatesForABoxOfGroups) {
  const auto arguments = guardedStore();
  port::LaunchRecord launch;
  launch.global_size[0] = 100;
  launch.local_size[0] = 8;
  launch.group_count[0] = 13;  // the last one has four work-items
  launch.global_offset[0] = 10;
  std::vector<ArgumentValue> values(2);
  const int32_t n = 108;
  values[1].setBytes(&n, sizeof n);
  const auto of = [&](uint64_t begin, uint64_t end) {
    std::vector<TouchedRange> ranges;
    AccessEvaluation(launch, values, {{begin, 0, 0}, {end, 1, 1}})
        .touched(arguments[0], size, ranges);
    return ranges;
  };
  using Ranges = std::vector<TouchedRange>;
  EXPECT_EQ(of(0, 1), (Ranges{{40, 72, false, true}}));
  EXPECT_EQ(of(1, 5), (Ranges{{72, 200, false, true}}));
  EXPECT_EQ(of(5, 13), (Ranges{{200, 432, false, true}}));
  EXPECT_EQ(of(12, 13), (Ranges{{424, 432, false, true}}));
  EXPECT_EQ(of(5, 5), Ranges{});
}

TEST(Access, WithoutRecordsIsTheWhole) {
  std::vector<ArgumentInfo> arguments = guardedStore();
  arguments[0].accesses.clear();
  arguments[0].reads_known = arguments[0].writes_known = false;
  using Ranges = std::vector<TouchedRange>;
  EXPECT_EQ(touched(arguments, {}, 0), (Ranges{{0, size, true, true}}));
  arguments[0].writes = false;
  EXPECT_EQ(touched(arguments, {}, 0), (Ranges{{0, size, true, false}}));
}

TEST(Access, ForgedRecordsAreNotRead) {
  const auto broken = [](auto change) {
    auto arguments = guardedStore();
    change(arguments[0].accesses[0]);
    return !isValid(arguments[0].accesses[0], arguments);
  };
  EXPECT_FALSE(broken([](AccessRecord&) {}));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps.clear(); }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.offset = 5; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.offset = 2; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[4].a = 4; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[4].b = 2; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[4].variable = 2; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[4].variable = 64; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[4].width = 65; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[0].a = 3; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[1].a = 0; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[1].a = 2; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[1].value = 1; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[1].value = -4; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[2].value = 6; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps[2].code = AccessCode{31}; }));
  EXPECT_TRUE(broken([](AccessRecord& r) { r.steps.resize(max_access_steps + 1); }));

  Image image;
  image.kernels.emplace_back().arguments = guardedStore();
  const auto again = readImage(writeImage(image));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kernels[0].arguments[0].accesses, image.kernels[0].arguments[0].accesses);
  EXPECT_TRUE(again->kernels[0].arguments[0].reads_known);
  image.kernels[0].arguments[0].accesses[0].offset = 77;
  EXPECT_FALSE(readImage(writeImage(image)));
}

// Whatever is valid can be evaluated, and stays within the object.
TEST(Access, RandomRecordsEvaluate) {
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto number = [&] {
    const uint64_t bits = random() >> below(64);
    return static_cast<int64_t>(below(2) ? bits : ~bits);
  };
  auto arguments = guardedStore();
  size_t valid = 0;
  for (int round = 0; round < 50000; ++round) {
    AccessRecord& record = arguments[0].accesses[0];
    record.steps.resize(1 + below(12));
    for (size_t i = 0; i < record.steps.size(); ++i) {
      AccessStep& s = record.steps[i];
      const auto code = i == 0 ? 0 : below(static_cast<size_t>(AccessCode::guard) + 1);
      s = step(static_cast<AccessCode>(code), static_cast<uint16_t>(below(i + 1)),
               static_cast<uint16_t>(below(i + 1)), code == 0 ? number() : int64_t(below(6)));
      s.width = static_cast<uint8_t>(below(3) ? 64 : 1 + below(64));
      s.variable = static_cast<uint8_t>(first_free_access_variable + below(8));
    }
    record.offset = static_cast<uint16_t>(below(record.steps.size()));
    record.bytes = static_cast<uint32_t>(random() >> 32 >> below(32));
    record.reads = below(2);
    if (!isValid(record, arguments)) continue;
    ++valid;
    port::LaunchRecord launch;
    for (int d = 0; d < 3; ++d) {
      launch.global_size[d] = 1 + (random() >> below(64)) / 2;
      launch.global_offset[d] = (random() >> below(64)) / 2;
      launch.local_size[d] = 1 + below(1000);
      launch.group_count[d] = (launch.global_size[d] - 1) / launch.local_size[d] + 1;
    }
    size_t last = 0;
    for (const TouchedRange& range : touched(arguments, launch, static_cast<int32_t>(random()))) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_LE(range.end, size);
      ASSERT_GE(range.begin, last);
      last = range.end;
    }
  }
  EXPECT_GT(valid, 1000u);
}

}  // namespace
}  // namespace weft
