#include "scheduler/combine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace weft {
namespace {

// Two parts change different units; some of them write what was there.
TEST(Combine, TakesUnitsThatChanged) {
  std::mt19937 random(1);
  for (const uint8_t unit : {1, 2, 4, 8}) {
    for (size_t size = 0; size < 70; ++size) {
      std::vector<uint8_t> before(size), copies[2];
      for (uint8_t& byte : before) byte = static_cast<uint8_t>(random() % 4);
      for (auto& copy : copies) copy = before;
      std::vector<uint8_t> expected = before, target = before;
      for (size_t begin = 0; begin < size; begin += unit) {
        const size_t writer = random() % 2;
        const bool writes = random() % 2;
        bool changes = false;
        for (size_t i = begin; i < std::min(begin + unit, size); ++i) {
          if (writes && random() % 4 == 0) copies[writer][i] = static_cast<uint8_t>(random());
          changes |= copies[writer][i] != before[i];
          expected[i] = copies[writer][i];
        }
        if (changes) continue;
        // What neither of them changed may have been changed by others since.
        for (size_t i = begin; i < std::min(begin + unit, size); ++i)
          target[i] = expected[i] = static_cast<uint8_t>(random());
      }
      for (const auto& copy : copies)
        combine(Combination::none, unit, reinterpret_cast<std::byte*>(target.data()),
                reinterpret_cast<const std::byte*>(before.data()),
                reinterpret_cast<const std::byte*>(copy.data()), size);
      EXPECT_EQ(target, expected) << size << " in units of " << unsigned(unit);
    }
  }
}

// Where both changed a unit the last one's stays, whole.
TEST(Combine, TearsNoUnit) {
  const auto result = [](uint8_t unit) {
    uint64_t target = 0;
    const uint64_t before = 0, one = 0x1111111111111111, other = 0x2200220022002200;
    for (const uint64_t* copy : {&one, &other})
      combine(Combination::none, unit, reinterpret_cast<std::byte*>(&target),
              reinterpret_cast<const std::byte*>(&before), reinterpret_cast<const std::byte*>(copy),
              sizeof target);
    return target;
  };
  EXPECT_EQ(result(1), 0x2211221122112211u);
  for (const uint8_t unit : {2, 4, 8}) EXPECT_EQ(result(unit), 0x2200220022002200u);
}

// The first and the last element change, others are written by another thread meanwhile: one beside
// the first, where possible in its word, and one in a word without changes.
template <class T>
void besideAnotherWriter(Combination how) {
  constexpr size_t of_other[] = {1, 2 * sizeof(uint64_t) / sizeof(T)};
  alignas(uint64_t) T target[4 * sizeof(uint64_t) / sizeof(T)] = {};
  T before[std::size(target)] = {}, copy[std::size(target)] = {};
  copy[0] = copy[std::size(target) - 1] = 1;
  std::atomic<bool> stop = false;
  std::atomic<unsigned> rounds = 0, lost = 0;
  std::thread other([&] {
    for (T value = 1; !stop; ++value, ++rounds)
      for (const size_t i : of_other) {
        const std::atomic_ref<T> place(target[i]);
        place.store(value, std::memory_order_relaxed);
        for (int k = 0; k < 20; ++k) lost += place.load(std::memory_order_relaxed) != value;
      }
  });
  for (int i = 0; i < 200'000 || rounds < 1000; ++i)
    combine(how, sizeof(T), reinterpret_cast<std::byte*>(target),
            reinterpret_cast<const std::byte*>(before), reinterpret_cast<const std::byte*>(copy),
            sizeof target);
  stop = true;
  other.join();
  EXPECT_EQ(lost, 0u) << sizeof(T);
  EXPECT_NE(target[0], 0u);
}

TEST(Combine, LeavesWhatDidNotChangeToOthers) {
  besideAnotherWriter<uint8_t>(Combination::none);
  besideAnotherWriter<uint16_t>(Combination::none);
  besideAnotherWriter<uint32_t>(Combination::none);
  besideAnotherWriter<uint64_t>(Combination::none);
  besideAnotherWriter<uint32_t>(Combination::maximum);
  besideAnotherWriter<uint64_t>(Combination::maximum);
}

template <class T>
T combinedOf(Combination how, T before, T one, T other) {
  T target = before;
  for (const T* copy : {&one, &other})
    combine(how, sizeof(T), reinterpret_cast<std::byte*>(&target),
            reinterpret_cast<const std::byte*>(&before), reinterpret_cast<const std::byte*>(copy),
            sizeof(T));
  return target;
}

TEST(Combine, Integers) {
  EXPECT_EQ(combinedOf<uint32_t>(Combination::add, 10, 13, 6), 9u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::add, 1, ~0u, 3), 1u);
  EXPECT_EQ(combinedOf<uint64_t>(Combination::add, uint64_t{1} << 40, 3, uint64_t{2} << 40),
            (uint64_t{1} << 40) + 3);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::bit_and, 15, 7, 13), 5u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::bit_or, 1, 3, 5), 7u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::bit_xor, 1, 3, 5), 7u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::minimum, ~0u, 7, 9), 7u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::maximum, 3, ~0u, 9), ~0u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::minimum_signed, 3, ~0u, 2), ~0u);
  EXPECT_EQ(combinedOf<uint32_t>(Combination::maximum_signed, ~0u, ~0u, 2), 2u);
  EXPECT_EQ(combinedOf<uint64_t>(Combination::minimum_signed, 3, ~uint64_t{0}, 2), ~uint64_t{0});
}

// Against all pairs of copies, element by element.
TEST(Combine, FindsWhatTwoChanged) {
  std::mt19937 random(2);
  size_t twice = 0;
  for (const uint8_t element : {1, 2, 4, 8})
    for (size_t round = 0; round < 400; ++round) {
      const size_t size = random() % 70;
      std::vector<std::byte> before(size, std::byte{3}), copies[3];
      for (auto& copy : copies) copy = before;
      for (size_t changes = random() % 4; size > 0 && changes > 0; --changes)
        copies[random() % 3][random() % size] = std::byte(random() % 4);
      const auto changed = [&](const std::vector<std::byte>& copy, size_t at) {
        const size_t count = std::min<size_t>(element, size - at);
        return std::memcmp(copy.data() + at, before.data() + at, count) != 0;
      };
      bool expected = false;
      for (size_t at = 0; at < size; at += element)
        expected |=
            std::ranges::count_if(copies, [&](const auto& c) { return changed(c, at); }) > 1;
      const std::byte* const all[] = {copies[0].data(), copies[1].data(), copies[2].data()};
      EXPECT_EQ(changedTwice(element, before.data(), all, size), expected)
          << size << " in elements of " << unsigned(element);
      twice += expected;
    }
  EXPECT_GT(twice, 100u);
}

}  // namespace
}  // namespace weft
