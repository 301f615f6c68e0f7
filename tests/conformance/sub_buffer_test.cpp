// clCreateSubBuffer.
#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class SubBufferTest : public CommandTest {
 protected:
  size_t alignment = largestInfo<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;

  cl_int createCode(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size) {
    const cl_buffer_region region{origin, size};
    cl_int code = 1;
    OwnedMem made(
        cl.clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    EXPECT_EQ(made != nullptr, code == CL_SUCCESS);
    return code;
  }
};

TEST_F(SubBufferTest, IsAWindowOnItsParent) {
  write(buffer, counting());
  OwnedMem sub = makeSubBuffer(buffer, alignment, 100);
  const auto all = counting();
  EXPECT_EQ(contents(sub, 100),
            std::vector<unsigned char>(all.begin() + alignment, all.begin() + alignment + 100));
  const char pattern = 0x55;
  ASSERT_EQ(cl.clEnqueueFillBuffer(queue, sub, &pattern, 1, 10, 20, 0, nullptr, nullptr),
            CL_SUCCESS);
  auto expected = all;
  std::fill_n(expected.begin() + alignment + 10, 20, 0x55);
  EXPECT_EQ(contents(buffer), expected);
}

TEST_F(SubBufferTest, Info) {
  OwnedMem sub = makeSubBuffer(buffer, alignment, 100);
  const cl_mem m = sub;
  EXPECT_EQ(info<cl_mem>(cl.clGetMemObjectInfo, m, CL_MEM_ASSOCIATED_MEMOBJECT), cl_mem(buffer));
  EXPECT_EQ(info<size_t>(cl.clGetMemObjectInfo, m, CL_MEM_OFFSET), alignment);
  EXPECT_EQ(info<size_t>(cl.clGetMemObjectInfo, m, CL_MEM_SIZE), 100u);
  EXPECT_EQ(info<cl_mem_flags>(cl.clGetMemObjectInfo, m, CL_MEM_FLAGS),
            cl_mem_flags{CL_MEM_READ_WRITE});
}

TEST_F(SubBufferTest, InheritsFlags) {
  OwnedMem parent = makeBuffer(CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_ALLOC_HOST_PTR);
  OwnedMem sub = makeSubBuffer(parent, 0, 64);
  EXPECT_EQ(info<cl_mem_flags>(cl.clGetMemObjectInfo, cl_mem(sub), CL_MEM_FLAGS),
            cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_ALLOC_HOST_PTR});
}

TEST_F(SubBufferTest, KeepsItsParent) {
  OwnedMem parent = makeBuffer();
  write(parent, counting());
  OwnedMem sub = makeSubBuffer(parent, 0, 64);
  parent.reset();
  EXPECT_EQ(contents(sub, 64), counting(64));
}

TEST_F(SubBufferTest, RefusesMoreAccessThanTheParent) {
  struct Case {
    cl_mem_flags parent, child;
  };
  for (const Case& c :
       {Case{CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE}, Case{CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY},
        Case{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE}, Case{CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY},
        Case{CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
        Case{CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
        Case{CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY},
        Case{CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY}}) {
    OwnedMem parent = makeBuffer(c.parent);
    EXPECT_EQ(createCode(parent, c.child, 0, 64), CL_INVALID_VALUE) << c.parent << " " << c.child;
  }
  OwnedMem parent = makeBuffer(CL_MEM_READ_WRITE);
  EXPECT_EQ(createCode(parent, CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 0, 64), CL_SUCCESS);
}

TEST_F(SubBufferTest, RefusesBadArguments) {
  const cl_buffer_region region{0, 64};
  cl_int code = 1;
  EXPECT_EQ(createCode(nullptr, 0, 0, 64), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(createCode(foreign<cl_mem>(cl_context(context)), 0, 0, 64), CL_INVALID_MEM_OBJECT);
  OwnedMem sub = makeSubBuffer(buffer, 0, 1024);
  EXPECT_EQ(createCode(sub, 0, 0, 64), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clCreateSubBuffer(buffer, 0, 0x7777, &region, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, CL_MEM_COPY_HOST_PTR, 0, 64), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, CL_MEM_USE_HOST_PTR, 0, 64), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, CL_MEM_ALLOC_HOST_PTR, 0, 64), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 0, 64), CL_INVALID_VALUE);
}

TEST_F(SubBufferTest, RefusesBadRegions) {
  EXPECT_EQ(createCode(buffer, 0, 0, 0), CL_INVALID_BUFFER_SIZE);
  EXPECT_EQ(createCode(buffer, 0, 0, buffer_bytes + 1), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, 0, buffer_bytes, 1), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, 0, alignment, SIZE_MAX - alignment + 1), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(buffer, 0, 1, 64), CL_MISALIGNED_SUB_BUFFER_OFFSET);
  EXPECT_EQ(createCode(buffer, 0, alignment, 1), CL_SUCCESS);
}

}  // namespace
}  // namespace weft::conformance
