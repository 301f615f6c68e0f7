// Launches of a unified device whose parts may turn out to have changed the same bytes, as with
// atomics that few work-items come by: then all of it runs again on one member.
#include <algorithm>
#include <atomic>

#include "scheduler/executed_parts.h"
#include "tests/scheduler/unified_machine.h"

namespace weft::test {
namespace {

constexpr size_t count = 1024, group = 16;
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

using Words = std::vector<uint32_t>;

// Which elements are looked for, and what is found. The counter is at the list's place 0.
void search(const uint32_t* in, uint32_t* list, uint32_t* each, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    each[i] = each[i] * 3 + 1;
    if (in[i] != 0) list[++list[0]] = uint32_t(i);
  }
}

std::atomic<size_t> items_run;

FakeKernelInfo searchKernel() {
  // One is written in place by the items that own it; to run again it has to be as it was.
  ArgumentInfo each = pointerArgument(true, true);
  each.reads_known = each.writes_known = true;
  AccessStep id, size, offset;
  id.code = AccessCode::global_id;
  size.value = sizeof(uint32_t);
  offset.code = AccessCode::multiply;
  offset.b = 1;
  each.accesses = {{true, true, true, 2, sizeof(uint32_t), {id, size, offset}}};
  return {"search",
          {pointerArgument(true, false), pointerArgument(true, true), each},
          [](const FakeLaunch& launch) {
            items_run += (launch.slice.end[0] - launch.slice.begin[0]) * group;
            search(launch.pointer<const uint32_t>(0), launch.pointer<uint32_t>(1),
                   launch.pointer<uint32_t>(2), launch.slice.begin[0] * group,
                   launch.slice.end[0] * group);
          }};
}

class ExclusiveMergingTest : public UnifiedMachine {
 protected:
  void start(bool manual) {
    hazards = static_cast<uint32_t>(SplitHazard::global_atomics);
    UnifiedMachine::start(manual, {searchKernel()});
    setUp({});
  }
  void setUp(std::initializer_list<size_t> wanted) {
    in.assign(count, 0);
    for (const size_t i : wanted) in[i] = 1;
    list.assign(count + 1, 0);
    each.resize(count);
    for (size_t i = 0; i < count; ++i) each[i] = uint32_t(i);
    memory_ = {buffer(4 * count, in.data()), buffer(4 * (count + 1), list.data()),
               buffer(4 * count, each.data())};
  }
  Event& launch() {
    UnifiedMachine::launch("search", {memory_[0].get(), memory_[1].get(), memory_[2].get()});
    return *events.back();
  }
  void expectFound() {
    search(in.data(), list.data(), each.data(), 0, count);
    expectContents();
  }
  void expectContents() {
    Words found(count + 1), data(count);
    ASSERT_EQ(read(*memory_[1], found), CL_COMPLETE);
    ASSERT_EQ(read(*memory_[2], data), CL_COMPLETE);
    // In whichever order.
    EXPECT_EQ(found[0], list[0]);
    std::ranges::sort(found);
    Words sorted = list;
    std::ranges::sort(sorted);
    EXPECT_EQ(found, sorted);
    EXPECT_EQ(data, each);
  }
  static size_t parts(const Event& event) {
    const auto* const parted = dynamic_cast<const PartedCommand*>(&event);
    return parted ? parted->executedParts().size() : 0;
  }

  Words in, list, each;
  std::vector<Ref<Buffer>> memory_;
};

TEST_F(ExclusiveMergingTest, WhatOnePartAloneChangesIsMerged) {
  start(false);
  for (const auto& wanted : {std::initializer_list<size_t>{}, {0, 1, 2}, {1023}}) {
    setUp(wanted);
    Event& event = launch();
    ASSERT_EQ(event.wait(), CL_COMPLETE);
    EXPECT_GT(parts(event), 1u);
    expectFound();
  }
}

TEST_F(ExclusiveMergingTest, WhatTwoChangedRunsAgain) {
  start(false);
  for (int round = 0; round < 8; ++round) {
    setUp({0, 1, 511, 512, 1023});
    Event& event = launch();
    ASSERT_EQ(event.wait(), CL_COMPLETE);
    EXPECT_EQ(parts(event), 1u);
    expectFound();
  }
}

TEST_F(ExclusiveMergingTest, InAnyOrderTheBytesAreRight) {
  start(true);
  for (uint64_t order = 1; order <= 30; ++order) {
    if (order % 2)
      setUp({0, 100, 500, 1023});
    else
      setUp({700});
    for (int i = 0; i < 3; ++i) {
      launch();
      search(in.data(), list.data(), each.data(), 0, count);
    }
    runInAnyOrder(order);
    for (const auto& event : events) ASSERT_EQ(event->status(), CL_COMPLETE);
    expectContents();
    if (HasFailure()) return;
    events.clear();
  }
  EXPECT_EQ(violations(), 0u);
}

// Launches that nothing orders count with the same counter: none overwrites another's count.
TEST_F(ExclusiveMergingTest, LaunchesAtTheSameTimeLoseNothing) {
  start(true);
  const Ref<Queue> unordered = newQueue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (uint64_t order = 1; order <= 40; ++order) {
    if (order % 2)
      setUp({0, 1023});
    else
      setUp({700});
    for (int i = 0; i < 3; ++i) {
      events.push_back(launchOn(i == 2 ? *queue : *unordered, "search",
                                {memory_[0].get(), memory_[1].get(), memory_[2].get()}));
      search(in.data(), list.data(), each.data(), 0, count);
    }
    runInAnyOrder(order);
    for (const auto& event : events) ASSERT_EQ(event->status(), CL_COMPLETE);
    expectContents();
    if (HasFailure()) return;
    events.clear();
  }
}

// Left to itself the runtime does not try for ever what comes to nothing.
TEST_F(ExclusiveMergingTest, KernelsThatConflictAreLeftWhole) {
  split = "guided";
  compute_units = 1;
  start(true);
  constexpr size_t launches = 40, tries = 3;
  items_run = 0;
  for (size_t round = 0; round < launches; ++round) {
    setUp({0, 1023});
    Event& event = launch();
    runAll(std::chrono::seconds(20));  // what the test itself takes does not count
    ASSERT_EQ(event.wait(), CL_COMPLETE);
    expectFound();
  }
  EXPECT_GT(items_run, launches * count);
  EXPECT_LE(items_run, (launches + tries) * count);
}

// Whichever operation fails: nothing hangs, and as long as parts have only changed their copies the
// objects are as they were.
TEST_F(ExclusiveMergingTest, WhateverFailsIsKnown) {
  for (const bool conflict : {false, true}) {
    start(true);
    bool lost = false, kept = false;
    for (size_t failing = 0;; ++failing) {
      if (conflict)
        setUp({0, 1023});
      else
        setUp({0});
      events.clear();
      launch();
      size_t done = 0;
      bool failed = false;
      while (pending() > 0) {
        FakeDevice& next = fakes->device(fakes->device(0).able() > 0 ? 0 : 1);
        const bool fails = done++ == failing;
        failed |= fails;
        ASSERT_TRUE(fails ? next.fail(CL_OUT_OF_RESOURCES) : next.finish());
      }
      if (!failed) break;
      EXPECT_LT(events[0]->status(), 0) << failing;
      Words data(count);
      const cl_int status = read(*memory_[2], data);
      EXPECT_TRUE(status == CL_COMPLETE || status == dependent) << failing << ": " << status;
      (status == CL_COMPLETE ? kept : lost) = true;
      EXPECT_TRUE(status != CL_COMPLETE || data == each) << failing;
    }
    EXPECT_EQ(events[0]->status(), CL_COMPLETE);
    expectFound();
    EXPECT_TRUE(lost);
    EXPECT_TRUE(kept);
    TearDown();
  }
}

}  // namespace
}  // namespace weft::test
