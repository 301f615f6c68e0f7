// clGetDeviceIDs, clGetDeviceInfo, clRetainDevice, clReleaseDevice, the timers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/conformance/opencl.h"

namespace weft::conformance {
namespace {

std::vector<cl_name_version> nameVersions(cl_device_info name) {
  size_t size = 0;
  EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), name, 0, nullptr, &size), CL_SUCCESS);
  std::vector<cl_name_version> list(size / sizeof(cl_name_version));
  EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), name, size, list.data(), nullptr), CL_SUCCESS);
  return list;
}

TEST(GetDeviceIDs, FindsDevicesByType) {
  cl_uint all = 0;
  ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &all), CL_SUCCESS);
  EXPECT_GE(all, 1u);
  cl_device_id device = nullptr;
  ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_DEFAULT, 1, &device, nullptr),
            CL_SUCCESS);
  std::vector<cl_device_id> same(all);
  ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, all, same.data(), nullptr),
            CL_SUCCESS);
  EXPECT_EQ(device, same[0]);
  ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), deviceInfo<cl_device_type>(CL_DEVICE_TYPE), all,
                              same.data(), nullptr),
            CL_SUCCESS);
  EXPECT_NE(std::ranges::find(same, testDevice()), same.end());
}

TEST(GetDeviceIDs, RefusesBadArguments) {
  cl_device_id device = nullptr;
  cl_uint count = 0;
  EXPECT_EQ(cl.clGetDeviceIDs(nullptr, CL_DEVICE_TYPE_ALL, 1, &device, nullptr),
            CL_INVALID_PLATFORM);
  EXPECT_EQ(cl.clGetDeviceIDs(foreign<cl_platform_id>(testDevice()), CL_DEVICE_TYPE_ALL, 1, &device,
                              nullptr),
            CL_INVALID_PLATFORM);
  EXPECT_EQ(cl.clGetDeviceIDs(testPlatform(), 0, 1, &device, nullptr), CL_INVALID_DEVICE_TYPE);
  EXPECT_EQ(cl.clGetDeviceIDs(testPlatform(), 1u << 20, 1, &device, nullptr),
            CL_INVALID_DEVICE_TYPE);
  EXPECT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, 0, &device, &count),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, 1, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_CUSTOM, 1, &device, nullptr),
            CL_DEVICE_NOT_FOUND);
}

TEST(GetDeviceInfo, RefusesBadArguments) {
  cl_uint value = 0;
  size_t size = 0;
  EXPECT_EQ(cl.clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, &size), CL_INVALID_DEVICE);
  EXPECT_EQ(
      cl.clGetDeviceInfo(foreign<cl_device_id>(testPlatform()), CL_DEVICE_NAME, 0, nullptr, &size),
      CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), 0, sizeof value, &value, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetDeviceInfo(testDevice(), CL_DEVICE_MAX_COMPUTE_UNITS, 1, &value, nullptr),
            CL_INVALID_VALUE);
}

// The full profile's minimums (table 'Device Queries').
TEST(GetDeviceInfo, MeetsTheFullProfile) {
  EXPECT_EQ(deviceString(CL_DEVICE_PROFILE), "FULL_PROFILE");
  EXPECT_GE(deviceInfo<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS), 1u);
  EXPECT_GE(deviceInfo<cl_uint>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS), 3u);
  EXPECT_GE(deviceInfo<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE), 1u);
  EXPECT_GE(deviceInfo<size_t>(CL_DEVICE_MAX_PARAMETER_SIZE), 1024u);
  EXPECT_GE(deviceInfo<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN), sizeof(cl_long16) * 8);
  EXPECT_GE(deviceInfo<cl_ulong>(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE), 64u << 10);
  EXPECT_GE(deviceInfo<cl_uint>(CL_DEVICE_MAX_CONSTANT_ARGS), 8u);
  EXPECT_GE(deviceInfo<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE), 32u << 10);
  EXPECT_GE(deviceInfo<size_t>(CL_DEVICE_PRINTF_BUFFER_SIZE), 1u << 20);
  EXPECT_GE(deviceInfo<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE),
            std::min<cl_ulong>(1u << 30, deviceInfo<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE) / 4));
  const auto config = deviceInfo<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG);
  EXPECT_EQ(config & (CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN),
            cl_device_fp_config{CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN});
  EXPECT_TRUE(deviceInfo<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE));
  EXPECT_TRUE(deviceInfo<cl_bool>(CL_DEVICE_LINKER_AVAILABLE));
}

std::string versionText(const char* name, cl_version version) {
  return name + std::to_string(CL_VERSION_MAJOR(version)) + "." +
         std::to_string(CL_VERSION_MINOR(version)) + " ";
}

TEST(GetDeviceInfo, VersionsAgree) {
  const auto version = deviceInfo<cl_version>(CL_DEVICE_NUMERIC_VERSION);
  EXPECT_EQ(deviceString(CL_DEVICE_VERSION).rfind(versionText("OpenCL ", version), 0), 0u);
  std::vector<cl_version> versions;
  for (const auto& entry : nameVersions(CL_DEVICE_OPENCL_C_ALL_VERSIONS)) {
    EXPECT_STREQ(entry.name, "OpenCL C");
    versions.push_back(entry.version);
  }
  const auto language = deviceInfo<cl_version>(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR);
  EXPECT_EQ(deviceString(CL_DEVICE_OPENCL_C_VERSION).rfind(versionText("OpenCL C ", language), 0),
            0u);
  for (const cl_version demanded : {version, language, cl_version{CL_MAKE_VERSION(3, 0, 0)},
                                    cl_version{CL_MAKE_VERSION(1, 2, 0)}})
    EXPECT_NE(std::find(versions.begin(), versions.end(), demanded), versions.end()) << demanded;
}

// Of a whole CPU: sub-groups and all that OpenCL 3.1 demands besides.
TEST(GetDeviceInfo, CpusAreOf31) {
  if (deviceInfo<cl_device_type>(CL_DEVICE_TYPE) != CL_DEVICE_TYPE_CPU) GTEST_SKIP() << "no CPU";
  EXPECT_EQ(deviceString(CL_DEVICE_VERSION).rfind("OpenCL 3.1 ", 0), 0u);
  EXPECT_GT(deviceInfo<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS), 0u);
  EXPECT_NE(deviceString(CL_DEVICE_IL_VERSION).find("SPIR-V_1.4"), std::string::npos);
  if (deviceInfo<cl_uint>(CL_DEVICE_MAX_ON_DEVICE_QUEUES) > 0) {
    EXPECT_EQ(deviceString(CL_DEVICE_OPENCL_C_VERSION).rfind("OpenCL C 3.1 ", 0), 0u);
  }
}

TEST(GetDeviceInfo, ExtensionListsAgree) {
  std::string joined;
  for (const auto& entry : nameVersions(CL_DEVICE_EXTENSIONS_WITH_VERSION)) {
    EXPECT_NE(entry.version, 0u) << entry.name;
    joined += (joined.empty() ? "" : " ") + std::string(entry.name);
  }
  EXPECT_EQ(joined, deviceString(CL_DEVICE_EXTENSIONS));
  for (const char* name :
       {"cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics",
        "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics",
        "cl_khr_byte_addressable_store"})
    EXPECT_NE(joined.find(name), std::string::npos) << name;
}

// "This is mandated minimum capability" for OpenCL 3.0 devices.
TEST(GetDeviceInfo, AtomicCapabilities) {
  constexpr cl_device_atomic_capabilities memory =
      CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
  constexpr cl_device_atomic_capabilities fence = memory | CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
  EXPECT_EQ(
      deviceInfo<cl_device_atomic_capabilities>(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES) & memory,
      memory);
  EXPECT_EQ(deviceInfo<cl_device_atomic_capabilities>(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES) & fence,
            fence);
}

TEST(GetDeviceInfo, UuidsTellDevicesApart) {
  using Uuid = std::array<cl_uchar, CL_UUID_SIZE_KHR>;
  EXPECT_NE(deviceInfo<Uuid>(CL_DEVICE_UUID_KHR), Uuid{});
  EXPECT_NE(deviceInfo<Uuid>(CL_DRIVER_UUID_KHR), Uuid{});
  EXPECT_EQ(deviceInfo<cl_bool>(CL_DEVICE_LUID_VALID_KHR), cl_bool{CL_FALSE});
}

TEST(RetainDevice, RootDevicesAreNotCounted) {
  const auto before = deviceInfo<cl_uint>(CL_DEVICE_REFERENCE_COUNT);
  EXPECT_EQ(cl.clRetainDevice(testDevice()), CL_SUCCESS);
  EXPECT_EQ(deviceInfo<cl_uint>(CL_DEVICE_REFERENCE_COUNT), before);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cl.clReleaseDevice(testDevice()), CL_SUCCESS);
  EXPECT_EQ(deviceInfo<cl_uint>(CL_DEVICE_REFERENCE_COUNT), before);
  EXPECT_EQ(cl.clRetainDevice(nullptr), CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clReleaseDevice(foreign<cl_device_id>(testPlatform())), CL_INVALID_DEVICE);
}

TEST(GetDeviceAndHostTimer, Advances) {
  cl_ulong device[2] = {}, host[2] = {}, later = 0;
  ASSERT_EQ(cl.clGetDeviceAndHostTimer(testDevice(), &device[0], &host[0]), CL_SUCCESS);
  ASSERT_EQ(cl.clGetDeviceAndHostTimer(testDevice(), &device[1], &host[1]), CL_SUCCESS);
  ASSERT_EQ(cl.clGetHostTimer(testDevice(), &later), CL_SUCCESS);
  EXPECT_GT(device[0], 0u);
  EXPECT_GE(device[1], device[0]);
  EXPECT_GE(host[1], host[0]);
  EXPECT_GE(later, host[1]);
}

TEST(GetDeviceAndHostTimer, RefusesBadArguments) {
  cl_ulong value = 0;
  EXPECT_EQ(cl.clGetDeviceAndHostTimer(nullptr, &value, &value), CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clGetDeviceAndHostTimer(testDevice(), nullptr, &value), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetDeviceAndHostTimer(testDevice(), &value, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetHostTimer(nullptr, &value), CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clGetHostTimer(testDevice(), nullptr), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
