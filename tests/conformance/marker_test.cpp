// clEnqueueMarker*, clEnqueueBarrier*, clEnqueueWaitForEvents.
#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class MarkerTest : public CommandTest {
 protected:
  cl_int statusOf(cl_event event) {
    return info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }
  OwnedEvent markerAfter(cl_event gate) {
    OwnedEvent event;
    EXPECT_EQ(cl.clEnqueueMarkerWithWaitList(out_of_order, 1, &gate, event.out()), CL_SUCCESS);
    return event;
  }
  OwnedEvent fill() {
    const char pattern = 1;
    OwnedEvent event;
    EXPECT_EQ(
        cl.clEnqueueFillBuffer(out_of_order, buffer, &pattern, 1, 0, 1, 0, nullptr, event.out()),
        CL_SUCCESS);
    return event;
  }
  OwnedQueue out_of_order = makeQueue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  OwnedEvent gate = makeUserEvent();
};

TEST_F(MarkerTest, WaitsForEverythingBefore) {
  OwnedEvent blocked = markerAfter(gate);
  OwnedEvent marker;
  ASSERT_EQ(cl.clEnqueueMarker(out_of_order, marker.out()), CL_SUCCESS);
  EXPECT_GT(statusOf(marker), CL_COMPLETE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  const cl_event done = marker;
  EXPECT_EQ(cl.clWaitForEvents(1, &done), CL_SUCCESS);
  EXPECT_EQ(statusOf(blocked), CL_COMPLETE);
}

TEST_F(MarkerTest, DoesNotHoldWhatComesLater) {
  OwnedEvent marker = markerAfter(gate);
  OwnedEvent later = fill();
  const cl_event done = later;
  EXPECT_EQ(cl.clWaitForEvents(1, &done), CL_SUCCESS);
  EXPECT_GT(statusOf(marker), CL_COMPLETE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(out_of_order), CL_SUCCESS);
}

TEST_F(MarkerTest, BarrierHoldsWhatComesLater) {
  OwnedEvent blocked = markerAfter(gate);
  ASSERT_EQ(cl.clEnqueueBarrier(out_of_order), CL_SUCCESS);
  OwnedEvent later = fill();
  EXPECT_EQ(cl.clFlush(out_of_order), CL_SUCCESS);
  EXPECT_GT(statusOf(later), CL_COMPLETE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(out_of_order), CL_SUCCESS);
  EXPECT_EQ(statusOf(later), CL_COMPLETE);
}

TEST_F(MarkerTest, WaitForEventsHoldsWhatComesLater) {
  const cl_event waits = gate;
  ASSERT_EQ(cl.clEnqueueWaitForEvents(out_of_order, 1, &waits), CL_SUCCESS);
  OwnedEvent later = fill();
  EXPECT_EQ(cl.clFlush(out_of_order), CL_SUCCESS);
  EXPECT_GT(statusOf(later), CL_COMPLETE);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(out_of_order), CL_SUCCESS);
}

TEST_F(MarkerTest, RefusesBadArguments) {
  OwnedEvent event;
  EXPECT_EQ(cl.clEnqueueMarker(nullptr, event.out()), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueMarker(queue, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueBarrier(nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueMarkerWithWaitList(nullptr, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueBarrierWithWaitList(nullptr, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
}

TEST_F(MarkerTest, WaitForEventsRefusesBadLists) {
  const cl_event one = gate;
  const cl_event null = nullptr;
  OwnedEvent other(cl.clCreateUserEvent(other_context, nullptr));
  const cl_event foreign_context = other;
  EXPECT_EQ(cl.clEnqueueWaitForEvents(nullptr, 1, &one), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueWaitForEvents(queue, 0, &one), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueWaitForEvents(queue, 1, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueWaitForEvents(queue, 1, &null), CL_INVALID_EVENT);
  EXPECT_EQ(cl.clEnqueueWaitForEvents(queue, 1, &foreign_context), CL_INVALID_CONTEXT);
}

}  // namespace
}  // namespace weft::conformance
