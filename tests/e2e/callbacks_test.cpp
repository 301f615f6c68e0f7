// Callbacks of commands on the whole device, whose workers may make them, and on one of a single
// unit.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

enum class On : uint8_t { part, whole };

class EventCallbacks : public SeveralDevices, public testing::WithParamInterface<On> {
 protected:
  void SetUp() override {
    useDevices();
    count =
        kernel(program = built("kernel void count(global int* sum) { atomic_inc(sum); }"), "count");
    cl_int code = 1;
    sum = OwnedMem(cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(cl_int), &zero, &code));
    const cl_mem handle = sum;
    ASSERT_EQ(cl.clSetKernelArg(count, 0, sizeof handle, &handle), CL_SUCCESS);
  }
  const OwnedQueue& own() const { return GetParam() == On::part ? queues.front() : queues.back(); }
  // Callbacks that have been brief may be a worker's.
  void beBrief() {
    std::atomic<int> calls{0};
    std::function<void()> brief = [&] { ++calls; };
    for (int i = 1; i <= rounds; ++i) {
      launch(brief);
      while (calls != i) std::this_thread::yield();
    }
  }
  // `call` lives until it was called.
  void launch(std::function<void()>& call) {
    const size_t one = 1;
    OwnedEvent event;
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(own(), count, 1, nullptr, &one, nullptr, 0, nullptr, event.out()),
        CL_SUCCESS);
    ASSERT_EQ(
        cl.clSetEventCallback(
            event, CL_COMPLETE,
            [](cl_event, cl_int, void* user) { (*static_cast<std::function<void()>*>(user))(); },
            &call),
        CL_SUCCESS);
    ASSERT_EQ(cl.clFlush(own()), CL_SUCCESS);
  }
  static bool reached(const std::atomic<int>& calls, int wanted) {
    for (int i = 0; i < 60'000 && calls < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return calls == wanted;
  }
  cl_int total() {
    cl_int value = -1;
    EXPECT_EQ(
        cl.clEnqueueReadBuffer(own(), sum, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr),
        CL_SUCCESS);
    return value;
  }

  static constexpr int rounds = 300;
  cl_int zero = 0;
  OwnedProgram program;
  OwnedKernel count;
  OwnedMem sum;
};

TEST_P(EventCallbacks, ComeOneAtATime) {
  beBrief();
  EXPECT_EQ(total(), rounds);
}

TEST_P(EventCallbacks, ComeForManyCommands) {
  std::atomic<int> calls{0};
  std::function<void()> call = [&] { ++calls; };
  for (int i = 0; i < rounds; ++i) launch(call);
  EXPECT_TRUE(reached(calls, rounds));
  EXPECT_EQ(total(), rounds);
}

TEST_P(EventCallbacks, MayEnqueueTheNextCommand) {
  std::atomic<int> calls{0};
  std::function<void()> call = [&] {
    if (calls + 1 < rounds) launch(call);
    ++calls;
  };
  launch(call);
  EXPECT_TRUE(reached(calls, rounds));
  EXPECT_EQ(total(), rounds);
}

TEST_P(EventCallbacks, MayWaitForOtherCommands) {
  beBrief();
  std::atomic<int> calls{0}, others{0};
  std::function<void()> waits = [&] {
    while (others == 0) std::this_thread::yield();
    ++calls;
  };
  launch(waits);
  ASSERT_EQ(cl.clFinish(own()), CL_SUCCESS);
  const size_t one = 1;
  OwnedEvent event;
  ASSERT_EQ(
      cl.clEnqueueNDRangeKernel(own(), count, 1, nullptr, &one, nullptr, 0, nullptr, event.out()),
      CL_SUCCESS);
  ASSERT_EQ(cl.clFlush(own()), CL_SUCCESS);
  cl_int status = CL_QUEUED;
  for (int i = 0; i < 60'000 && status > CL_COMPLETE; ++i) {
    ASSERT_EQ(cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                nullptr),
              CL_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(status, CL_COMPLETE);
  others = 1;
  EXPECT_TRUE(reached(calls, 1));
}

TEST_P(EventCallbacks, MayBlock) {
  beBrief();
  std::atomic<int> calls{0};
  std::function<void()> reads = [&] {
    EXPECT_EQ(total(), rounds + calls + 1);
    ++calls;
  };
  for (int i = 1; i <= 20; ++i) {
    launch(reads);
    ASSERT_TRUE(reached(calls, i));
  }
}

TEST_P(EventCallbacks, MayReleaseTheQueue) {
  beBrief();
  std::atomic<int> calls{0};
  std::atomic<bool> flushed{false};
  std::function<void()> releases = [&] {
    while (!flushed) std::this_thread::yield();
    queues.clear();
    sum = OwnedMem();
    ++calls;
  };
  launch(releases);
  flushed = true;
  EXPECT_TRUE(reached(calls, 1));
}

TEST_P(EventCallbacks, WhatTheyStartMayRunWhereTheProgramMay) {
  const auto processors = [] {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
  };
  beBrief();
  std::atomic<int> calls{0}, seen{0};
  std::function<void()> starts = [&] {
    std::thread([&] { seen = processors(); }).join();
    ++calls;
  };
  launch(starts);
  ASSERT_TRUE(reached(calls, 1));
  EXPECT_EQ(seen, processors());
}

INSTANTIATE_TEST_SUITE_P(Each, EventCallbacks, testing::Values(On::part, On::whole),
                         [](const auto& info) {
                           return info.param == On::part ? "part" : "whole";
                         });

}  // namespace
}  // namespace weft::e2e
