// clCreateBuffer, clCreateBufferWithProperties, clGetMemObjectInfo and its kin.
#include <cstring>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class BufferTest : public CommandTest {
 protected:
  cl_int createCode(cl_mem_flags flags, size_t size, void* host_ptr) {
    cl_int code = 1;
    OwnedMem made(cl.clCreateBuffer(context, flags, size, host_ptr, &code));
    EXPECT_EQ(made != nullptr, code == CL_SUCCESS);
    return code;
  }
};

TEST_F(BufferTest, AcceptsFlags) {
  for (const cl_mem_flags access : {0, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY})
    for (const cl_mem_flags host_access :
         {0, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS}) {
      const cl_mem_flags flags = access | host_access;
      EXPECT_EQ(createCode(flags, 64, nullptr), CL_SUCCESS) << flags;
      EXPECT_EQ(createCode(flags | CL_MEM_ALLOC_HOST_PTR, 64, nullptr), CL_SUCCESS) << flags;
      EXPECT_EQ(createCode(flags | CL_MEM_COPY_HOST_PTR, 64, host.data()), CL_SUCCESS) << flags;
      EXPECT_EQ(createCode(flags | CL_MEM_USE_HOST_PTR, 64, host.data()), CL_SUCCESS) << flags;
      EXPECT_EQ(createCode(flags | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host.data()),
                CL_SUCCESS)
          << flags;
    }
}

TEST_F(BufferTest, RefusesBadFlags) {
  EXPECT_EQ(createCode(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(CL_MEM_READ_ONLY | CL_MEM_READ_WRITE, 64, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(createCode(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 64, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(createCode(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(createCode(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, host.data()),
            CL_INVALID_VALUE);
  EXPECT_EQ(createCode(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host.data()),
            CL_INVALID_VALUE);
  EXPECT_EQ(createCode(cl_mem_flags{1} << 40, 64, nullptr), CL_INVALID_VALUE);
}

TEST_F(BufferTest, RefusesBadSizes) {
  EXPECT_EQ(createCode(0, 0, nullptr), CL_INVALID_BUFFER_SIZE);
  EXPECT_EQ(createCode(0, SIZE_MAX, nullptr), CL_INVALID_BUFFER_SIZE);
  const auto limit = largestInfo<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  EXPECT_EQ(createCode(0, limit + 1, nullptr), CL_INVALID_BUFFER_SIZE);
}

TEST_F(BufferTest, RefusesBadHostPointers) {
  EXPECT_EQ(createCode(CL_MEM_USE_HOST_PTR, 64, nullptr), CL_INVALID_HOST_PTR);
  EXPECT_EQ(createCode(CL_MEM_COPY_HOST_PTR, 64, nullptr), CL_INVALID_HOST_PTR);
  EXPECT_EQ(createCode(0, 64, host.data()), CL_INVALID_HOST_PTR);
  EXPECT_EQ(createCode(CL_MEM_ALLOC_HOST_PTR, 64, host.data()), CL_INVALID_HOST_PTR);
}

TEST_F(BufferTest, RefusesBadContexts) {
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateBuffer(nullptr, 0, 64, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clCreateBuffer(foreign<cl_context>(cl_command_queue(queue)), 0, 64, nullptr, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clCreateBuffer(nullptr, 0, 64, nullptr, nullptr), nullptr);
}

TEST_F(BufferTest, WithProperties) {
  const cl_mem_properties none[] = {0};
  const cl_mem_properties unknown[] = {0x7777, 1, 0};
  cl_int code = 1;
  OwnedMem made(cl.clCreateBufferWithProperties(context, none, 0, 64, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  cl_mem_properties returned[2] = {7, 7};
  size_t size = 0;
  ASSERT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_PROPERTIES, sizeof returned, returned, &size),
            CL_SUCCESS);
  EXPECT_EQ(size, sizeof none);
  EXPECT_EQ(returned[0], 0u);
  ASSERT_EQ(cl.clGetMemObjectInfo(buffer, CL_MEM_PROPERTIES, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(cl.clCreateBufferWithProperties(context, unknown, 0, 64, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROPERTY);
}

TEST_F(BufferTest, CopiesTheHostsBytes) {
  auto bytes = counting();
  OwnedMem made = makeBuffer(CL_MEM_COPY_HOST_PTR, buffer_bytes, bytes.data());
  const auto expected = bytes;
  std::fill(bytes.begin(), bytes.end(), 0);
  EXPECT_EQ(contents(made), expected);
}

TEST_F(BufferTest, UsesTheHostsBytes) {
  alignas(128) static unsigned char bytes[buffer_bytes];
  std::memset(bytes, 3, sizeof bytes);
  OwnedMem made = makeBuffer(CL_MEM_USE_HOST_PTR, buffer_bytes, bytes);
  EXPECT_EQ(info<void*>(cl.clGetMemObjectInfo, cl_mem(made), CL_MEM_HOST_PTR), bytes);
  const char pattern = 4;
  ASSERT_EQ(cl.clEnqueueFillBuffer(queue, made, &pattern, 1, 0, buffer_bytes, 0, nullptr, nullptr),
            CL_SUCCESS);
  void* mapped = cl.clEnqueueMapBuffer(queue, made, CL_TRUE, CL_MAP_READ, 0, buffer_bytes, 0,
                                       nullptr, nullptr, nullptr);
  // "The pointer value returned by clEnqueueMapBuffer will be derived from host_ptr."
  EXPECT_EQ(mapped, bytes);
  EXPECT_EQ(bytes[100], 4);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, made, mapped, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(BufferTest, Info) {
  OwnedMem made = makeBuffer(CL_MEM_READ_ONLY, 100);
  const cl_mem m = made;
  EXPECT_EQ(info<cl_mem_object_type>(cl.clGetMemObjectInfo, m, CL_MEM_TYPE),
            cl_mem_object_type{CL_MEM_OBJECT_BUFFER});
  EXPECT_EQ(info<cl_mem_flags>(cl.clGetMemObjectInfo, m, CL_MEM_FLAGS),
            cl_mem_flags{CL_MEM_READ_ONLY});
  EXPECT_EQ(info<size_t>(cl.clGetMemObjectInfo, m, CL_MEM_SIZE), 100u);
  EXPECT_EQ(info<void*>(cl.clGetMemObjectInfo, m, CL_MEM_HOST_PTR), nullptr);
  EXPECT_EQ(info<cl_uint>(cl.clGetMemObjectInfo, m, CL_MEM_MAP_COUNT), 0u);
  EXPECT_EQ(info<cl_uint>(cl.clGetMemObjectInfo, m, CL_MEM_REFERENCE_COUNT), 1u);
  EXPECT_EQ(info<cl_context>(cl.clGetMemObjectInfo, m, CL_MEM_CONTEXT), cl_context(context));
  EXPECT_EQ(info<cl_mem>(cl.clGetMemObjectInfo, m, CL_MEM_ASSOCIATED_MEMOBJECT), nullptr);
  EXPECT_EQ(info<size_t>(cl.clGetMemObjectInfo, m, CL_MEM_OFFSET), 0u);
  EXPECT_EQ(info<cl_bool>(cl.clGetMemObjectInfo, m, CL_MEM_USES_SVM_POINTER), cl_bool{CL_FALSE});
}

TEST_F(BufferTest, InfoRefusesBadArguments) {
  size_t value = 0;
  const auto code = [&](cl_mem m, cl_mem_info name, size_t size) {
    return cl.clGetMemObjectInfo(m, name, size, &value, nullptr);
  };
  EXPECT_EQ(code(nullptr, CL_MEM_SIZE, sizeof value), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(code(foreign<cl_mem>(cl_context(context)), CL_MEM_SIZE, sizeof value),
            CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(code(buffer, 0, sizeof value), CL_INVALID_VALUE);
  EXPECT_EQ(code(buffer, CL_MEM_SIZE, 1), CL_INVALID_VALUE);
}

TEST_F(BufferTest, RetainAndRelease) {
  EXPECT_EQ(cl.clRetainMemObject(buffer), CL_SUCCESS);
  EXPECT_EQ(info<cl_uint>(cl.clGetMemObjectInfo, cl_mem(buffer), CL_MEM_REFERENCE_COUNT), 2u);
  EXPECT_EQ(cl.clReleaseMemObject(buffer), CL_SUCCESS);
  EXPECT_EQ(cl.clRetainMemObject(nullptr), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clReleaseMemObject(foreign<cl_mem>(cl_context(context))), CL_INVALID_MEM_OBJECT);
}

TEST_F(BufferTest, DestructorCallbacksRunInReverseOrder) {
  static std::vector<int> order;
  order.clear();
  static int numbers[] = {1, 2, 3};
  const auto record = [](cl_mem, void* user) { order.push_back(*static_cast<int*>(user)); };
  OwnedMem made = makeBuffer();
  for (int& number : numbers)
    ASSERT_EQ(cl.clSetMemObjectDestructorCallback(made, record, &number), CL_SUCCESS);
  EXPECT_EQ(cl.clSetMemObjectDestructorCallback(made, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clSetMemObjectDestructorCallback(nullptr, record, nullptr), CL_INVALID_MEM_OBJECT);
  made.reset();
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

}  // namespace
}  // namespace weft::conformance
