// Launches of a unified device whose members can wait for each other: the parts of the next one are
// submitted behind those of the last one.
#include <set>

#include "scheduler/executed_parts.h"
#include "scheduler/residency.h"
#include "tests/scheduler/stencil_kernel.h"
#include "tests/scheduler/unified_machine.h"

namespace weft::test {
namespace {

constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

class SplitLaunchTest : public UnifiedMachine {
 protected:
  static constexpr size_t bytes = stencil_bytes;

  void start(bool manual) {
    UnifiedMachine::start(manual, {stencil<0>("straight"), stencil<2>("shifted")});
    for (size_t i = 0; i < bytes; ++i) x[i] = uint8_t(i * 7 + 1), y[i] = uint8_t(i * 5 + 2);
    a = buffer(bytes, x.data());
    b = buffer(bytes, y.data());
  }

  // There is enough to do for both members.
  void startGuided() {
    split = "guided";
    compute_units = 1;
    start(true);
  }

  // From one to the other in turns; every fifth command is one that is not divided. `chained`: each
  // waits for the event of the one before it.
  void iterate(int times, bool chained = false) {
    const auto before = [&] {
      return chained && !events.empty() ? WaitList(&events.back(), 1) : WaitList();
    };
    for (int i = 0; i < times; ++i) {
      Ref<Buffer>&from = i % 2 ? b : a, &to = i % 2 ? a : b;
      auto &in = i % 2 ? y : x, &out = i % 2 ? x : y;
      if (i % 5 == 4) {
        const auto value = char(i);
        events.push_back(enqueueFill(*queue, *from, &value, 1, size_t(i) * 16, 100, before()));
        std::fill_n(in.begin() + i * 16, 100, uint8_t(value));
      }
      const bool shifted = i % 3 == 0;
      const char* const name = shifted ? "shifted" : "straight";
      events.push_back(launchOn(*queue, name, {from.get(), to.get()}, before()));
      apply(in.data(), out.data(), 0, items, shifted ? 2 : 0);
    }
  }

  Ref<Buffer> a, b;
  std::vector<uint8_t> x = std::vector<uint8_t>(bytes), y = x;  // what they have to be
};

TEST_F(SplitLaunchTest, PartsAreSubmittedBehindThoseOfTheLaunchBefore) {
  start(true);
  iterate(20);
  for (const auto& event : events) EXPECT_LE(event->status(), CL_SUBMITTED);
  EXPECT_GE(pending(), 2 * 20u);
  runInAnyOrder(1);
  for (const auto& event : events) EXPECT_EQ(event->status(), CL_COMPLETE);
  std::vector<uint8_t> data(bytes);
  ASSERT_EQ(read(*a, data), CL_COMPLETE);
  EXPECT_EQ(data, x);
  ASSERT_EQ(read(*b, data), CL_COMPLETE);
  EXPECT_EQ(data, y);
  EXPECT_EQ(violations(), 0u);
}

// So it costs the thousandth as much as the first.
TEST_F(SplitLaunchTest, FewOfManyAreRememberedByTheirBytes) {
  start(true);
  constexpr int many = 100;
  for (int i = 0; i < many; ++i) launch("straight", {(i % 2 ? b : a).get(), (i % 2 ? a : b).get()});
  EXPECT_GE(pending(), size_t{2 * many});
  size_t most = 0;
  {
    const auto tickets = State::of(*context).tickets().lock();
    for (const Ref<Buffer>& buffer : {a, b})
      for (const auto& [begin, interval] : Residency::of(*buffer).intervals())
        most = std::max(most, interval.users.size());
  }
  EXPECT_LE(most, 8u);
  runInAnyOrder(1);
  for (const auto& event : events) EXPECT_EQ(event->status(), CL_COMPLETE);
}

// Its parts are in other streams than the queue's.
TEST_F(SplitLaunchTest, WhoAsksForTheStatusPollsTheMembers) {
  start(true);
  iterate(1);
  const size_t before[] = {fakes->device(0).polls(), fakes->device(1).polls()};
  EXPECT_LE(events.back()->poll(), CL_SUBMITTED);
  EXPECT_EQ(fakes->device(0).polls() - before[0], 2u);
  EXPECT_EQ(fakes->device(1).polls() - before[1], 1u);
  runInAnyOrder(1);
  EXPECT_EQ(events.back()->poll(), CL_COMPLETE);
}

class SplitLaunchHomeTest : public SplitLaunchTest, public testing::WithParamInterface<bool> {
 protected:
  SplitLaunchHomeTest() { home_waits = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Homes, SplitLaunchHomeTest, testing::Bool());

TEST_P(SplitLaunchHomeTest, InAnyOrderTheBytesAreRight) {
  start(true);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    iterate(8);
    runInAnyOrder(seed);
    std::vector<uint8_t> data(bytes);
    ASSERT_EQ(read(seed % 2 ? *a : *b, data), CL_COMPLETE);
    ASSERT_EQ(data, seed % 2 ? x : y) << seed;
  }
}

// Now these, now those.
TEST_P(SplitLaunchHomeTest, SomeOfFourMembersWork) {
  members = 4;
  start(true);
  const auto in_order = queue, unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::set<size_t> parts;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    events.clear();
    queue = seed % 4 < 2 ? in_order : unordered;
    iterate(8, queue == unordered);
    runInAnyOrder(seed);
    for (const auto& event : events)
      if (const auto* divided = dynamic_cast<const PartedCommand*>(event.get()))
        parts.insert(divided->executedParts().size());
    std::vector<uint8_t> data(bytes);
    ASSERT_EQ(read(seed % 2 ? *a : *b, data), CL_COMPLETE);
    ASSERT_EQ(data, seed % 2 ? x : y) << seed;
  }
  EXPECT_EQ(parts, (std::set<size_t>{2, 3, 4}));
  EXPECT_EQ(violations(), 0u);
}

// Nothing but the events' order keeps a launch behind the last but one, which wrote the same bytes:
// the one between them has nothing to do with those.
TEST_P(SplitLaunchHomeTest, WhoOfFourMembersWritesLastIsRight) {
  members = 4;
  start(true);
  queue = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<uint8_t> z(bytes);
  const auto c = buffer(bytes, z.data());
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    events.clear();
    for (int i = 0; i < 8; ++i) {
      const bool shifted = i % 4 < 2;
      events.push_back(launchOn(*queue, shifted ? "shifted" : "straight",
                                {a.get(), (i % 2 ? b : c).get()},
                                events.empty() ? WaitList() : WaitList(&events.back(), 1)));
      apply(x.data(), (i % 2 ? y : z).data(), 0, items, shifted ? 2 : 0);
    }
    runInAnyOrder(seed);
    for (const auto& [buffer, expected] : {std::pair(b, &y), std::pair(c, &z)}) {
      std::vector<uint8_t> data(bytes);
      ASSERT_EQ(read(*buffer, data), CL_COMPLETE);
      ASSERT_EQ(data, *expected) << seed;
    }
  }
}

TEST_P(SplitLaunchHomeTest, DevicesThatWorkByThemselves) {
  start(false);
  for (int round = 0; round < 6; ++round) {
    iterate(30);
    std::vector<uint8_t> data(bytes);
    ASSERT_EQ(read(*a, data), CL_COMPLETE);
    ASSERT_EQ(data, x) << round;
  }
}

// What reads its bytes, and what reads those, ends with it; nothing hangs, nothing old is read.
TEST_F(SplitLaunchTest, AFailingPartFailsWhatFollows) {
  start(true);
  iterate(1);
  finishAll();
  iterate(7);
  const size_t first = fakes->device(0).able() > 0 ? 0 : 1;
  EXPECT_TRUE(fakes->device(first).fail(CL_OUT_OF_RESOURCES));
  runInAnyOrder(3);
  EXPECT_EQ(events[0]->status(), CL_COMPLETE);
  size_t failed = 0;
  for (size_t i = 1; i < events.size(); ++i) failed += events[i]->status() < 0;
  EXPECT_GE(failed, 6u);  // the fill is not one of them
  std::vector<uint8_t> data(bytes);
  EXPECT_EQ(read(*b, data), dependent);
  const char value = 1;
  const auto again = enqueueFill(*queue, *b, &value, 1, 0, bytes, {});
  EXPECT_EQ(read(*b, data), CL_COMPLETE);
  EXPECT_EQ(data, std::vector<uint8_t>(bytes, 1));
}

// Of members of one kind, before anything is divided; the next one waits for what comes of it.
TEST_F(SplitLaunchTest, OneLaunchAloneTellsTheSpeed) {
  startGuided();
  const auto partsOf = [](const Event& event) {
    return dynamic_cast<const PartedCommand&>(event).executedParts().size();
  };
  iterate(3);
  runAll(std::chrono::milliseconds(1));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(partsOf(*events[0]), 1u);
  EXPECT_EQ(partsOf(*events[1]), 1u);  // another kernel, not seen before
  EXPECT_EQ(partsOf(*events[2]), 2u);
  std::vector<uint8_t> data(bytes);
  ASSERT_EQ(read(*b, data), CL_COMPLETE);
  EXPECT_EQ(data, y);
}

// The second member has neither memory for the buffers nor their bytes: what that takes once is
// more than a short launch gains.
TEST_F(SplitLaunchTest, AShortKernelIsDividedOnceThatWouldHaveRepaid) {
  startGuided();
  std::vector<size_t> parts;
  for (int i = 0; i < 20; ++i) {
    launch("straight", {a.get(), b.get()});
    runAll(std::chrono::microseconds(30));
    ASSERT_EQ(events.back()->status(), CL_COMPLETE);
    parts.push_back(dynamic_cast<const PartedCommand&>(*events.back()).executedParts().size());
  }
  const auto first = std::ranges::find(parts, 2u) - parts.begin();
  EXPECT_GE(first, 3);
  EXPECT_LE(first, 10);
}

// One that failed told nothing.
TEST_F(SplitLaunchTest, AFailedOneIsMeasuredAgain) {
  startGuided();
  const auto once = [&] {
    events.clear();
    launch("straight", {a.get(), b.get()});
    return events.front();
  };
  const auto failed = once();
  const size_t first = fakes->device(0).able() > 0 ? 0 : 1;
  ASSERT_TRUE(fakes->device(first).fail(CL_OUT_OF_RESOURCES));
  runAll(std::chrono::milliseconds(1));
  ASSERT_LT(failed->status(), 0);
  for (const size_t parts : {1u, 2u}) {
    const auto next = once();
    runAll(std::chrono::milliseconds(1));
    ASSERT_EQ(next->status(), CL_COMPLETE);
    EXPECT_EQ(dynamic_cast<const PartedCommand&>(*next).executedParts().size(), parts);
  }
}

// Each group takes as long, but in a hiccup those of the second member.
class SharesTest : public UnifiedMachine {
 protected:
  void start() {
    split = "guided";
    compute_units = 1;
    FakeKernelInfo kernel = stencil<0>("straight");
    kernel.function = [this, apply = kernel.function](const FakeLaunch& launch) {
      const uint64_t groups = launch.slice.end[0] - launch.slice.begin[0];
      fakes->device(running_).clock().advance(groups *
                                              (hiccup_ && running_ == 1 ? 300'000 : 100'000));
      apply(launch);
    };
    UnifiedMachine::start(true, {kernel});
    always_ = newQueue(0, SplitPolicy::always);
    for (Ref<Buffer>& each : buffers_) each = buffer(stencil_bytes, zeros_.data());
  }
  // The last group of the first member's part, after a launch's end.
  uint64_t launch(bool hiccup = false) {
    hiccup_ = hiccup;
    const auto event = launchOn(*always_, "straight", {buffers_[0].get(), buffers_[1].get()});
    while (pending() > 0)
      for (running_ = 0; running_ < 2; ++running_) fakes->device(running_).finishAny(0);
    return dynamic_cast<const PartedCommand&>(*event).executedParts().at(0).groups.end[0];
  }
  void TearDown() override {
    always_ = nullptr;
    UnifiedMachine::TearDown();
  }

 private:
  std::vector<uint8_t> zeros_ = std::vector<uint8_t>(stencil_bytes);
  Ref<Queue> always_;
  Ref<Buffer> buffers_[2];
  size_t running_ = 0;  // the member
  bool hiccup_ = false;
};

// Of launches that are known few are measured, but those that follow a move of the shares are.
TEST_F(SharesTest, WhatAHiccupDidIsUndoneSoon) {
  start();
  for (int i = 0; i < 200; ++i) launch();
  const uint64_t share = launch();
  int launches = 0;
  while (launch(true) == share && launches < 200) ++launches;
  EXPECT_LT(launches, 130);
  EXPECT_GT(launches, 4);
  for (launches = 0; launch() != share && launches < 200;) ++launches;
  EXPECT_LT(launches, 8);
}

}  // namespace
}  // namespace weft::test
