// clGetEventInfo, clWaitForEvents, clSetEventCallback, clRetainEvent, clReleaseEvent.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class EventTest : public CommandTest {
 protected:
  cl_int statusOf(cl_event event) {
    return info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }
  // A fill of the buffer that waits for `gate`.
  OwnedEvent fillAfter(cl_event gate) {
    const char pattern = 1;
    OwnedEvent event;
    EXPECT_EQ(
        cl.clEnqueueFillBuffer(queue, buffer, &pattern, 1, 0, buffer_bytes, 1, &gate, event.out()),
        CL_SUCCESS);
    return event;
  }

  OwnedEvent gate = makeUserEvent();
};

// Calls seen by a callback; lives as long as the callback may come.
struct Calls {
  std::atomic<int> count{0};
  std::atomic<cl_int> last{1};

  static void CL_CALLBACK record(cl_event, cl_int status, void* user) {
    auto& self = *static_cast<Calls*>(user);
    self.last = status;
    ++self.count;
  }
  bool waitFor(int wanted) const {
    for (int i = 0; i < 60'000 && count < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count == wanted;
  }
};

TEST_F(EventTest, Info) {
  OwnedEvent event = fillAfter(gate);
  const cl_event e = event;
  EXPECT_EQ(info<cl_command_queue>(cl.clGetEventInfo, e, CL_EVENT_COMMAND_QUEUE),
            cl_command_queue(queue));
  EXPECT_EQ(info<cl_context>(cl.clGetEventInfo, e, CL_EVENT_CONTEXT), cl_context(context));
  EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, e, CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_FILL_BUFFER});
  EXPECT_EQ(info<cl_uint>(cl.clGetEventInfo, e, CL_EVENT_REFERENCE_COUNT), 1u);
  EXPECT_GT(statusOf(e), CL_COMPLETE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  ASSERT_EQ(cl.clWaitForEvents(1, &e), CL_SUCCESS);
  EXPECT_EQ(statusOf(e), CL_COMPLETE);
}

TEST_F(EventTest, InfoRefusesBadArguments) {
  cl_uint value = 0;
  EXPECT_EQ(cl.clGetEventInfo(nullptr, CL_EVENT_REFERENCE_COUNT, sizeof value, &value, nullptr),
            CL_INVALID_EVENT);
  EXPECT_EQ(cl.clGetEventInfo(foreign<cl_event>(cl_mem(buffer)), CL_EVENT_REFERENCE_COUNT,
                              sizeof value, &value, nullptr),
            CL_INVALID_EVENT);
  EXPECT_EQ(cl.clGetEventInfo(gate, 0, sizeof value, &value, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetEventInfo(gate, CL_EVENT_REFERENCE_COUNT, 1, &value, nullptr),
            CL_INVALID_VALUE);
}

TEST_F(EventTest, RetainAndRelease) {
  EXPECT_EQ(cl.clRetainEvent(gate), CL_SUCCESS);
  EXPECT_EQ(info<cl_uint>(cl.clGetEventInfo, cl_event(gate), CL_EVENT_REFERENCE_COUNT), 2u);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
  EXPECT_EQ(cl.clRetainEvent(nullptr), CL_INVALID_EVENT);
  EXPECT_EQ(cl.clReleaseEvent(foreign<cl_event>(cl_mem(buffer))), CL_INVALID_EVENT);
}

TEST_F(EventTest, WaitRefusesBadLists) {
  const cl_event one = gate;
  OwnedEvent other(cl.clCreateUserEvent(other_context, nullptr));
  const cl_event mixed[] = {one, other};
  const cl_event null[] = {one, nullptr};
  const cl_event wrong[] = {one, foreign<cl_event>(cl_mem(buffer))};
  EXPECT_EQ(cl.clWaitForEvents(0, &one), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clWaitForEvents(1, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clWaitForEvents(2, mixed), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clWaitForEvents(2, null), CL_INVALID_EVENT);
  EXPECT_EQ(cl.clWaitForEvents(2, wrong), CL_INVALID_EVENT);
}

TEST_F(EventTest, WaitReportsFailure) {
  OwnedEvent event = fillAfter(gate);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -7), CL_SUCCESS);
  const cl_event list[] = {event, gate};
  EXPECT_EQ(cl.clWaitForEvents(2, list), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(statusOf(gate), -7);
  EXPECT_EQ(statusOf(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  // One failure does not end the queue.
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(contents(buffer).size(), buffer_bytes);
}

TEST_F(EventTest, CallbacksComeOnceEach) {
  Calls submitted, running, complete;
  OwnedEvent event = fillAfter(gate);
  ASSERT_EQ(cl.clSetEventCallback(event, CL_SUBMITTED, Calls::record, &submitted), CL_SUCCESS);
  ASSERT_EQ(cl.clSetEventCallback(event, CL_RUNNING, Calls::record, &running), CL_SUCCESS);
  ASSERT_EQ(cl.clSetEventCallback(event, CL_COMPLETE, Calls::record, &complete), CL_SUCCESS);
  EXPECT_EQ(complete.count, 0);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_TRUE(complete.waitFor(1));
  EXPECT_EQ(complete.last, CL_COMPLETE);
  EXPECT_TRUE(running.waitFor(1));
  EXPECT_TRUE(submitted.waitFor(1));
  // A callback that is set late comes at once.
  Calls late;
  ASSERT_EQ(cl.clSetEventCallback(event, CL_COMPLETE, Calls::record, &late), CL_SUCCESS);
  EXPECT_TRUE(late.waitFor(1));
}

TEST_F(EventTest, CallbacksTellFailure) {
  Calls calls;
  OwnedEvent event = fillAfter(gate);
  ASSERT_EQ(cl.clSetEventCallback(event, CL_COMPLETE, Calls::record, &calls), CL_SUCCESS);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -7), CL_SUCCESS);
  EXPECT_TRUE(calls.waitFor(1));
  EXPECT_LT(calls.last, 0);
}

TEST_F(EventTest, CallbackRefusesBadArguments) {
  EXPECT_EQ(cl.clSetEventCallback(nullptr, CL_COMPLETE, Calls::record, nullptr), CL_INVALID_EVENT);
  EXPECT_EQ(cl.clSetEventCallback(gate, CL_COMPLETE, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clSetEventCallback(gate, CL_QUEUED, Calls::record, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clSetEventCallback(gate, -1, Calls::record, nullptr), CL_INVALID_VALUE);
}

class UserEventTest : public CommandTest {};

TEST_F(UserEventTest, IsSubmittedUntilSet) {
  OwnedEvent event = makeUserEvent();
  const auto status = [&] {
    return info<cl_int>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_EXECUTION_STATUS);
  };
  EXPECT_EQ(status(), CL_SUBMITTED);
  EXPECT_EQ(info<cl_command_queue>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_QUEUE),
            nullptr);
  EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_USER});
  ASSERT_EQ(cl.clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(status(), CL_COMPLETE);
}

TEST_F(UserEventTest, RefusesBadArguments) {
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateUserEvent(nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  OwnedEvent event = makeUserEvent();
  EXPECT_EQ(cl.clSetUserEventStatus(nullptr, CL_COMPLETE), CL_INVALID_EVENT);
  EXPECT_EQ(cl.clSetUserEventStatus(event, CL_SUBMITTED), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clSetUserEventStatus(event, -1), CL_SUCCESS);
  EXPECT_EQ(cl.clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_OPERATION);
  OwnedEvent command;
  ASSERT_EQ(cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, command.out()), CL_SUCCESS);
  EXPECT_EQ(cl.clSetUserEventStatus(command, CL_COMPLETE), CL_INVALID_EVENT);
}

TEST_F(UserEventTest, AnAbandonedOneFailsWhatWaits) {
  OwnedEvent gate = makeUserEvent();
  OwnedEvent marker;
  const cl_event waits = gate;
  ASSERT_EQ(cl.clEnqueueMarkerWithWaitList(queue, 1, &waits, marker.out()), CL_SUCCESS);
  gate.reset();
  const cl_event done = marker;
  EXPECT_EQ(cl.clWaitForEvents(1, &done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace
}  // namespace weft::conformance
