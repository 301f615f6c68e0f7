// cl_weft_unified_device: what a unified device says of itself, of kernels and of commands.
#include <numeric>

#include "api/cl_weft_ext.h"
#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class UnifiedDevices : public Programs {
 protected:
  void SetUp() override {
    Programs::SetUp();
    if (IsSkipped()) return;
    const std::string extensions = listOf<char>(testDevice(), CL_DEVICE_EXTENSIONS).data();
    if (extensions.find(CL_WEFT_UNIFIED_DEVICE_EXTENSION_NAME) == std::string::npos)
      GTEST_SKIP() << "the device is not a unified one";
    split_info_ = reinterpret_cast<clGetKernelSplitInfoWEFT_fn>(
        cl.clGetExtensionFunctionAddressForPlatform(testPlatform(), "clGetKernelSplitInfoWEFT"));
    ASSERT_NE(split_info_, nullptr);
  }

  // Of a launch over 1024 work-items in groups of 16.
  cl_int splitInfo(cl_kernel kernel, cl_uint what, size_t size, void* value,
                   size_t* size_ret = nullptr, cl_uint dimensions = 1) const {
    const size_t global[] = {1024, 1, 1}, local[] = {16, 1, 1};
    return split_info_(queue, kernel, dimensions, nullptr, global, local, what, size, value,
                       size_ret);
  }
  cl_split_class_weft classOf(cl_kernel kernel) const {
    cl_split_class_weft answer = ~0u;
    EXPECT_EQ(splitInfo(kernel, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer), CL_SUCCESS);
    return answer;
  }
  std::string reasonOf(cl_kernel kernel) const {
    size_t size = 0;
    EXPECT_EQ(splitInfo(kernel, CL_KERNEL_SPLIT_REASON_WEFT, 0, nullptr, &size), CL_SUCCESS);
    std::string reason(size, '?');
    EXPECT_EQ(splitInfo(kernel, CL_KERNEL_SPLIT_REASON_WEFT, size, reason.data()), CL_SUCCESS);
    return reason.substr(0, size - 1);
  }
  OwnedKernel kernelOf(const char* body) const {
    return kernel(
        built(("kernel void k(global int* a, global int* b) { int i = get_global_id(0); " +
               std::string(body) + " }")
                  .c_str()),
        "k");
  }

  clGetKernelSplitInfoWEFT_fn split_info_ = nullptr;
};

TEST_F(UnifiedDevices, SayHowAKernelIsSplit) {
  const OwnedMem a = upload(std::vector<cl_int>(1024)), b = upload(std::vector<cl_int>(1024));
  const OwnedKernel exact = kernelOf("a[i] = b[1023 - i];");
  set(exact, a, b);
  EXPECT_EQ(classOf(exact), cl_split_class_weft{CL_SPLIT_CLASS_EXACT_WEFT});
  EXPECT_EQ(reasonOf(exact), "");
  const OwnedKernel whole = kernelOf("b[i] = atomic_inc(a);");
  set(whole, a, b);
  EXPECT_EQ(classOf(whole), cl_split_class_weft{CL_SPLIT_CLASS_WHOLE_WEFT});
  EXPECT_EQ(reasonOf(whole), "atomics on global memory");
}

TEST_F(UnifiedDevices, AnswerFalseQuestionsWithErrors) {
  const OwnedMem a = upload(std::vector<cl_int>(1024)), b = upload(std::vector<cl_int>(1024));
  const OwnedKernel k = kernelOf("a[i] = b[i];");
  cl_split_class_weft answer = 0;
  EXPECT_EQ(splitInfo(k, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer),
            CL_INVALID_KERNEL_ARGS);
  set(k, a, b);
  EXPECT_EQ(splitInfo(k, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer - 1, &answer), CL_INVALID_VALUE);
  EXPECT_EQ(splitInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof answer, &answer), CL_INVALID_VALUE);
  EXPECT_EQ(splitInfo(k, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer, nullptr, 4),
            CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(splitInfo(nullptr, CL_KERNEL_SPLIT_CLASS_WEFT, sizeof answer, &answer),
            CL_INVALID_KERNEL);
  EXPECT_EQ(split_info_(nullptr, k, 1, nullptr, nullptr, nullptr, CL_KERNEL_SPLIT_CLASS_WEFT, 0,
                        nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
}

}  // namespace
}  // namespace weft::e2e
