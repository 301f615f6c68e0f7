// clGetPlatformIDs, clGetPlatformInfo, clUnloadPlatformCompiler, and what an ICD loader looks up.
#include <gtest/gtest.h>

#include <string>

#include "api/cl_weft_ext.h"
#include "tests/conformance/opencl.h"

namespace weft::conformance {
namespace {

std::string platformString(cl_platform_info name) {
  size_t size = 0;
  EXPECT_EQ(cl.clGetPlatformInfo(testPlatform(), name, 0, nullptr, &size), CL_SUCCESS);
  std::string text(size, '?');
  EXPECT_EQ(cl.clGetPlatformInfo(testPlatform(), name, size, text.data(), nullptr), CL_SUCCESS);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  return text;
}

TEST(GetPlatformIDs, ReturnsOnePlatform) {
  cl_uint count = 0;
  cl_platform_id platforms[2] = {};
  ASSERT_EQ(cl.clGetPlatformIDs(2, platforms, &count), CL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(platforms[0], testPlatform());
  EXPECT_EQ(platforms[1], nullptr);
}

TEST(GetPlatformIDs, RefusesNothingToDo) {
  cl_platform_id platform = nullptr;
  EXPECT_EQ(cl.clGetPlatformIDs(0, &platform, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetPlatformIDs(0, nullptr, nullptr), CL_INVALID_VALUE);
}

TEST(GetPlatformInfo, Strings) {
  EXPECT_EQ(platformString(CL_PLATFORM_PROFILE), "FULL_PROFILE");
  EXPECT_EQ(platformString(CL_PLATFORM_VERSION).rfind("OpenCL 3.1 ", 0), 0u);
  EXPECT_NE(platformString(CL_PLATFORM_EXTENSIONS).find("cl_khr_icd"), std::string::npos);
  EXPECT_FALSE(platformString(CL_PLATFORM_NAME).empty());
  EXPECT_FALSE(platformString(CL_PLATFORM_VENDOR).empty());
}

TEST(GetPlatformInfo, NumericVersionIsTheString) {
  const auto version =
      info<cl_version>(cl.clGetPlatformInfo, testPlatform(), CL_PLATFORM_NUMERIC_VERSION);
  EXPECT_EQ(CL_VERSION_MAJOR(version), 3u);
  EXPECT_EQ(CL_VERSION_MINOR(version), 1u);
}

TEST(GetPlatformInfo, RefusesBadArguments) {
  char small[2];
  size_t size = 0;
  EXPECT_EQ(cl.clGetPlatformInfo(nullptr, CL_PLATFORM_NAME, 0, nullptr, &size),
            CL_INVALID_PLATFORM);
  EXPECT_EQ(cl.clGetPlatformInfo(foreign<cl_platform_id>(testDevice()), CL_PLATFORM_NAME, 0,
                                 nullptr, &size),
            CL_INVALID_PLATFORM);
  EXPECT_EQ(cl.clGetPlatformInfo(testPlatform(), 0, 0, nullptr, &size), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetPlatformInfo(testPlatform(), CL_PLATFORM_NAME, sizeof small, small, nullptr),
            CL_INVALID_VALUE);
}

TEST(GetPlatformReport, NamesBackendsCompilerAndCache) {
  const auto report = reinterpret_cast<clGetPlatformReportWEFT_fn>(
      cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), "clGetPlatformReportWEFT"));
  ASSERT_NE(report, nullptr);
  size_t size = 0;
  ASSERT_EQ(report(testPlatform(), 0, nullptr, &size), CL_SUCCESS);
  std::string text(size, '?');
  ASSERT_EQ(report(testPlatform(), size, text.data(), nullptr), CL_SUCCESS);
  EXPECT_EQ(text.back(), '\0');
  for (const char* subject : {"cpu: 1 device", "compiler: ", "kernel cache: "})
    EXPECT_NE(text.find(subject), std::string::npos) << subject << " in\n" << text;
  EXPECT_EQ(report(testPlatform(), size - 1, text.data(), nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(report(nullptr, 0, nullptr, &size), CL_INVALID_PLATFORM);
}

TEST(UnloadPlatformCompiler, ChecksThePlatform) {
  EXPECT_EQ(cl.clUnloadPlatformCompiler(testPlatform()), CL_SUCCESS);
  EXPECT_EQ(cl.clUnloadPlatformCompiler(nullptr), CL_INVALID_PLATFORM);
  EXPECT_EQ(cl.clUnloadCompiler(), CL_SUCCESS);
}

TEST(Icd, ExportsWhatALoaderLooksUpAndNothingElse) {
  for (const char* name :
       {"clGetExtensionFunctionAddress", "clIcdGetPlatformIDsKHR", "clGetPlatformInfo"})
    EXPECT_NE(exported(name), nullptr) << name;
  for (const char* name : {"clCreateContext", "clFinish", "clGetPlatformIDs"})
    EXPECT_EQ(exported(name), nullptr) << name;
}

TEST(Icd, NamesExtensionFunctions) {
  for (const char* name : {"clIcdGetPlatformIDsKHR", "clCreateCommandQueueWithPropertiesKHR",
                           "clGetContextStatisticsWEFT", "clGetPlatformReportWEFT",
                           "clCreateCommandBufferKHR", "clUpdateMutableCommandsKHR"}) {
    EXPECT_NE(cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), name), nullptr) << name;
    EXPECT_NE(cl.clGetExtensionFunctionAddress(name), nullptr) << name;
  }
  EXPECT_EQ(cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), "clNoSuchKHR"), nullptr);
  EXPECT_EQ(cl.clGetExtensionFunctionAddressForPlatform(nullptr, "clIcdGetPlatformIDsKHR"),
            nullptr);
  EXPECT_EQ(cl.clGetExtensionFunctionAddress(nullptr), nullptr);
}

TEST(Icd, EveryEntryOfTheTableIsThereButDirect3D) {
  const auto begin = reinterpret_cast<void* const*>(&cl);
  const auto index = [&](auto& member) { return reinterpret_cast<void* const*>(&member) - begin; };
  const auto isDirect3D = [&](long i) {
    return (i >= index(cl.clGetDeviceIDsFromD3D10KHR) &&
            i <= index(cl.clEnqueueReleaseD3D10ObjectsKHR)) ||
           (i >= index(cl.clGetDeviceIDsFromD3D11KHR) &&
            i <= index(cl.clEnqueueReleaseDX9MediaSurfacesKHR));
  };
  for (long i = 0; i < static_cast<long>(sizeof cl / sizeof(void*)); ++i)
    EXPECT_EQ(begin[i] == nullptr, isDirect3D(i)) << "entry " << i;
}

}  // namespace
}  // namespace weft::conformance
