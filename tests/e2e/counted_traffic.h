// Several devices whose traffic is counted. They have memories of their own only where
// WEFT_CPU_PRIVATE_MEMORY says so.
#pragma once

#include <cstdlib>

#include "api/cl_weft_ext.h"
#include "tests/e2e/several_devices.h"

namespace weft::e2e {

class CountedTraffic : public SeveralDevices {
 protected:
  void SetUp() override {
    const char* setting = std::getenv("WEFT_CPU_PRIVATE_MEMORY");
    if (!setting || *setting != '1') GTEST_SKIP() << "the devices share their memory";
    useDevices();
    if (devices.size() < 2) GTEST_SKIP() << "there is one device only";
    statistics_ = reinterpret_cast<clGetContextStatisticsWEFT_fn>(
        cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), "clGetContextStatisticsWEFT"));
    ASSERT_NE(statistics_, nullptr);
  }

  size_t bytesMovedTo(size_t device) const {
    cl_device_statistics_weft counts{};
    EXPECT_EQ(statistics_(context, devices[device], sizeof counts, &counts, nullptr), CL_SUCCESS);
    return counts.bytes_in;
  }

 private:
  clGetContextStatisticsWEFT_fn statistics_ = nullptr;
};

}  // namespace weft::e2e
