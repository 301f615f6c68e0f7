// clEnqueueCopyBuffer, clEnqueueFillBuffer.
#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class CopyTest : public CommandTest {
 protected:
  cl_int copy(cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size) {
    return cl.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, 0, nullptr,
                                  nullptr);
  }
  OwnedMem second = makeBuffer();
};

TEST_F(CopyTest, CopiesARange) {
  write(buffer, counting());
  write(second, std::vector<unsigned char>(buffer_bytes));
  ASSERT_EQ(copy(buffer, second, 10, 1000, 100), CL_SUCCESS);
  std::vector<unsigned char> expected(buffer_bytes);
  const auto all = counting();
  std::copy_n(all.begin() + 10, 100, expected.begin() + 1000);
  EXPECT_EQ(contents(second), expected);
}

TEST_F(CopyTest, RefusesBadHandles) {
  OwnedMem other(cl.clCreateBuffer(other_context, 0, buffer_bytes, nullptr, nullptr));
  EXPECT_EQ(copy(nullptr, second, 0, 0, 1), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(copy(buffer, foreign<cl_mem>(cl_context(context)), 0, 0, 1), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(copy(other, second, 0, 0, 1), CL_INVALID_CONTEXT);
  EXPECT_EQ(copy(buffer, other, 0, 0, 1), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clEnqueueCopyBuffer(nullptr, buffer, second, 0, 0, 1, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
}

TEST_F(CopyTest, RefusesBadRanges) {
  EXPECT_EQ(copy(buffer, second, 1, 0, buffer_bytes), CL_INVALID_VALUE);
  EXPECT_EQ(copy(buffer, second, 0, 1, buffer_bytes), CL_INVALID_VALUE);
  EXPECT_EQ(copy(buffer, second, 1, 1, SIZE_MAX), CL_INVALID_VALUE);
  EXPECT_EQ(copy(buffer, second, SIZE_MAX, 0, 1), CL_INVALID_VALUE);
}

TEST_F(CopyTest, RefusesOverlap) {
  EXPECT_EQ(copy(buffer, buffer, 0, 99, 100), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(buffer, buffer, 99, 0, 100), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(buffer, buffer, 0, 100, 100), CL_SUCCESS);
  const size_t alignment = deviceInfo<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  OwnedMem low = makeSubBuffer(buffer, 0, 2 * alignment);
  OwnedMem high = makeSubBuffer(buffer, alignment, 2 * alignment);
  EXPECT_EQ(copy(low, high, 0, 0, alignment + 1), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(low, high, 0, 0, alignment), CL_SUCCESS);
  EXPECT_EQ(copy(buffer, low, 0, 0, 1), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

class FillTest : public CommandTest {
 protected:
  cl_int fill(cl_mem m, const void* pattern, size_t pattern_size, size_t offset, size_t size) {
    return cl.clEnqueueFillBuffer(queue, m, pattern, pattern_size, offset, size, 0, nullptr,
                                  nullptr);
  }
  unsigned char pattern[256] = {1, 2, 3, 4, 5, 6, 7, 8};
};

TEST_F(FillTest, EveryPatternSize) {
  for (size_t n = 0; n < sizeof pattern; ++n) pattern[n] = static_cast<unsigned char>(n + 1);
  for (size_t size = 1; size <= 128; size *= 2) {
    write(buffer, std::vector<unsigned char>(buffer_bytes));
    ASSERT_EQ(fill(buffer, pattern, size, 2 * size, 3 * size), CL_SUCCESS) << size;
    std::vector<unsigned char> expected(buffer_bytes);
    for (size_t i = 0; i < 3 * size; ++i) expected[2 * size + i] = pattern[i % size];
    EXPECT_EQ(contents(buffer), expected) << size;
  }
}

TEST_F(FillTest, ThePatternIsCopied) {
  OwnedEvent gate = makeUserEvent();
  const cl_event waits = gate;
  ASSERT_EQ(cl.clEnqueueFillBuffer(queue, buffer, pattern, 4, 0, buffer_bytes, 1, &waits, nullptr),
            CL_SUCCESS);
  pattern[0] = 99;
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(contents(buffer)[0], 1);
}

TEST_F(FillTest, RefusesBadArguments) {
  EXPECT_EQ(fill(nullptr, pattern, 1, 0, 1), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(fill(buffer, nullptr, 1, 0, 1), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 0, 0, 1), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 3, 0, 3), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 256, 0, 256), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 4, 2, 4), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 4, 4, 6), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 4, buffer_bytes, 4), CL_INVALID_VALUE);
  EXPECT_EQ(fill(buffer, pattern, 4, 4, SIZE_MAX - 3), CL_INVALID_VALUE);
  OwnedMem other(cl.clCreateBuffer(other_context, 0, buffer_bytes, nullptr, nullptr));
  EXPECT_EQ(fill(other, pattern, 1, 0, 1), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clEnqueueFillBuffer(nullptr, buffer, pattern, 1, 0, 1, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
}

}  // namespace
}  // namespace weft::conformance
