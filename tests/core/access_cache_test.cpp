#include "core/access_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "doubles.h"
#include "guarded_store.h"

namespace weft::test {
namespace {

class AccessCacheTest : public ::testing::Test {
 protected:
  struct Launch {
    port::LaunchRecord record;
    std::vector<ArgumentValue> values{3};
  };

  Ref<Buffer> buffer(size_t size) {
    return make<Buffer>(context, CL_MEM_READ_WRITE, size, nullptr,
                        std::vector<cl_mem_properties>{});
  }
  static Launch launch(const Ref<Buffer>& buffer, uint64_t items, int32_t n, float other = 0) {
    Launch made;
    made.record.global_size[0] = made.record.group_count[0] = items;
    made.values[0].setMemory(Ref<MemObject>(buffer.get()));
    made.values[1].setBytes(&n, sizeof n);
    made.values[2].setBytes(&other, sizeof other);
    return made;
  }
  Ref<const AccessCache::Entry> of(const Launch& launch) const {
    return cache.of(launch.record, launch.values);
  }
  // By the records themselves.
  AccessCache::TouchedList evaluated(const Launch& launch) const {
    std::vector<TouchedRange> ranges;
    AccessEvaluation(launch.record, launch.values)
        .touched(arguments[0], launch.values[0].memory()->size(), ranges);
    if (ranges.empty()) ranges.push_back({0, 1, false, false});
    AccessCache::TouchedList list;
    for (const TouchedRange& range : ranges) list.push_back({0, range});
    return list;
  }

  Machine machine;
  Ref<Context> context = machine.context();
  const std::vector<ArgumentInfo> arguments = guardedStore(3);
  const AccessCache cache{arguments};
};

TEST_F(AccessCacheTest, LaunchesThatAreAlikeAreEvaluatedOnce) {
  const auto a = buffer(4096), b = buffer(4096);
  const auto first = of(launch(a, 100, 1000));
  EXPECT_EQ(first->touched, (AccessCache::TouchedList{{0, {0, 400, false, true}}}));
  EXPECT_EQ(of(launch(a, 100, 1000)).get(), first.get());
  EXPECT_EQ(of(launch(b, 100, 1000)).get(), first.get());        // another buffer of that size
  EXPECT_EQ(of(launch(a, 100, 1000, 0.5F)).get(), first.get());  // what no record looks at
}

TEST_F(AccessCacheTest, WhatDiffersIsEvaluated) {
  const auto a = buffer(4096);
  const auto touched = [&](const Launch& launch) { return of(launch)->touched; };
  using List = AccessCache::TouchedList;
  EXPECT_EQ(touched(launch(a, 100, 1000)), (List{{0, {0, 400, false, true}}}));
  EXPECT_EQ(touched(launch(a, 100, 10)), (List{{0, {0, 40, false, true}}}));
  EXPECT_EQ(touched(launch(a, 50, 1000)), (List{{0, {0, 200, false, true}}}));
  EXPECT_EQ(touched(launch(buffer(64), 100, 1000)), (List{{0, {0, 64, false, true}}}));
  EXPECT_EQ(touched(launch(a, 100, 0)), (List{{0, {0, 1, false, false}}}));
  Launch moved = launch(a, 100, 1000);
  moved.record.global_offset[0] = 10;
  EXPECT_EQ(touched(moved), (List{{0, {40, 440, false, true}}}));
  Launch without = launch(a, 100, 1000);
  without.values[0].setMemory(nullptr);
  EXPECT_EQ(touched(without), List{});
}

TEST_F(AccessCacheTest, ThreadsGetTheirOwnLaunchs) {
  const std::vector<Ref<Buffer>> buffers{buffer(64), buffer(4096)};
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed)
      threads.emplace_back([&, seed] {
        std::mt19937 random(seed);
        for (int i = 0; i < 3000; ++i) {
          const Launch one = launch(buffers[random() % 2], 1 + random() % 3, int(random() % 3));
          if (of(one)->touched != evaluated(one)) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace weft::test
