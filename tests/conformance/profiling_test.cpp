// clGetEventProfilingInfo.
#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class ProfilingTest : public CommandTest {
 protected:
  OwnedEvent fillOn(cl_command_queue q) {
    const char pattern = 1;
    OwnedEvent event;
    EXPECT_EQ(
        cl.clEnqueueFillBuffer(q, buffer, &pattern, 1, 0, buffer_bytes, 0, nullptr, event.out()),
        CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(q), CL_SUCCESS);
    return event;
  }
  cl_int code(cl_event event, cl_profiling_info name = CL_PROFILING_COMMAND_END,
              size_t size = sizeof(cl_ulong)) {
    cl_ulong value = 0;
    return cl.clGetEventProfilingInfo(event, name, size, &value, nullptr);
  }
  OwnedQueue profiled = makeQueue(context, CL_QUEUE_PROFILING_ENABLE);
};

TEST_F(ProfilingTest, TimesAreInOrder) {
  OwnedEvent event = fillOn(profiled);
  cl_ulong last = 1;
  for (const cl_profiling_info name :
       {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
        CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE}) {
    const auto now = info<cl_ulong>(cl.clGetEventProfilingInfo, cl_event(event), name);
    EXPECT_GE(now, last) << name;
    last = now;
  }
}

TEST_F(ProfilingTest, TimesAreTheDeviceTimers) {
  cl_ulong before = 0, after = 0, host = 0;
  ASSERT_EQ(cl.clGetDeviceAndHostTimer(testDevice(), &before, &host), CL_SUCCESS);
  OwnedEvent event = fillOn(profiled);
  ASSERT_EQ(cl.clGetDeviceAndHostTimer(testDevice(), &after, &host), CL_SUCCESS);
  const auto start =
      info<cl_ulong>(cl.clGetEventProfilingInfo, cl_event(event), CL_PROFILING_COMMAND_START);
  EXPECT_GE(start, before);
  EXPECT_LE(start, after);
}

TEST_F(ProfilingTest, MarkersHaveTimes) {
  OwnedEvent event;
  ASSERT_EQ(cl.clEnqueueMarkerWithWaitList(profiled, 0, nullptr, event.out()), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(profiled), CL_SUCCESS);
  const auto queued =
      info<cl_ulong>(cl.clGetEventProfilingInfo, cl_event(event), CL_PROFILING_COMMAND_QUEUED);
  const auto end =
      info<cl_ulong>(cl.clGetEventProfilingInfo, cl_event(event), CL_PROFILING_COMMAND_END);
  EXPECT_GT(queued, 0u);
  EXPECT_GE(end, queued);
}

TEST_F(ProfilingTest, NotAvailable) {
  EXPECT_EQ(code(fillOn(queue)), CL_PROFILING_INFO_NOT_AVAILABLE);
  OwnedEvent gate = makeUserEvent();
  EXPECT_EQ(code(gate), CL_PROFILING_INFO_NOT_AVAILABLE);
  OwnedEvent pending;
  const cl_event waits = gate;
  ASSERT_EQ(cl.clEnqueueMarkerWithWaitList(profiled, 1, &waits, pending.out()), CL_SUCCESS);
  EXPECT_EQ(code(pending), CL_PROFILING_INFO_NOT_AVAILABLE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -1), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(profiled), CL_SUCCESS);
  EXPECT_EQ(code(pending), CL_PROFILING_INFO_NOT_AVAILABLE);
}

TEST_F(ProfilingTest, RefusesBadArguments) {
  OwnedEvent event = fillOn(profiled);
  EXPECT_EQ(code(nullptr), CL_INVALID_EVENT);
  EXPECT_EQ(code(foreign<cl_event>(cl_mem(buffer))), CL_INVALID_EVENT);
  EXPECT_EQ(code(event, 0), CL_INVALID_VALUE);
  EXPECT_EQ(code(event, CL_PROFILING_COMMAND_END, 4), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
