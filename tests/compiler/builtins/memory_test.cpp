// OpenCL C 6.15.7, 6.15.11, 6.15.12: what touches memory.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "tests/compiler/builtins/program.h"

namespace weft::test {
namespace {

int barriers = 0;

const Program& program() {
  static const Program instance("memory");
  return instance;
}

TEST(Atomics, Legacy) {
  int i = 1, r[18] = {};
  unsigned u = 5;
  int64_t l = 1;
  float f = 1.5f;
  program().get<void(int*, unsigned*, int64_t*, float*, int*)>("legacy")(&i, &u, &l, &f, r);
  const int expected[18] = {1, 6, 4, 100, 101, 100, 7, 7, -3, 6, 2, 10, 11, 5, -1, 1, 1, 1};
  for (int k = 0; k < 18; ++k) EXPECT_EQ(r[k], expected[k]) << k;
  EXPECT_EQ(u, 9u);
  EXPECT_EQ(f, 2.5f);
}

TEST(Atomics, Modern) {
  int i = 0, flag = 0, r[20] = {};
  uint64_t u = 3;
  double d = 0.25;
  program().get<void(int*, uint64_t*, double*, int*, int*)>("modern")(&i, &u, &d, &flag, r);
  const int expected[20] = {10, 20, 20, 30, 35, 34, -4, 12, 15, 6, 0, 7, 1, 9, 1, 1, 0, 1, 0, 0};
  for (int k = 0; k < 20; ++k) EXPECT_EQ(r[k], expected[k]) << k;
  EXPECT_EQ(u, 3 + (uint64_t{1} << 33));
  EXPECT_EQ(d, 0.5);
}

TEST(Atomics, NothingIsLostBetweenThreads) {
  const auto count = program().get<void(int*, int*, int)>("count");
  int sum = 0, legacy_sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { count(&sum, &legacy_sum, 20000); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 80000);
  EXPECT_EQ(legacy_sum, 80000);
}

TEST(VectorData, ThreeElementsAreThree) {
  int to[7] = {-1, -1, -1, -1, -1, -1, -1}, from[6] = {0, 1, 2, 3, 4, 5};
  program().get<void(int*, const int*)>("threes")(to, from);
  const int expected[7] = {-1, -1, -1, 3, 4, 5, -1};
  for (int k = 0; k < 7; ++k) EXPECT_EQ(to[k], expected[k]) << k;
}

TEST(AsyncCopy, CopiesAndWaitsWithABarrier) {
  alignas(64) int in[16] = {}, from[16], to[32] = {};
  std::iota(std::begin(from), std::end(from), 1);
  barriers = 0;
  program().get<void(int*, const int*, int*, uint64_t)>("copies")(in, from, to, 16);
  EXPECT_EQ(barriers, 2);
  for (int k = 0; k < 16; ++k) {
    EXPECT_EQ(in[k], from[k]);
    EXPECT_EQ(to[16 + k], from[k]);
    EXPECT_EQ(to[k], k % 2 ? 0 : from[k / 2]);
  }
}

}  // namespace

// A work-group of one, in place of the lowering to lanes.
extern "C" __attribute__((visibility("default"))) uint64_t _Z19get_local_linear_idv() { return 0; }
extern "C" __attribute__((visibility("default"))) void _Z7barrierj(unsigned) { ++barriers; }

}  // namespace weft::test
