#include "core/spin_lock.h"

#include <ctime>

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {
namespace {

std::chrono::nanoseconds workedByThisThread() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

TEST(SpinLock, LetsOneThreadInAtATime) {
  constexpr int threads = 4, rounds = 20'000;
  SpinLock lock;
  int count = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  all.clear();
  EXPECT_EQ(count, threads * rounds);
}

TEST(SpinLock, IsTakenOnce) {
  SpinLock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(SpinLock, SleepsWhileItIsKeptForLong) {
  constexpr std::chrono::milliseconds held{200};
  SpinLock lock;
  lock.lock();
  std::chrono::nanoseconds worked{};
  std::jthread waiting([&] {
    const auto before = workedByThisThread();
    const std::lock_guard guard(lock);
    worked = workedByThisThread() - before;
  });
  std::this_thread::sleep_for(held);
  lock.unlock();
  waiting.join();
  EXPECT_LT(worked, held / 2);
}

}  // namespace
}  // namespace weft
