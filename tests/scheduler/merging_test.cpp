// Launches of a unified device whose parts write the same objects: each member has copies, which
// the host merges.
#include <algorithm>
#include <numeric>

#include "scheduler/executed_parts.h"
#include "scheduler/residency.h"
#include "tests/scheduler/unified_machine.h"

namespace weft::test {
namespace {

constexpr size_t count = 1024, group = 16, bytes = count * sizeof(uint16_t);
constexpr size_t most_read = bytes / 4 * 7;
constexpr size_t before_out = 64;  // elements
constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

// Anywhere, in halves of a word.
ArgumentInfo scattered() {
  ArgumentInfo argument = pointerArgument(true, true);
  argument.store_bytes = 2;
  return argument;
}

size_t placeOf(size_t item, size_t seed) { return (item * 331 + seed) % count; }

// out[place] += item + in[0], each item at its own place.
void scatter(uint16_t* out, const uint16_t* in, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) out[placeOf(i, in[0])] += uint16_t(i + in[0]);
}

// Any two items write the same bytes: whoever is the last, both of its bytes stay.
constexpr uint16_t of_one = 0x1234, of_other = 0x5600;
void race(uint16_t* out, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) out[i % 64] = i % 128 < 64 ? of_one : of_other;
}

constexpr uint16_t of_new_memory = 0xa5a5;  // a fake device's

std::vector<FakeKernelInfo> kernels() {
  const auto from = [](const FakeLaunch& launch) { return launch.slice.begin[0] * group; };
  const auto upTo = [](const FakeLaunch& launch) { return launch.slice.end[0] * group; };
  return {{"scatter",
           {scattered(), pointerArgument(true, false)},
           [=](const FakeLaunch& launch) {
             scatter(launch.pointer<uint16_t>(0), launch.pointer<const uint16_t>(1), from(launch),
                     upTo(launch));
           }},
          {"scatter_twice",
           {scattered(), scattered(), pointerArgument(true, false)},
           [=](const FakeLaunch& launch) {
             for (const size_t out : {0, 1})
               scatter(launch.pointer<uint16_t>(out), launch.pointer<const uint16_t>(2),
                       from(launch), upTo(launch));
           }},
          {"scatter_beside",
           {pointerArgument(false, false), scattered(), pointerArgument(true, false)},
           [=](const FakeLaunch& launch) {
             const size_t beside = launch.arguments[0].offset, at = launch.arguments[1].offset;
             if (beside > at || at - beside != before_out * sizeof(uint16_t)) return;
             scatter(launch.pointer<uint16_t>(1), launch.pointer<const uint16_t>(2), from(launch),
                     upTo(launch));
           }},
          {"race",
           {scattered()},
           [=](const FakeLaunch& launch) {
             race(launch.pointer<uint16_t>(0), from(launch), upTo(launch));
           }},
          {"store",
           {scattered()},
           [=](const FakeLaunch& launch) {
             auto* const out = launch.pointer<uint16_t>(0);
             for (size_t i = from(launch); i < upTo(launch); ++i)
               out[placeOf(i, 0)] = of_new_memory;
           }},
          {"sum",
           {[] {
             ArgumentInfo argument = pointerArgument(true, true);
             argument.combination = Combination::add;
             argument.combined_bytes = 4;
             return argument;
           }()},
           [=](const FakeLaunch& launch) {
             auto* const sums = launch.pointer<uint32_t>(0);
             for (size_t i = from(launch); i < upTo(launch); ++i) sums[i % 8] += uint32_t(i);
           }}};
}

class MergingTest : public UnifiedMachine {
 protected:
  void start(bool manual) {
    UnifiedMachine::start(manual, kernels());
    std::iota(expected.begin(), expected.end(), uint16_t{3});
    uint16_t three = 3;
    out = buffer(bytes, expected.data());
    in = buffer(sizeof three, &three);
  }
  // Every third command is one that is not divided, and changes what the launches read.
  void iterate(int times, uint16_t& seed) {
    for (int i = 0; i < times; ++i) {
      launch("scatter", {out.get(), in.get()});
      const uint16_t read[] = {seed};
      scatter(expected.data(), read, 0, count);
      if (i % 3 != 2) continue;
      seed = uint16_t(seed * 5 + 1);
      events.push_back(enqueueFill(*queue, *in, &seed, sizeof seed, 0, sizeof seed, {}));
    }
  }
  void expectResult() {
    std::vector<uint16_t> data(count);
    ASSERT_EQ(read(*out, data), CL_COMPLETE);
    EXPECT_EQ(data, expected);
  }
  // Each member has as much memory as is said, and of `in` only the first element is used.
  void startWith(uint64_t memory, size_t in_bytes) {
    memory_bytes = memory;
    start(false);
    std::vector<uint16_t> values(in_bytes / sizeof(uint16_t), 3);
    in = buffer(in_bytes, values.data());
  }
  void scatterExpected() {
    const uint16_t three[] = {3};
    scatter(expected.data(), three, 0, count);
    expectResult();
    EXPECT_EQ(events[0]->status(), CL_COMPLETE);
  }
  void scatterOnce() {
    launch("scatter", {out.get(), in.get()});
    scatterExpected();
  }
  void scatterTwice() {
    const Ref<Buffer> other = buffer(bytes, expected.data());
    launch("scatter_twice", {out.get(), other.get(), in.get()});
    scatterExpected();
    std::vector<uint16_t> data(count);
    ASSERT_EQ(read(*other, data), CL_COMPLETE);
    EXPECT_EQ(data, expected);
  }
  bool divided(const Event& event) {
    const auto* const parts = dynamic_cast<const PartedCommand*>(&event);
    return parts && parts->executedParts().size() > 1;
  }
  uint64_t spareBytes() { return State::of(*context).spareBytes(); }

  Ref<Buffer> out, in;
  std::vector<uint16_t> expected = std::vector<uint16_t>(count);
};

TEST_F(MergingTest, InAnyOrderTheBytesAreRight) {
  start(true);
  uint16_t seed = 3;
  for (uint64_t order = 1; order <= 30; ++order) {
    iterate(5, seed);
    runInAnyOrder(order);
    for (const auto& event : events) ASSERT_EQ(event->status(), CL_COMPLETE);
    expectResult();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_EQ(violations(), 0u);
}

TEST_F(MergingTest, DevicesThatWorkByThemselves) {
  start(false);
  uint16_t seed = 3;
  for (int round = 0; round < 6; ++round) {
    iterate(12, seed);
    expectResult();
  }
}

// Each of two racing writers would do, a mix of both would not.
TEST_F(MergingTest, NoStoreIsTorn) {
  start(false);
  for (int round = 0; round < 20; ++round) {
    const uint16_t zero = 0;
    enqueueFill(*queue, *out, &zero, sizeof zero, 0, bytes, {});
    launch("race", {out.get()});
    std::vector<uint16_t> data(64);
    ASSERT_EQ(read(*out, data), CL_COMPLETE);
    for (const uint16_t value : data) ASSERT_TRUE(value == of_one || value == of_other) << value;
  }
}

// Nothing that a part does changes its copy.
TEST_F(MergingTest, WhatLayInNewMemoryCanBeWritten) {
  start(false);
  const auto fresh =
      make<Buffer>(context, CL_MEM_READ_WRITE, bytes, nullptr, std::vector<cl_mem_properties>{});
  std::ranges::fill_n(fresh->storage().in(port::host_space).host(), bytes, std::byte{0});
  launch("store", {fresh.get()});
  std::vector<uint16_t> data(count);
  ASSERT_EQ(read(*fresh, data), CL_COMPLETE);
  EXPECT_EQ(data, std::vector<uint16_t>(count, of_new_memory));
  EXPECT_TRUE(divided(*events[0]));
}

TEST_F(MergingTest, SumsAreCombined) {
  start(false);
  std::vector<uint32_t> sums(8, 7), data(8);
  const Ref<Buffer> buffer = this->buffer(sums.size() * 4, sums.data());
  for (int round = 0; round < 10; ++round) {
    launch("sum", {buffer.get()});
    for (size_t i = 0; i < count; ++i) sums[i % 8] += uint32_t(i);
    ASSERT_EQ(read(*buffer, data), CL_COMPLETE);
    ASSERT_EQ(data, sums);
  }
}

// Whichever operation of a launch fails, copies and merging included: the launch does, nothing
// hangs, and either nothing has changed or the bytes are lost, until they are written again.
TEST_F(MergingTest, WhateverFailsIsKnown) {
  start(true);
  uint16_t seed = 3;
  iterate(1, seed);
  finishAll();
  expectResult();
  bool lost = false, kept = false;
  for (size_t failing = 0;; ++failing) {
    events.clear();
    const std::vector<uint16_t> before = expected;
    launch("scatter", {out.get(), in.get()});
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
    std::vector<uint16_t> data(count);
    const cl_int status = read(*out, data);
    EXPECT_TRUE(status == CL_COMPLETE || status == dependent) << failing << ": " << status;
    const bool readable = status == CL_COMPLETE;
    (readable ? kept : lost) = true;
    EXPECT_TRUE(!readable || data == before) << failing;
    out = buffer(bytes, expected.data());
  }
  EXPECT_EQ(events[0]->status(), CL_COMPLETE);
  EXPECT_TRUE(lost);
  EXPECT_TRUE(kept);
}

// One member has room for the objects, but for no copies.
TEST_F(MergingTest, WithoutRoomForCopiesKernelsRunWhole) {
  memory_bytes = 2 * bytes;
  start(false);
  uint16_t seed = 3;
  iterate(6, seed);
  expectResult();
  for (const auto& event : events) EXPECT_EQ(event->status(), CL_COMPLETE);
  EXPECT_EQ(spareBytes(), 0u);
}

TEST_F(MergingTest, TheCopiesOfAllObjectsHaveToFit) {
  startWith(3 * bytes + 1024, 4);
  scatterTwice();
  EXPECT_FALSE(divided(*events[0]));
}

TEST_F(MergingTest, TheCopiesOfAllObjectsFit) {
  startWith(7 * bytes, 4);
  scatterTwice();
  EXPECT_TRUE(divided(*events[0]));
}

TEST_F(MergingTest, CopiesHaveToFitBesideReservedMemory) {
  startWith(7 * bytes, 4);
  std::shared_ptr<void> room;
  allocateIn(*context, *platform->devices().at(0), 4 * bytes,
             [&](std::shared_ptr<void> given) { room = std::move(given); });
  scatterTwice();
  EXPECT_FALSE(divided(*events[0]));
}

TEST_F(MergingTest, CopiesHaveToFitBesideWhatIsOnlyRead) {
  startWith(most_read * 2, most_read);
  scatterOnce();
  EXPECT_FALSE(divided(*events[0]));
}

TEST_F(MergingTest, CopiesFitBesideWhatIsOnlyRead) {
  startWith(most_read * 2 + 2 * bytes, most_read);
  scatterOnce();
  EXPECT_TRUE(divided(*events[0]));
}

// Only who made the copies has the object itself.
TEST_F(MergingTest, PartsDoNotHoldWhatTheyHaveCopiesOf) {
  start(false);
  launch("scatter", {out.get(), in.get()});
  ASSERT_EQ(events[0]->wait(), CL_COMPLETE);
  ASSERT_TRUE(divided(*events[0]));
  const uint64_t one = fakes->device(0).allocatedBytes(), other = fakes->device(1).allocatedBytes();
  EXPECT_LT(std::max(one, other), 4 * bytes);
  EXPECT_LT(std::min(one, other), 3 * bytes);
}

// An argument that the kernel does not use lies in front of what it writes, in the same buffer.
TEST_F(MergingTest, ArgumentsThatAreNotUsedKeepTheirPlace) {
  start(false);
  const size_t before = before_out * sizeof(uint16_t);
  std::vector<uint16_t> contents(before_out + count, 9);
  std::ranges::copy(expected, contents.begin() + before_out);
  const Ref<Buffer> whole = buffer(before + bytes, contents.data());
  const Ref<Buffer> beside =
      make<Buffer>(whole, cl_mem_flags{CL_MEM_READ_WRITE}, size_t{0}, before);
  out = make<Buffer>(whole, cl_mem_flags{CL_MEM_READ_WRITE}, before, bytes);
  launch("scatter_beside", {beside.get(), out.get(), in.get()});
  scatterExpected();
  EXPECT_TRUE(divided(*events[0]));
}

TEST_F(MergingTest, CopiesAreKeptForLaterLaunchesAndGoWithTheObject) {
  start(false);
  uint16_t seed = 3;
  iterate(1, seed);
  expectResult();
  const uint64_t first = spareBytes();
  EXPECT_GE(first, 2 * bytes);
  EXPECT_LE(first, 3 * bytes);
  iterate(6, seed);
  expectResult();
  EXPECT_LE(spareBytes(), 3 * bytes);
  events.clear();
  out = nullptr;
  const uint16_t zero = 0;
  enqueueFill(*queue, *in, &zero, sizeof zero, 0, sizeof zero, {})->wait();
  EXPECT_EQ(spareBytes(), 0u);
}

}  // namespace
}  // namespace weft::test
