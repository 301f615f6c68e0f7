// printf of kernels. Specification of OpenCL C, 6.15.14.
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

class Print : public Programs {
 protected:
  // What the kernel `k` of `source` prints.
  std::string printed(const std::string& source, const Range& range) {
    const OwnedKernel k = kernel(built(source), "k");
    testing::internal::CaptureStdout();
    EXPECT_EQ(enqueue(k, range), CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
    std::fflush(nullptr);
    return testing::internal::GetCapturedStdout();
  }
};

TEST_F(Print, Conversions) {
  EXPECT_EQ(
      printed("kernel void k() {\n"
              "  printf(\"%d %5d|%-5d|%05d %+d %x %#X %o %u\\n\", -1, 42, 42, 42, 42, 255,\n"
              "         255, 8, 4000000000u);\n"
              "  printf(\"%f %.2f %e %g %a\\n\", 1.5f, 3.14159f, 12345.678f, 0.0001f, 1.0f);\n"
              "  printf(\"%c%c %s %%\\n\", 'o', 'k', \"text\");\n"
              "  printf(\"%ld %lu %hd %hhd\\n\", -5000000000L, 5000000000UL, (short)-3,\n"
              "         (char)-4);\n"
              "}",
              {{1}}),
      "-1    42|42   |00042 +42 ff 0XFF 10 4000000000\n"
      "1.500000 3.14 1.234568e+04 0.0001 0x1p+0\n"
      "ok text %\n"
      "-5000000000 5000000000 -3 -4\n");
}

TEST_F(Print, SizesAndDifferences) {
  EXPECT_EQ(printed("kernel void k() {\n"
                    "  size_t s = 0xfedcba9876543210UL; ptrdiff_t d = -5000000000L;\n"
                    "  printf(\"%zu %zx %td|%d\\n\", s, s, d, 7);\n"
                    "}",
                    {{1}}),
            "18364758544493064720 fedcba9876543210 -5000000000|7\n");
}

TEST_F(Print, Vectors) {
  EXPECT_EQ(printed("kernel void k() {\n"
                    "  float4 f = (float4)(1.0f, 2.0f, 3.0f, 4.0f);\n"
                    "  uchar4 c = (uchar4)(0xfa, 0xfb, 0xfc, 0xfd);\n"
                    "  printf(\"f4 = %2.2v4hlf\\n\", f);\n"
                    "  printf(\"uc = %#v4hhx\\n\", c);\n"
                    "}",
                    {{1}}),
            "f4 = 1.00,2.00,3.00,4.00\nuc = 0xfa,0xfb,0xfc,0xfd\n");
}

TEST_F(Print, LinesOfDifferentWorkItemsDoNotMix) {
  std::istringstream lines(printed(
      "kernel void k() { printf(\"item %d of group %d says hello\\n\", (int)get_global_id(0),\n"
      "                         (int)get_group_id(0)); }",
      {{1000}, {10}}));
  std::vector<int> seen;
  for (std::string line; std::getline(lines, line);) {
    int item = -1, group = -1, end = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "item %d of group %d says hello%n", &item, &group, &end), 2)
        << line;
    ASSERT_EQ(static_cast<size_t>(end), line.size()) << line;
    EXPECT_EQ(group, item / 10);
    seen.push_back(item);
  }
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(seen[static_cast<size_t>(i)], i);
}

// Buffers that nobody uses have all of a device's memory.
TEST_F(Print, WhereTheDeviceIsFull) {
  const auto room = info<cl_ulong>(cl.clGetDeviceInfo, testDevice(), CL_DEVICE_GLOBAL_MEM_SIZE);
  if (room > cl_ulong{64} << 20) GTEST_SKIP() << "needs a device of little memory";
  constexpr size_t bytes = size_t{2} << 20;
  std::vector<OwnedMem> buffers;
  for (cl_ulong filled = 0; filled < room; filled += bytes) {
    buffers.push_back(makeBuffer(CL_MEM_READ_WRITE, bytes, nullptr));
    const cl_int value = static_cast<cl_int>(buffers.size());
    ASSERT_EQ(cl.clEnqueueFillBuffer(queue, buffers.back(), &value, sizeof value, 0, bytes, 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
  }
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  std::string all;
  for (int i = 0; i < 2; ++i)
    all += printed("kernel void k() { printf(\"%d of\", (int)get_global_size(0)); }", {{20}});
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += "20 of";
  EXPECT_EQ(all, expected);
  for (size_t i = 0; i < buffers.size(); ++i)
    EXPECT_EQ(download<cl_int>(buffers[i]).back(), static_cast<cl_int>(i + 1));
}

TEST_F(Print, ReturnsZero) {
  const OwnedProgram program =
      built(R"(kernel void k(global int* out) { out[0] = printf("%s", ""); })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>{7});
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out)[0], 0);
}

}  // namespace
}  // namespace weft::e2e
