// WEFT_CHECK_SPLIT=1 on a unified device: kernels run divided and whole, and both are compared.
#include <cstdlib>
#include <numeric>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class CheckedSplits : public Programs {
 protected:
  void SetUp() override {
    if (!std::getenv("WEFT_CHECK_SPLIT")) GTEST_SKIP() << "nothing is checked";
    Programs::SetUp();
  }
  // Of a launch over 1024 work-items in groups of 16.
  cl_int statusOf(cl_kernel kernel) const {
    const size_t global = 1024, local = 16;
    cl_event event = nullptr;
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, &event),
        CL_SUCCESS);
    cl.clWaitForEvents(1, &event);
    const auto status = info<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
    cl.clReleaseEvent(event);
    return status;
  }
};

TEST_F(CheckedSplits, KernelsThatAreTheSameEitherWayRunOnce) {
  const OwnedKernel k = kernel(built("kernel void k(global int* a, global const int* b) {\n"
                                     "  a[get_global_id(0)] += b[get_global_id(0)];\n"
                                     "}\n"),
                               "k");
  std::vector<cl_int> a(1024), b(1024);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 100);
  const OwnedMem mine = upload(a), others = upload(b);
  set(k, mine, others);
  for (int launch = 1; launch <= 3; ++launch) {
    EXPECT_EQ(statusOf(k), CL_COMPLETE);
    const auto result = download<cl_int>(mine);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(result[i], a[i] + launch * b[i]) << i;
  }
}

TEST_F(CheckedSplits, ThoseThatDifferFail) {
  std::string extensions(size_t{1} << 14, '\0');
  ASSERT_EQ(cl.clGetDeviceInfo(testDevice(), CL_DEVICE_EXTENSIONS, extensions.size(),
                               extensions.data(), nullptr),
            CL_SUCCESS);
  if (extensions.find("cl_khr_kernel_clock") == std::string::npos) GTEST_SKIP() << "no clock";
  // Another time each time.
  const OwnedKernel k = kernel(
      built("kernel void k(global ulong* a) { a[get_global_id(0)] = clock_read_device(); }\n"),
      "k");
  const OwnedMem times = upload(std::vector<cl_ulong>(1024));
  set(k, times);
  EXPECT_EQ(statusOf(k), CL_OUT_OF_RESOURCES);
}

}  // namespace
}  // namespace weft::e2e
