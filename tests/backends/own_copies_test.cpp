#include "backends/cpu/own_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

namespace weft::test {
namespace {

class HostMemory final : public port::Memory {
 public:
  explicit HostMemory(size_t bytes) : bytes_(bytes) {}
  size_t size() const override { return bytes_.size(); }
  std::byte* host() const override { return const_cast<std::byte*>(bytes_.data()); }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

ArgumentInfo combinedInfo(Combination combination, uint8_t bytes) {
  ArgumentInfo info;
  info.kind = ArgumentKind::global_pointer;
  info.combination = combination;
  info.combined_bytes = bytes;
  return info;
}

port::LaunchArgument bound(port::Memory& memory, size_t offset = 0) {
  return {.kind = ArgumentKind::global_pointer, .memory = &memory, .offset = offset};
}

class CombinedArguments : public testing::Test {
 protected:
  CombinedArguments() {
    kernel.split_hazards = no_split_hazard;
    kernel.arguments = {combinedInfo(Combination::add, 4), {}};
    kernel.arguments[1].kind = ArgumentKind::global_pointer;
  }
  std::vector<cpu::CombinedArgument> found(std::vector<port::LaunchArgument> arguments) {
    port::Launch launch{};
    launch.arguments = arguments;
    std::vector<cpu::CombinedArgument> result;
    if (!cpu::hasCombinedArguments(kernel)) return result;
    const size_t bytes = cpu::findCombinedArguments(launch, kernel, result);
    EXPECT_EQ(bytes, result.empty() ? 0 : result.front().bytes);
    return result;
  }

  KernelInfo kernel;
  HostMemory counters{1024}, input{4096}, large{1 << 20};
};

TEST_F(CombinedArguments, AreThoseOfAtomicsOnly) {
  const auto all = found({bound(counters, 24), bound(input)});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].argument, 0u);
  EXPECT_EQ(all[0].target, counters.host() + 24);
  EXPECT_EQ(all[0].bytes, 1000u);
}

TEST_F(CombinedArguments, AreSmall) { EXPECT_TRUE(found({bound(large), bound(input)}).empty()); }

TEST_F(CombinedArguments, AreAligned) {
  EXPECT_TRUE(found({bound(counters, 2), bound(input)}).empty());
}

TEST_F(CombinedArguments, AreReachedByNothingElse) {
  EXPECT_TRUE(found({bound(counters), bound(counters)}).empty());
  port::LaunchArgument pointer;
  pointer.kind = ArgumentKind::global_pointer;
  pointer.raw_address = input.deviceAddress();
  EXPECT_TRUE(found({bound(counters), pointer}).empty());
  kernel.split_hazards = uint32_t(SplitHazard::unnamed_memory);
  EXPECT_TRUE(found({bound(counters), bound(input)}).empty());
}

TEST_F(CombinedArguments, MayBeNull) {
  port::LaunchArgument null;
  null.kind = ArgumentKind::global_pointer;
  EXPECT_TRUE(found({null, bound(input)}).empty());
}

template <class T>
T apply(Combination combination, T a, T b) {
  using Signed = std::make_signed_t<T>;
  switch (combination) {
    case Combination::add:
      return a + b;
    case Combination::bit_and:
      return a & b;
    case Combination::bit_or:
      return a | b;
    case Combination::bit_xor:
      return a ^ b;
    case Combination::minimum:
      return std::min(a, b);
    case Combination::maximum:
      return std::max(a, b);
    case Combination::minimum_signed:
      return T(std::min(Signed(a), Signed(b)));
    case Combination::maximum_signed:
      return T(std::max(Signed(a), Signed(b)));
    case Combination::none:
      break;
  }
  return a;
}

class OwnCopiesTest : public testing::TestWithParam<Combination> {
 protected:
  // Several threads at once, each with values of its own, and each combining several times.
  template <class T>
  void check() {
    constexpr size_t count = 100, rounds = 50, threads = 4;
    std::mt19937_64 random(7);
    HostMemory memory(count * sizeof(T));
    auto* const target = reinterpret_cast<T*>(memory.host());
    std::generate_n(target, count, [&] { return T(random()); });
    std::vector<T> expected(target, target + count);
    std::vector<std::vector<T>> values(threads);
    for (auto& of_thread : values)
      for (size_t i = 0; i < count * rounds; ++i) {
        of_thread.push_back(T(random()));
        T& one = expected[i % count];
        one = apply(GetParam(), one, of_thread.back());
      }
    const std::vector<cpu::CombinedArgument> combined{
        {0, GetParam(), sizeof(T), memory.host(), memory.size()}};
    const void* const arguments[] = {nullptr, &count};
    std::vector<std::jthread> running;
    for (size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        cpu::ScratchBlock block;
        cpu::OwnCopies copies(combined, arguments, block, t);
        ASSERT_NE(copies.arguments(), nullptr);
        EXPECT_EQ(copies.arguments()[1], &count);
        T* own = nullptr;
        std::memcpy(&own, copies.arguments()[0], sizeof own);
        EXPECT_NE(own, target);
        for (size_t i = 0; i < count * rounds; ++i) {
          own[i % count] = apply(GetParam(), own[i % count], values[t][i]);
          if (i % 777 == 0) copies.combine();
        }
        copies.combine();
        copies.combine();  // of nothing
      });
    running.clear();
    EXPECT_EQ(std::vector<T>(target, target + count), expected);
  }
};

TEST_P(OwnCopiesTest, ComeToWhatAtomicsWould) {
  check<uint32_t>();
  check<uint64_t>();
}

INSTANTIATE_TEST_SUITE_P(Each, OwnCopiesTest,
                         testing::Values(Combination::add, Combination::bit_and,
                                         Combination::bit_or, Combination::bit_xor,
                                         Combination::minimum, Combination::maximum,
                                         Combination::minimum_signed, Combination::maximum_signed));

TEST(OwnCopies, WithoutArgumentsThereAreNone) {
  cpu::ScratchBlock block;
  const void* const arguments[] = {nullptr};
  cpu::OwnCopies copies({}, arguments, block, 0);
  EXPECT_EQ(copies.arguments(), nullptr);
  copies.combine();
}

}  // namespace
}  // namespace weft::test
