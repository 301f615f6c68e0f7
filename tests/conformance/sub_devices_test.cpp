// clCreateSubDevices.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/conformance/opencl.h"

namespace weft::conformance {
namespace {

using Properties = std::vector<cl_device_partition_property>;

class SubDevices : public testing::Test {
 protected:
  void SetUp() override {
    units = deviceInfo<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
    if (units < 2) GTEST_SKIP() << "the device has one compute unit";
  }
  ~SubDevices() override {
    for (const cl_device_id device : made) cl.clReleaseDevice(device);
  }

  cl_int partition(const Properties& properties) {
    cl_uint count = 0;
    const cl_int code = cl.clCreateSubDevices(testDevice(), properties.data(), 0, nullptr, &count);
    if (code) return code;
    std::vector<cl_device_id> devices(count);
    cl_uint returned = 0;
    const cl_int result =
        cl.clCreateSubDevices(testDevice(), properties.data(), count, devices.data(), &returned);
    if (result) return result;
    EXPECT_EQ(returned, count);
    made.insert(made.end(), devices.begin(), devices.end());
    return CL_SUCCESS;
  }
  static cl_uint unitsOf(cl_device_id device) {
    return info<cl_uint>(cl.clGetDeviceInfo, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  }

  cl_uint units = 0;
  std::vector<cl_device_id> made;
};

TEST_F(SubDevices, Equally) {
  const Properties properties{CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  ASSERT_EQ(partition(properties), CL_SUCCESS);
  EXPECT_EQ(made.size(), units);
  for (const cl_device_id device : made) {
    EXPECT_EQ(unitsOf(device), 1u);
    EXPECT_EQ(info<cl_device_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PARENT_DEVICE),
              testDevice());
    cl_device_partition_property type[3] = {};
    EXPECT_EQ(cl.clGetDeviceInfo(device, CL_DEVICE_PARTITION_TYPE, sizeof type, type, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(Properties(type, type + 3), properties);
  }
}

TEST_F(SubDevices, ByCounts) {
  const auto first = static_cast<cl_device_partition_property>(units - 1);
  ASSERT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, first, 1,
                       CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0}),
            CL_SUCCESS);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(unitsOf(made[0]), units - 1);
  EXPECT_EQ(unitsOf(made[1]), 1u);
}

TEST_F(SubDevices, AreCounted) {
  ASSERT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0}), CL_SUCCESS);
  const cl_device_id device = made[0];
  const auto count = [&] {
    return info<cl_uint>(cl.clGetDeviceInfo, device, CL_DEVICE_REFERENCE_COUNT);
  };
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(cl.clRetainDevice(device), CL_SUCCESS);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(cl.clReleaseDevice(device), CL_SUCCESS);
  EXPECT_EQ(count(), 1u);
}

TEST_F(SubDevices, MakeAContextOfTheirOwn) {
  ASSERT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0}), CL_SUCCESS);
  cl_int code = CL_SUCCESS;
  OwnedContext context(cl.clCreateContext(nullptr, 2, made.data(), nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  OwnedQueue queue(cl.clCreateCommandQueue(context, made[1], 0, &code));
  EXPECT_EQ(code, CL_SUCCESS);
  // "CL_INVALID_DEVICE if device [...] is not associated with context": the parent is not.
  OwnedQueue none(cl.clCreateCommandQueue(context, testDevice(), 0, &code));
  EXPECT_EQ(code, CL_INVALID_DEVICE);
}

TEST_F(SubDevices, RefusesBadArguments) {
  const Properties equally{CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_device_id device = nullptr;
  cl_uint count = 0;
  EXPECT_EQ(cl.clCreateSubDevices(nullptr, equally.data(), 0, nullptr, &count), CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clCreateSubDevices(testDevice(), nullptr, 0, nullptr, &count), CL_INVALID_VALUE);
  // "CL_INVALID_VALUE if out_devices is not NULL and num_devices is less than the number of
  // sub-devices created."
  EXPECT_EQ(cl.clCreateSubDevices(testDevice(), equally.data(), 1, &device, &count),
            CL_INVALID_VALUE);
  EXPECT_EQ(partition({0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({0x7777, 1, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, -1, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, 0, 0}), CL_INVALID_VALUE);
}

TEST_F(SubDevices, RefusesMoreThanThereIs) {
  const auto too_many = static_cast<cl_device_partition_property>(units) + 1;
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, too_many, 0}),
            CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_EQUALLY, too_many - 1, 0}), CL_DEVICE_PARTITION_FAILED);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, too_many, 0, 0}),
            CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_COUNTS, -1, 0, 0}),
            CL_INVALID_DEVICE_PARTITION_COUNT);
  Properties ones(units + 4, 1);
  ones[0] = CL_DEVICE_PARTITION_BY_COUNTS;
  ones[ones.size() - 2] = ones.back() = 0;
  EXPECT_EQ(partition(ones), CL_INVALID_DEVICE_PARTITION_COUNT);
}

TEST_F(SubDevices, UnsupportedSchemesAreInvalid) {
  const auto domains = deviceInfo<cl_device_affinity_domain>(CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
  if (domains) GTEST_SKIP() << "affinity domains are supported";
  EXPECT_EQ(partition({CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0}),
            CL_INVALID_VALUE);
}

TEST(SubDevicesExt, IsNotSupported) {
  EXPECT_EQ(cl.clCreateSubDevicesEXT(testDevice(), nullptr, 0, nullptr, nullptr), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
