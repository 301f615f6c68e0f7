// clEnqueueReadBuffer, clEnqueueWriteBuffer. Wait lists are in wait_list_test.cpp.
#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class ReadWriteTest : public CommandTest {
 protected:
  cl_int read(cl_command_queue q, cl_mem m, size_t offset, size_t size, void* pointer) {
    return cl.clEnqueueReadBuffer(q, m, CL_TRUE, offset, size, pointer, 0, nullptr, nullptr);
  }
  cl_int writeTo(cl_command_queue q, cl_mem m, size_t offset, size_t size, const void* pointer) {
    return cl.clEnqueueWriteBuffer(q, m, CL_TRUE, offset, size, pointer, 0, nullptr, nullptr);
  }
};

TEST_F(ReadWriteTest, MovesBytes) {
  write(buffer, counting());
  EXPECT_EQ(contents(buffer), counting());
  std::vector<unsigned char> part(16);
  ASSERT_EQ(read(queue, buffer, 1000, part.size(), part.data()), CL_SUCCESS);
  const auto all = counting();
  EXPECT_EQ(part, std::vector<unsigned char>(all.begin() + 1000, all.begin() + 1016));
}

TEST_F(ReadWriteTest, NothingIsFine) {
  EXPECT_EQ(read(queue, buffer, 0, 0, host.data()), CL_SUCCESS);
  EXPECT_EQ(writeTo(queue, buffer, buffer_bytes, 0, host.data()), CL_SUCCESS);
}

TEST_F(ReadWriteTest, RefusesBadHandles) {
  for (const cl_command_queue bad :
       {cl_command_queue(nullptr), foreign<cl_command_queue>(cl_context(context))}) {
    EXPECT_EQ(read(bad, buffer, 0, 1, host.data()), CL_INVALID_COMMAND_QUEUE);
    EXPECT_EQ(writeTo(bad, buffer, 0, 1, host.data()), CL_INVALID_COMMAND_QUEUE);
  }
  for (const cl_mem bad : {cl_mem(nullptr), foreign<cl_mem>(cl_context(context))}) {
    EXPECT_EQ(read(queue, bad, 0, 1, host.data()), CL_INVALID_MEM_OBJECT);
    EXPECT_EQ(writeTo(queue, bad, 0, 1, host.data()), CL_INVALID_MEM_OBJECT);
  }
}

TEST_F(ReadWriteTest, RefusesOtherContexts) {
  OwnedQueue other = makeQueue(other_context);
  EXPECT_EQ(read(other, buffer, 0, 1, host.data()), CL_INVALID_CONTEXT);
  EXPECT_EQ(writeTo(other, buffer, 0, 1, host.data()), CL_INVALID_CONTEXT);
}

TEST_F(ReadWriteTest, RefusesBadRanges) {
  struct Range {
    size_t offset, size;
  };
  for (const Range& r : {Range{0, buffer_bytes + 1}, Range{buffer_bytes, 1}, Range{1, SIZE_MAX},
                         Range{SIZE_MAX, 2}, Range{buffer_bytes + 1, 0}}) {
    EXPECT_EQ(read(queue, buffer, r.offset, r.size, host.data()), CL_INVALID_VALUE);
    EXPECT_EQ(writeTo(queue, buffer, r.offset, r.size, host.data()), CL_INVALID_VALUE);
  }
  EXPECT_EQ(read(queue, buffer, 0, 1, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(writeTo(queue, buffer, 0, 1, nullptr), CL_INVALID_VALUE);
}

TEST_F(ReadWriteTest, RangesAreTheSubBuffers) {
  OwnedMem sub = makeSubBuffer(buffer, 0, 64);
  EXPECT_EQ(read(queue, sub, 0, 64, host.data()), CL_SUCCESS);
  EXPECT_EQ(read(queue, sub, 0, 65, host.data()), CL_INVALID_VALUE);
}

TEST_F(ReadWriteTest, RespectsHostAccess) {
  struct Case {
    cl_mem_flags flags;
    cl_int read, write;
  };
  for (const Case& c : {Case{CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS},
                        Case{CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION},
                        Case{CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION}}) {
    OwnedMem limited = makeBuffer(c.flags);
    EXPECT_EQ(read(queue, limited, 0, 1, host.data()), c.read) << c.flags;
    EXPECT_EQ(writeTo(queue, limited, 0, 1, host.data()), c.write) << c.flags;
  }
}

}  // namespace
}  // namespace weft::conformance
