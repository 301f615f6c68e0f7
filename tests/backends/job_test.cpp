// Operations that several threads share, and how the work is handed out.
#include "backends/cpu/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "backends/cpu/device.h"
#include "backends/cpu/shares.h"
#include "tests/support/test_image.h"
#include "tests/support/test_operation.h"

namespace weft::test {
namespace {

using Groups = std::vector<cpu::NodeGroups>;

constexpr cpu::Seat left{0, 0}, right{1, 1}, anywhere{2};

auto take(cpu::Shares& shares, uint32_t turn, size_t seat, cpu::Shares::Helped& helped) {
  const auto own = shares.takeOwn(turn, seat);
  return own ? own : shares.takeAnothers(turn, seat, helped);
}

// All seats.
constexpr auto all = [](size_t) { return true; };

// What a seat's thread gets when it takes everything alone.
std::vector<uint64_t> takeAll(cpu::Shares& shares, uint32_t turn, size_t seat) {
  std::vector<uint64_t> got;
  cpu::Shares::Helped helped;
  while (const auto piece = take(shares, turn, seat, helped))
    shares.forEachRun(*piece, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) got.push_back(i);
    });
  return got;
}

TEST(Shares, OwnShareFromTheFrontThenOthersFromTheBack) {
  cpu::Shares shares(std::vector{anywhere, anywhere});
  const uint32_t turn = shares.fill(10, 20, 2, {}, all);
  EXPECT_EQ(shares.left(), 6u);
  EXPECT_EQ(takeAll(shares, turn, 1),
            (std::vector<uint64_t>{15, 16, 17, 18, 19, 14, 12, 13, 10, 11}));
  EXPECT_EQ(shares.left(), 0u);
  EXPECT_TRUE(takeAll(shares, turn, 0).empty());
}

TEST(Shares, SharesAreForThoseThatAreThere) {
  cpu::Shares shares(std::vector{anywhere, anywhere, anywhere, anywhere});
  const uint32_t turn =
      shares.fill(0, 8, 1, {}, [](size_t seat) { return seat == 1 || seat == 2; });
  for (const size_t seat : {0, 3}) EXPECT_FALSE(shares.takeOwn(turn, seat));
  EXPECT_EQ(takeAll(shares, turn, 1), (std::vector<uint64_t>{0, 1, 2, 3, 7, 6, 5, 4}));
  const uint32_t next = shares.fill(0, 8, 1, {}, [](size_t) { return false; });
  EXPECT_TRUE(shares.takeOwn(next, 3));
}

TEST(Shares, WhoComesLateGetsNothingOfTheNextTurn) {
  cpu::Shares shares(std::vector{anywhere, anywhere});
  const uint32_t before = shares.fill(0, 2, 1, {}, all);
  EXPECT_EQ(takeAll(shares, before, 0), (std::vector<uint64_t>{0, 1}));
  const uint32_t turn = shares.fill(0, 2, 1, {}, all);
  EXPECT_TRUE(takeAll(shares, before, 0).empty());
  EXPECT_EQ(takeAll(shares, turn, 1), (std::vector<uint64_t>{1, 0}));
}

TEST(Shares, MorePiecesThanCanBeCountedAreLarger) {
  cpu::Shares shares(std::vector{anywhere});
  constexpr uint64_t many = uint64_t{10} << 20;
  const uint32_t turn = shares.fill(0, many, 1, {}, all);
  uint64_t next = 0;
  while (const auto piece = shares.takeOwn(turn, 0)) {
    ASSERT_EQ(piece->begin, next);
    next = piece->end;
  }
  EXPECT_EQ(next, many);
}

TEST(Shares, FewPiecesGoToFewSeats) {
  cpu::Shares shares(std::vector{anywhere, anywhere, anywhere, anywhere});
  const uint32_t turn = shares.fill(0, 8, 4, {}, all);
  EXPECT_EQ(shares.left(), 2u);
  EXPECT_TRUE(shares.isTaker(2));
  EXPECT_FALSE(shares.isTaker(1));
  EXPECT_FALSE(shares.takeOwn(turn, 1));
  const auto piece = shares.takeOwn(turn, 2);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->seat, 2u);
  EXPECT_EQ(piece->size(), 4u);
}

TEST(Shares, NodesGroupsGoToTheirSeats) {
  cpu::Shares shares(std::vector{left, right});
  const Groups groups = {{0, 4, 0}, {6, 10, 1}, {10, 12, 0}};
  const uint32_t turn = shares.fill(1, 14, 1, groups, all);
  EXPECT_EQ(shares.left(), 13u);
  // Of 4, 5, 12 and 13, which are nobody's, each has one half; its neighbour's come last.
  EXPECT_EQ(takeAll(shares, turn, 0),
            (std::vector<uint64_t>{1, 2, 3, 4, 10, 11, 12, 13, 9, 8, 7, 6, 5}));
}

TEST(Shares, EachItemIsGivenOnce) {
  constexpr uint64_t count = 10'000;
  cpu::Shares shares(std::vector{left, right, left, anywhere});
  const Groups groups = {{0, 2'000, 1}, {2'500, 7'000, 0}, {7'000, 7'001, 2}};
  for (const Groups& owned : {Groups(), groups}) {
    const uint32_t turn = shares.fill(0, count, 7, owned, all);
    std::vector<std::atomic<int>> given(count);
    std::vector<std::thread> threads;
    for (size_t seat = 0; seat < 4; ++seat)
      threads.emplace_back([&, seat] {
        for (const uint64_t i : takeAll(shares, turn, seat)) given[i].fetch_add(1);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(std::all_of(given.begin(), given.end(), [](auto& n) { return n == 1; }));
  }
}

// Short shared launches of several streams, so close together that their participants stay awake,
// of lengths for a few threads and for all; on a machine of so many units.
class Jobs : public testing::TestWithParam<int> {};

TEST_P(Jobs, EveryGroupRunsOnceInLaunchAfterLaunch) {
  constexpr uint32_t groups[] = {40, 10, 300}, rounds = 100;
  const std::string description = "core:" + std::to_string(GetParam()) + " pu:1";
  const auto machine = cpu::Topology::synthetic(description.c_str());
  const auto device = std::make_shared<cpu::Device>(machine, machine->units(), cpu::Settings());
  const auto module = device->load(testImage(device->target()));
  struct Row {
    std::unique_ptr<port::Stream> stream;
    std::unique_ptr<port::Memory> memory;
    std::vector<std::unique_ptr<TestOperation>> operations;
    std::vector<std::unique_ptr<TestLaunch>> launches;
  };
  std::vector<Row> rows(3);
  for (Row& row : rows) {
    row.stream = device->createStream(port::Order::in_order);
    row.memory = device->allocate(std::ranges::max(groups) * 4, 64);
    std::fill_n(reinterpret_cast<uint32_t*>(row.memory->host()), std::ranges::max(groups), 0u);
    for (const uint32_t count : groups) {
      row.launches.push_back(std::make_unique<TestLaunch>(*module, kernelIndex("busy"), count));
      row.launches.back()->value(2'000).memory(row.memory.get());
    }
  }
  for (uint32_t i = 0; i < rounds; ++i)
    for (size_t length = 0; length < std::size(groups); ++length)
      for (Row& row : rows) {
        row.operations.push_back(std::make_unique<TestOperation>(row.launches[length]->whole()));
        row.stream->submit(*row.operations.back());
      }
  for (Row& row : rows) {
    const TestOperation& last = *row.operations.back();
    row.stream->assist([&] { return last.isFinished(); });
    for (auto& operation : row.operations) ASSERT_TRUE(operation->wait());
    const auto* const data = reinterpret_cast<const uint32_t*>(row.memory->host());
    for (uint32_t g = 0; g < std::ranges::max(groups); ++g)
      ASSERT_EQ(data[g], rounds * std::ranges::count_if(groups, [&](uint32_t n) { return g < n; }));
  }
}

// The last one of many brief launches waits for another stream's operation, in threads that had
// stayed awake for it.
TEST_P(Jobs, WhatWasBriefBeforeHoldsUpNobody) {
  const std::string description = "core:" + std::to_string(GetParam()) + " pu:1";
  const auto machine = cpu::Topology::synthetic(description.c_str());
  const auto device = std::make_shared<cpu::Device>(machine, machine->units(), cpu::Settings());
  const auto module = device->load(testImage(device->target()));
  constexpr size_t bytes = 64 + 1024 * 8;
  const auto memory = device->allocate(bytes, 64);
  const auto chain = device->createStream(port::Order::in_order);
  const auto other = device->createStream(port::Order::in_order);
  const uint64_t groups = 20u * unsigned(GetParam());
  for (int round = 0; round < 5; ++round) {
    std::fill_n(memory->host(), bytes, std::byte{0});
    TestLaunch brief(*module, kernelIndex("until_flag"), groups);
    brief.value(2'000).memory(memory.get()).memory(memory.get(), 64);
    TestLaunch endless(*module, kernelIndex("until_flag"), groups);
    endless.value(1'000'000'000'000).memory(memory.get()).memory(memory.get(), 64);
    std::vector<std::unique_ptr<TestOperation>> operations;
    for (int i = 0; i < 200; ++i) {
      operations.push_back(std::make_unique<TestOperation>(brief.whole()));
      chain->submit(*operations.back());
    }
    TestOperation last(endless.whole());
    chain->submit(last);
    ASSERT_TRUE(operations.back()->wait());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    TestLaunch tiny(*module, kernelIndex("empty"), 1);
    TestOperation quick(tiny.whole());
    other->submit(quick);
    EXPECT_TRUE(quick.wait(std::chrono::seconds(20)));
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(memory->host())).store(1);
    ASSERT_TRUE(last.wait());
    ASSERT_TRUE(quick.wait());
  }
}

INSTANTIATE_TEST_SUITE_P(Units, Jobs, testing::Values(2, 3, 5, 24));

}  // namespace
}  // namespace weft::test
