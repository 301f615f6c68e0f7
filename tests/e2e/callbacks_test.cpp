// Callbacks of commands on a device of one unit, where whoever makes a call may be all there is to
// run what it waits for.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

class EventCallbacks : public SeveralDevices {
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
  // `call` lives until it was called.
  void launch(std::function<void()>& call) {
    const size_t one = 1;
    OwnedEvent event;
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queues[0], count, 1, nullptr, &one, nullptr, 0, nullptr,
                                        event.out()),
              CL_SUCCESS);
    ASSERT_EQ(
        cl.clSetEventCallback(
            event, CL_COMPLETE,
            [](cl_event, cl_int, void* user) { (*static_cast<std::function<void()>*>(user))(); },
            &call),
        CL_SUCCESS);
    ASSERT_EQ(cl.clFlush(queues[0]), CL_SUCCESS);
  }
  static bool reached(const std::atomic<int>& calls, int wanted) {
    for (int i = 0; i < 60'000 && calls < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return calls == wanted;
  }
  cl_int total() {
    cl_int value = -1;
    EXPECT_EQ(cl.clEnqueueReadBuffer(queues[0], sum, CL_TRUE, 0, sizeof value, &value, 0, nullptr,
                                     nullptr),
              CL_SUCCESS);
    return value;
  }

  static constexpr int rounds = 300;
  cl_int zero = 0;
  OwnedProgram program;
  OwnedKernel count;
  OwnedMem sum;
};

TEST_F(EventCallbacks, ComeOneAtATime) {
  std::atomic<int> calls{0};
  std::function<void()> call = [&] { ++calls; };
  for (int i = 1; i <= rounds; ++i) {
    launch(call);
    while (calls != i) std::this_thread::yield();
  }
  EXPECT_EQ(total(), rounds);
}

TEST_F(EventCallbacks, ComeForManyCommands) {
  std::atomic<int> calls{0};
  std::function<void()> call = [&] { ++calls; };
  for (int i = 0; i < rounds; ++i) launch(call);
  EXPECT_TRUE(reached(calls, rounds));
  EXPECT_EQ(total(), rounds);
}

TEST_F(EventCallbacks, MayEnqueueTheNextCommand) {
  std::atomic<int> calls{0};
  std::function<void()> call = [&] {
    if (calls + 1 < rounds) launch(call);
    ++calls;
  };
  launch(call);
  EXPECT_TRUE(reached(calls, rounds));
  EXPECT_EQ(total(), rounds);
}

// Callbacks that were brief until then, so that they may be a worker's.
TEST_F(EventCallbacks, MayWaitForOtherCommands) {
  std::atomic<int> calls{0}, others{0};
  std::function<void()> brief = [&] { ++calls; };
  for (int i = 1; i <= rounds; ++i) {
    launch(brief);
    while (calls != i) std::this_thread::yield();
  }
  std::function<void()> waits = [&] {
    while (others == 0) std::this_thread::yield();
    ++calls;
  };
  launch(waits);
  ASSERT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
  const size_t one = 1;
  OwnedEvent event;
  ASSERT_EQ(cl.clEnqueueNDRangeKernel(queues[0], count, 1, nullptr, &one, nullptr, 0, nullptr,
                                      event.out()),
            CL_SUCCESS);
  ASSERT_EQ(cl.clFlush(queues[0]), CL_SUCCESS);
  cl_int status = CL_QUEUED;
  for (int i = 0; i < 60'000 && status > CL_COMPLETE; ++i) {
    ASSERT_EQ(cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                nullptr),
              CL_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(status, CL_COMPLETE);
  others = 1;
  EXPECT_TRUE(reached(calls, rounds + 1));
}

TEST_F(EventCallbacks, MayReleaseTheQueue) {
  std::atomic<int> calls{0};
  std::function<void()> brief = [&] { ++calls; };
  for (int i = 1; i <= rounds; ++i) {
    launch(brief);
    while (calls != i) std::this_thread::yield();
  }
  std::atomic<bool> flushed{false};
  std::function<void()> releases = [&] {
    while (!flushed) std::this_thread::yield();
    queues.clear();
    sum = OwnedMem();
    ++calls;
  };
  launch(releases);
  flushed = true;
  EXPECT_TRUE(reached(calls, rounds + 1));
}

}  // namespace
}  // namespace weft::e2e
