// clCreateCommandQueue*, clGetCommandQueueInfo, clSetCommandQueueProperty, clFlush, clFinish.
#include <vector>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

using Properties = std::vector<cl_queue_properties>;

class QueueTest : public CommandTest {
 protected:
  cl_int createCode(const Properties& properties) {
    cl_int code = 1;
    OwnedQueue made(
        cl.clCreateCommandQueueWithProperties(context, testDevice(), properties.data(), &code));
    EXPECT_EQ(made != nullptr, code == CL_SUCCESS);
    return code;
  }
};

TEST_F(QueueTest, AcceptsHostProperties) {
  for (const cl_queue_properties flags :
       {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE})
    EXPECT_EQ(createCode({CL_QUEUE_PROPERTIES, flags, 0}), CL_SUCCESS) << flags;
  EXPECT_EQ(createCode({0}), CL_SUCCESS);
}

TEST_F(QueueTest, RefusesBadProperties) {
  EXPECT_EQ(createCode({0x7777, 1, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(createCode({CL_QUEUE_PROPERTIES, 1u << 20, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(createCode({CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 0, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(createCode({CL_QUEUE_SIZE, 1024, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(createCode({CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(createCode({CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE_DEFAULT, 0}), CL_INVALID_VALUE);
}

TEST_F(QueueTest, RefusesBadArguments) {
  const auto code = [](cl_context in, cl_device_id device, cl_command_queue_properties flags) {
    cl_int result = 1;
    EXPECT_EQ(cl.clCreateCommandQueue(in, device, flags, &result), nullptr);
    return result;
  };
  EXPECT_EQ(code(nullptr, testDevice(), 0), CL_INVALID_CONTEXT);
  EXPECT_EQ(code(foreign<cl_context>(cl_mem(buffer)), testDevice(), 0), CL_INVALID_CONTEXT);
  EXPECT_EQ(code(context, nullptr, 0), CL_INVALID_DEVICE);
  EXPECT_EQ(code(context, foreign<cl_device_id>(testPlatform()), 0), CL_INVALID_DEVICE);
  EXPECT_EQ(code(context, testDevice(), 1u << 20), CL_INVALID_VALUE);
}

TEST_F(QueueTest, ExtensionFunctionMakesQueues) {
  const auto make = reinterpret_cast<clCreateCommandQueueWithPropertiesKHR_fn>(
      cl.clGetExtensionFunctionAddressForPlatform(testPlatform(),
                                                  "clCreateCommandQueueWithPropertiesKHR"));
  ASSERT_NE(make, nullptr);
  cl_int code = 1;
  OwnedQueue made(make(context, testDevice(), nullptr, &code));
  EXPECT_EQ(code, CL_SUCCESS);
}

TEST_F(QueueTest, Info) {
  const Properties given{CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  OwnedQueue made(
      cl.clCreateCommandQueueWithProperties(context, testDevice(), given.data(), nullptr));
  const cl_command_queue q = made;
  EXPECT_EQ(info<cl_context>(cl.clGetCommandQueueInfo, q, CL_QUEUE_CONTEXT), cl_context(context));
  EXPECT_EQ(info<cl_device_id>(cl.clGetCommandQueueInfo, q, CL_QUEUE_DEVICE), testDevice());
  EXPECT_EQ(info<cl_uint>(cl.clGetCommandQueueInfo, q, CL_QUEUE_REFERENCE_COUNT), 1u);
  EXPECT_EQ(info<cl_command_queue_properties>(cl.clGetCommandQueueInfo, q, CL_QUEUE_PROPERTIES),
            cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE});
  EXPECT_EQ(info<cl_command_queue>(cl.clGetCommandQueueInfo, q, CL_QUEUE_DEVICE_DEFAULT), nullptr);
  Properties returned(given.size());
  ASSERT_EQ(
      cl.clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof returned[0] * returned.size(),
                               returned.data(), nullptr),
      CL_SUCCESS);
  EXPECT_EQ(returned, given);
  size_t size = 1;
  ASSERT_EQ(cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, nullptr, &size),
            CL_SUCCESS);
  EXPECT_EQ(size, 0u);
}

TEST_F(QueueTest, InfoRefusesBadArguments) {
  cl_uint value = 0;
  const auto code = [&](cl_command_queue q, cl_command_queue_info name, size_t size) {
    return cl.clGetCommandQueueInfo(q, name, size, &value, nullptr);
  };
  EXPECT_EQ(code(nullptr, CL_QUEUE_REFERENCE_COUNT, sizeof value), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(code(queue, 0, sizeof value), CL_INVALID_VALUE);
  EXPECT_EQ(code(queue, CL_QUEUE_REFERENCE_COUNT, 1), CL_INVALID_VALUE);
  EXPECT_EQ(code(queue, CL_QUEUE_SIZE, sizeof value), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(QueueTest, RetainAndRelease) {
  EXPECT_EQ(cl.clRetainCommandQueue(queue), CL_SUCCESS);
  const auto count = [&] {
    return info<cl_uint>(cl.clGetCommandQueueInfo, cl_command_queue(queue),
                         CL_QUEUE_REFERENCE_COUNT);
  };
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(cl.clReleaseCommandQueue(queue), CL_SUCCESS);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(cl.clRetainCommandQueue(nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clReleaseCommandQueue(foreign<cl_command_queue>(cl_context(context))),
            CL_INVALID_COMMAND_QUEUE);
}

TEST_F(QueueTest, PropertiesDoNotChange) {
  EXPECT_EQ(cl.clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, nullptr),
            CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clSetCommandQueueProperty(nullptr, 0, CL_TRUE, nullptr), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(QueueTest, FlushAndFinish) {
  EXPECT_EQ(cl.clFlush(queue), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(cl.clFlush(nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clFinish(foreign<cl_command_queue>(cl_mem(buffer))), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(QueueTest, FinishWaitsForCommands) {
  OwnedEvent event;
  const char pattern = 5;
  ASSERT_EQ(
      cl.clEnqueueFillBuffer(queue, buffer, &pattern, 1, 0, buffer_bytes, 0, nullptr, event.out()),
      CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(info<cl_int>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_EXECUTION_STATUS),
            CL_COMPLETE);
}

TEST_F(QueueTest, CommandsOutliveTheQueuesHandle) {
  OwnedEvent gate = makeUserEvent();
  OwnedQueue passing = makeQueue(context);
  OwnedEvent last;
  const char pattern = 9;
  const cl_event waits = gate;
  ASSERT_EQ(
      cl.clEnqueueFillBuffer(passing, buffer, &pattern, 1, 0, buffer_bytes, 1, &waits, last.out()),
      CL_SUCCESS);
  passing.reset();
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  const cl_event done = last;
  ASSERT_EQ(cl.clWaitForEvents(1, &done), CL_SUCCESS);
  EXPECT_EQ(contents(buffer), std::vector<unsigned char>(buffer_bytes, 9));
}

}  // namespace
}  // namespace weft::conformance
