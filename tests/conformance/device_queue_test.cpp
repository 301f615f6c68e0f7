// Queues on a device: clCreateCommandQueueWithProperties, clGetCommandQueueInfo,
// clSetDefaultDeviceCommandQueue.
#include <vector>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

using Properties = std::vector<cl_queue_properties>;

constexpr cl_command_queue_properties on_device =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

class DeviceQueueTest : public CommandTest {
 protected:
  static bool supported() {
    return deviceInfo<cl_device_device_enqueue_capabilities>(
               CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES) != 0;
  }
  OwnedQueue make(const Properties& properties, cl_int expected = CL_SUCCESS) {
    cl_int code = 1;
    OwnedQueue made(
        cl.clCreateCommandQueueWithProperties(context, testDevice(), properties.data(), &code));
    EXPECT_EQ(code, expected);
    return made;
  }
  template <class T>
  static T of(cl_command_queue queue, cl_command_queue_info name) {
    return info<T>(cl.clGetCommandQueueInfo, queue, name);
  }
  cl_command_queue defaultOne() { return of<cl_command_queue>(queue, CL_QUEUE_DEVICE_DEFAULT); }
  cl_int setDefault(cl_command_queue to) {
    return cl.clSetDefaultDeviceCommandQueue(context, testDevice(), to);
  }
};

TEST_F(DeviceQueueTest, DevicesWithoutThemSaySo) {
  const auto limit = [](cl_device_info name) { return deviceInfo<cl_uint>(name); };
  if (supported()) {
    EXPECT_GE(limit(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE), 16u << 10);
    EXPECT_GE(limit(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE), 256u << 10);
    EXPECT_GE(limit(CL_DEVICE_MAX_ON_DEVICE_QUEUES), 1u);
    EXPECT_GE(limit(CL_DEVICE_MAX_ON_DEVICE_EVENTS), 1024u);
    return;
  }
  for (const cl_device_info name :
       {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
        CL_DEVICE_MAX_ON_DEVICE_QUEUES, CL_DEVICE_MAX_ON_DEVICE_EVENTS})
    EXPECT_EQ(limit(name), 0u) << name;
  make({CL_QUEUE_PROPERTIES, on_device, CL_QUEUE_SIZE, 1024, 0}, CL_INVALID_QUEUE_PROPERTIES);
  EXPECT_EQ(setDefault(queue), CL_INVALID_OPERATION);
  EXPECT_EQ(defaultOne(), nullptr);
}

TEST_F(DeviceQueueTest, Info) {
  if (!supported()) GTEST_SKIP();
  const Properties given{CL_QUEUE_PROPERTIES, on_device | CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_SIZE,
                         5000, 0};
  const OwnedQueue made = make(given);
  const cl_command_queue q = made;
  EXPECT_EQ(of<cl_context>(q, CL_QUEUE_CONTEXT), cl_context(context));
  EXPECT_EQ(of<cl_device_id>(q, CL_QUEUE_DEVICE), testDevice());
  EXPECT_EQ(of<cl_uint>(q, CL_QUEUE_REFERENCE_COUNT), 1u);
  EXPECT_EQ(of<cl_command_queue_properties>(q, CL_QUEUE_PROPERTIES),
            on_device | CL_QUEUE_PROFILING_ENABLE);
  EXPECT_EQ(of<cl_uint>(q, CL_QUEUE_SIZE), 5000u);
  EXPECT_EQ(of<cl_command_queue>(q, CL_QUEUE_DEVICE_DEFAULT), nullptr);
  Properties returned(given.size());
  ASSERT_EQ(
      cl.clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof returned[0] * returned.size(),
                               returned.data(), nullptr),
      CL_SUCCESS);
  EXPECT_EQ(returned, given);
  const OwnedQueue usual = make({CL_QUEUE_PROPERTIES, on_device, 0});
  EXPECT_EQ(of<cl_uint>(usual, CL_QUEUE_SIZE),
            deviceInfo<cl_uint>(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE));
}

TEST_F(DeviceQueueTest, RefusesBadProperties) {
  if (!supported()) GTEST_SKIP();
  const cl_queue_properties most = deviceInfo<cl_uint>(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE);
  make({CL_QUEUE_PROPERTIES, on_device, CL_QUEUE_SIZE, most, 0});
  make({CL_QUEUE_PROPERTIES, on_device, CL_QUEUE_SIZE, most + 1, 0}, CL_INVALID_VALUE);
  make({CL_QUEUE_PROPERTIES, on_device, CL_QUEUE_SIZE, 0, 0}, CL_INVALID_VALUE);
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateCommandQueue(context, testDevice(), on_device, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
}

TEST_F(DeviceQueueTest, TakesNoCommandsOfTheHost) {
  if (!supported()) GTEST_SKIP();
  const OwnedQueue made = make({CL_QUEUE_PROPERTIES, on_device, 0});
  const char pattern = 5;
  EXPECT_EQ(cl.clEnqueueFillBuffer(made, buffer, &pattern, 1, 0, 16, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clFinish(made), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clFlush(made), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clRetainCommandQueue(made), CL_SUCCESS);
  EXPECT_EQ(of<cl_uint>(made, CL_QUEUE_REFERENCE_COUNT), 2u);
  EXPECT_EQ(cl.clReleaseCommandQueue(made), CL_SUCCESS);
}

TEST_F(DeviceQueueTest, ThereIsOneDefault) {
  if (!supported()) GTEST_SKIP();
  const Properties list{CL_QUEUE_PROPERTIES, on_device | CL_QUEUE_ON_DEVICE_DEFAULT, 0};
  EXPECT_EQ(defaultOne(), nullptr);
  {
    const OwnedQueue first = make(list), again = make(list);
    EXPECT_EQ(cl_command_queue(first), cl_command_queue(again));
    EXPECT_EQ(of<cl_uint>(first, CL_QUEUE_REFERENCE_COUNT), 2u);
    EXPECT_EQ(defaultOne(), cl_command_queue(first));
    const OwnedQueue other = make({CL_QUEUE_PROPERTIES, on_device, 0});
    EXPECT_EQ(setDefault(other), CL_SUCCESS);
    EXPECT_EQ(defaultOne(), cl_command_queue(other));
  }
  EXPECT_EQ(defaultOne(), nullptr) << "it goes with its last reference";
}

TEST_F(DeviceQueueTest, DefaultRefusesBadArguments) {
  if (!supported()) GTEST_SKIP();
  const OwnedQueue made = make({CL_QUEUE_PROPERTIES, on_device, 0});
  EXPECT_EQ(setDefault(queue), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(setDefault(nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clSetDefaultDeviceCommandQueue(nullptr, testDevice(), made), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clSetDefaultDeviceCommandQueue(context, nullptr, made), CL_INVALID_DEVICE);
}

}  // namespace
}  // namespace weft::conformance
