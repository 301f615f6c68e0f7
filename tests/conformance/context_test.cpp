// clCreateContext, clCreateContextFromType, clGetContextInfo and the callbacks of contexts.
#include <gtest/gtest.h>

#include <vector>

#include "api/cl_weft_ext.h"
#include "tests/conformance/opencl.h"

namespace weft::conformance {
namespace {

using Properties = std::vector<cl_context_properties>;

void CL_CALLBACK ignore(const char*, const void*, size_t, void*) {}

cl_int createCode(const Properties& properties) {
  const cl_device_id device = testDevice();
  cl_int code = 1;
  OwnedContext context(cl.clCreateContext(properties.data(), 1, &device, nullptr, nullptr, &code));
  EXPECT_EQ(context != nullptr, code == CL_SUCCESS);
  return code;
}

Properties withPlatform() {
  return {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(testPlatform()), 0};
}

TEST(CreateContext, AcceptsProperties) {
  EXPECT_EQ(createCode({0}), CL_SUCCESS);
  EXPECT_EQ(createCode(withPlatform()), CL_SUCCESS);
  EXPECT_EQ(createCode({CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE, 0}), CL_SUCCESS);
}

TEST(CreateContext, RefusesBadProperties) {
  const auto platform = reinterpret_cast<cl_context_properties>(testPlatform());
  const auto device = reinterpret_cast<cl_context_properties>(testDevice());
  EXPECT_EQ(createCode({CL_CONTEXT_PLATFORM, 0, 0}), CL_INVALID_PLATFORM);
  EXPECT_EQ(createCode({CL_CONTEXT_PLATFORM, device, 0}), CL_INVALID_PLATFORM);
  EXPECT_EQ(createCode({0x7777, 1, 0}), CL_INVALID_PROPERTY);
  EXPECT_EQ(createCode({CL_CONTEXT_INTEROP_USER_SYNC, 7, 0}), CL_INVALID_PROPERTY);
  EXPECT_EQ(createCode({CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM, platform, 0}),
            CL_INVALID_PROPERTY);
}

TEST(CreateContext, RefusesBadArguments) {
  const cl_device_id device = testDevice();
  const cl_device_id bad[] = {testDevice(), nullptr};
  const auto wrong = foreign<cl_device_id>(testPlatform());
  int user = 0;
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateContext(nullptr, 0, &device, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateContext(nullptr, 1, nullptr, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateContext(nullptr, 1, &device, nullptr, &user, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateContext(nullptr, 2, bad, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clCreateContext(nullptr, 1, &wrong, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_DEVICE);
  // errcode_ret may be NULL.
  EXPECT_EQ(cl.clCreateContext(nullptr, 0, nullptr, nullptr, nullptr, nullptr), nullptr);
}

TEST(CreateContext, IgnoresDuplicateDevices) {
  const cl_device_id devices[] = {testDevice(), testDevice()};
  OwnedContext context(cl.clCreateContext(nullptr, 2, devices, ignore, nullptr, nullptr));
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(info<cl_uint>(cl.clGetContextInfo, cl_context(context), CL_CONTEXT_NUM_DEVICES), 1u);
}

TEST(CreateContextFromType, FindsTheDevices) {
  cl_int code = 1;
  OwnedContext context(cl.clCreateContextFromType(withPlatform().data(), CL_DEVICE_TYPE_DEFAULT,
                                                  nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  cl_device_id found = nullptr;
  ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_DEFAULT, 1, &found, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(info<cl_device_id>(cl.clGetContextInfo, cl_context(context), CL_CONTEXT_DEVICES),
            found);
}

TEST(CreateContextFromType, RefusesBadArguments) {
  const auto code = [](const cl_context_properties* properties, cl_device_type type, void* user) {
    cl_int result = 1;
    EXPECT_EQ(cl.clCreateContextFromType(properties, type, nullptr, user, &result), nullptr);
    return result;
  };
  const Properties bad{CL_CONTEXT_PLATFORM, 0, 0};
  int user = 0;
  EXPECT_EQ(code(bad.data(), CL_DEVICE_TYPE_ALL, nullptr), CL_INVALID_PLATFORM);
  EXPECT_EQ(code(nullptr, 0, nullptr), CL_INVALID_DEVICE_TYPE);
  EXPECT_EQ(code(nullptr, CL_DEVICE_TYPE_CUSTOM, nullptr), CL_DEVICE_NOT_FOUND);
  EXPECT_EQ(code(nullptr, CL_DEVICE_TYPE_ALL, &user), CL_INVALID_VALUE);
}

TEST(GetContextInfo, ReturnsThePropertiesAsGiven) {
  const cl_device_id device = testDevice();
  const Properties given = withPlatform();
  OwnedContext context(cl.clCreateContext(given.data(), 1, &device, nullptr, nullptr, nullptr));
  Properties returned(given.size());
  size_t size = 0;
  ASSERT_EQ(cl.clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof returned[0] * given.size(),
                                returned.data(), &size),
            CL_SUCCESS);
  EXPECT_EQ(size, sizeof returned[0] * given.size());
  EXPECT_EQ(returned, given);
  // "If the properties argument [...] was NULL, the implementation must return
  // param_value_size_ret equal to 0."
  OwnedContext without = makeContext();
  ASSERT_EQ(cl.clGetContextInfo(without, CL_CONTEXT_PROPERTIES, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, 0u);
}

TEST(GetContextInfo, RefusesBadArguments) {
  OwnedContext context = makeContext();
  cl_uint value = 0;
  EXPECT_EQ(cl.clGetContextInfo(nullptr, CL_CONTEXT_NUM_DEVICES, sizeof value, &value, nullptr),
            CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clGetContextInfo(context, 0, sizeof value, &value, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, 1, &value, nullptr),
            CL_INVALID_VALUE);
}

TEST(RetainContext, Counts) {
  OwnedContext context = makeContext();
  const auto count = [&] {
    return info<cl_uint>(cl.clGetContextInfo, cl_context(context), CL_CONTEXT_REFERENCE_COUNT);
  };
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(cl.clRetainContext(context), CL_SUCCESS);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(cl.clReleaseContext(context), CL_SUCCESS);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(cl.clRetainContext(foreign<cl_context>(testDevice())), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clReleaseContext(nullptr), CL_INVALID_CONTEXT);
}

TEST(SetContextDestructorCallback, RunsInReverseOrder) {
  static std::vector<int> order;
  order.clear();
  static int numbers[] = {1, 2, 3};
  const auto record = [](cl_context, void* user) { order.push_back(*static_cast<int*>(user)); };
  {
    OwnedContext context = makeContext();
    for (int& number : numbers)
      ASSERT_EQ(cl.clSetContextDestructorCallback(context, record, &number), CL_SUCCESS);
    EXPECT_EQ(cl.clSetContextDestructorCallback(context, nullptr, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(cl.clSetContextDestructorCallback(nullptr, record, nullptr), CL_INVALID_CONTEXT);
    EXPECT_TRUE(order.empty());
  }
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST(GetContextStatistics, CountsCommands) {
  const auto statistics = reinterpret_cast<clGetContextStatisticsWEFT_fn>(
      cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), "clGetContextStatisticsWEFT"));
  ASSERT_NE(statistics, nullptr);
  OwnedContext context = makeContext();
  OwnedQueue queue(cl.clCreateCommandQueue(context, testDevice(), 0, nullptr));
  OwnedMem buffer(cl.clCreateBuffer(context, 0, 64, nullptr, nullptr));
  const char pattern = 1;
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(cl.clEnqueueFillBuffer(queue, buffer, &pattern, 1, 0, 64, 0, nullptr, nullptr),
              CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  cl_device_statistics_weft now{};
  size_t size = 0;
  ASSERT_EQ(statistics(context, testDevice(), sizeof now, &now, &size), CL_SUCCESS);
  EXPECT_EQ(size, sizeof now);
  EXPECT_GE(now.commands, 5u);
  EXPECT_GT(now.busy_ns, 0u);
  EXPECT_EQ(statistics(nullptr, testDevice(), sizeof now, &now, nullptr), CL_INVALID_CONTEXT);
  EXPECT_EQ(statistics(context, nullptr, sizeof now, &now, nullptr), CL_INVALID_DEVICE);
  EXPECT_EQ(statistics(context, testDevice(), 1, &now, nullptr), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
