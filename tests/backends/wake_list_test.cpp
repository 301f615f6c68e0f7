#include "backends/cpu/wake_list.h"

#include <gtest/gtest.h>

#include <thread>

namespace weft::cpu {
namespace {

TEST(WakeListTest, GivesWhatWasPutInOnce) {
  WakeList list(3);
  EXPECT_EQ(list.pop(), std::nullopt);
  for (size_t round = 0; round < 100; ++round) {
    for (const size_t seat : {2, 0, 1}) list.push(seat);
    EXPECT_EQ(list.pop(), 2);
    EXPECT_EQ(list.pop(), 0);
    EXPECT_EQ(list.pop(), 1);
    EXPECT_EQ(list.pop(), std::nullopt);
  }
}

// As workers do: a seat is put in again when it was taken out.
TEST(WakeListTest, ThreadsTakeEachSeatOnce) {
  constexpr size_t seats = 5, rounds = 20'000, threads = 4;
  WakeList list(seats);
  std::vector<std::atomic<int>> inside(seats);
  std::atomic<size_t> left{rounds};
  std::atomic<bool> twice{false};
  std::vector<std::jthread> takers;
  for (size_t i = 0; i < threads; ++i)
    takers.emplace_back([&] {
      while (left.load() != 0) {
        const auto seat = list.pop();
        if (!seat) {
          std::this_thread::yield();
          continue;
        }
        if (inside[*seat].exchange(0) != 1) twice.store(true);
        left.fetch_sub(1);
      }
    });
  for (size_t round = 0; round < rounds; ++round) {
    const size_t seat = round % seats;
    while (inside[seat].load() != 0) std::this_thread::yield();
    inside[seat].store(1);
    list.push(seat);
  }
  takers.clear();
  EXPECT_FALSE(twice.load());
  EXPECT_EQ(list.pop(), std::nullopt);
}

}  // namespace
}  // namespace weft::cpu
