// clEnqueueMapBuffer, clEnqueueUnmapMemObject, clEnqueueMigrateMemObjects.
#include <cstring>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class MapTest : public CommandTest {
 protected:
  void* map(cl_mem m, cl_map_flags flags, size_t offset, size_t size, cl_int* code) {
    return cl.clEnqueueMapBuffer(queue, m, CL_TRUE, flags, offset, size, 0, nullptr, nullptr, code);
  }
  cl_int mapCode(cl_mem m, cl_map_flags flags, size_t offset, size_t size) {
    cl_int code = 1;
    void* pointer = map(m, flags, offset, size, &code);
    EXPECT_EQ(pointer != nullptr, code == CL_SUCCESS);
    if (pointer) {
      EXPECT_EQ(unmap(m, pointer), CL_SUCCESS);
    }
    return code;
  }
  // A blocking map whose wait list has failed.
  cl_int failedMapCode(cl_map_flags flags) {
    const OwnedEvent gate = makeUserEvent();
    EXPECT_EQ(cl.clSetUserEventStatus(gate, -5), CL_SUCCESS);
    const cl_event waits = gate;
    cl_int code = 1;
    EXPECT_EQ(
        cl.clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 0, 64, 1, &waits, nullptr, &code),
        nullptr);
    return code;
  }
  cl_int unmap(cl_mem m, void* pointer) {
    return cl.clEnqueueUnmapMemObject(queue, m, pointer, 0, nullptr, nullptr);
  }
  cl_uint mapCount(cl_mem m) { return info<cl_uint>(cl.clGetMemObjectInfo, m, CL_MEM_MAP_COUNT); }
};

TEST_F(MapTest, ReadsAndWrites) {
  write(buffer, counting());
  cl_int code = 1;
  auto* bytes =
      static_cast<unsigned char*>(map(buffer, CL_MAP_READ | CL_MAP_WRITE, 100, 50, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(std::memcmp(bytes, counting().data() + 100, 50), 0);
  std::memset(bytes, 7, 50);
  EXPECT_EQ(mapCount(buffer), 1u);
  ASSERT_EQ(unmap(buffer, bytes), CL_SUCCESS);
  EXPECT_EQ(mapCount(buffer), 0u);
  auto expected = counting();
  std::fill_n(expected.begin() + 100, 50, 7);
  EXPECT_EQ(contents(buffer), expected);
}

TEST_F(MapTest, CountsEachMap) {
  cl_int code = 1;
  void* first = map(buffer, CL_MAP_READ, 0, 16, &code);
  void* second = map(buffer, CL_MAP_READ, 64, 16, &code);
  EXPECT_EQ(mapCount(buffer), 2u);
  EXPECT_EQ(unmap(buffer, first), CL_SUCCESS);
  EXPECT_EQ(mapCount(buffer), 1u);
  EXPECT_EQ(unmap(buffer, second), CL_SUCCESS);
  EXPECT_EQ(mapCount(buffer), 0u);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(MapTest, InvalidateNeedsNoContents) {
  cl_int code = 1;
  void* bytes = map(buffer, CL_MAP_WRITE_INVALIDATE_REGION, 0, buffer_bytes, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  std::memset(bytes, 9, buffer_bytes);
  ASSERT_EQ(unmap(buffer, bytes), CL_SUCCESS);
  EXPECT_EQ(contents(buffer), std::vector<unsigned char>(buffer_bytes, 9));
}

TEST_F(MapTest, WritesDoNotOverlap) {
  const OwnedMem sub = makeSubBuffer(buffer, 1024, 1024);
  cl_int code = 1;
  void* first = map(buffer, CL_MAP_WRITE, 512, 1024, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  const struct {
    cl_mem in;
    size_t offset, size;
    cl_int code;
  } others[] = {
      {buffer, 512, 1024, CL_INVALID_OPERATION},
      {buffer, 1535, 1, CL_INVALID_OPERATION},
      {buffer, 0, 513, CL_INVALID_OPERATION},
      {sub, 511, 1, CL_INVALID_OPERATION},
      {sub, 512, 512, CL_SUCCESS},
      {buffer, 0, 512, CL_SUCCESS},
      {buffer, 1536, 512, CL_SUCCESS},
  };
  for (const auto& other : others)
    for (const cl_map_flags flags : {CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION})
      EXPECT_EQ(mapCode(other.in, flags, other.offset, other.size), other.code) << other.offset;
  EXPECT_EQ(mapCode(buffer, CL_MAP_READ, 512, 1024), CL_SUCCESS);
  EXPECT_EQ(mapCount(buffer), 1u);
  ASSERT_EQ(unmap(buffer, first), CL_SUCCESS);
  EXPECT_EQ(mapCode(sub, CL_MAP_WRITE, 0, 1024), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

// It may be unmapped, but stands for nothing and before nobody.
TEST_F(MapTest, AFailedMapIsNone) {
  const OwnedEvent gate = makeUserEvent();
  const cl_event waits = gate;
  cl_int code = 1;
  void* failed = cl.clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_WRITE, 0, 64, 1, &waits,
                                       nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(mapCount(buffer), 1u);
  EXPECT_EQ(mapCode(buffer, CL_MAP_WRITE, 0, 64), CL_INVALID_OPERATION);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -5), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(mapCount(buffer), 0u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(mapCode(buffer, CL_MAP_WRITE, 0, 64), CL_SUCCESS);
  EXPECT_EQ(unmap(buffer, failed), CL_SUCCESS);
  EXPECT_EQ(unmap(buffer, failed), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(MapTest, RefusesBadHandles) {
  cl_int code = 1;
  EXPECT_EQ(cl.clEnqueueMapBuffer(nullptr, buffer, CL_TRUE, CL_MAP_READ, 0, 1, 0, nullptr, nullptr,
                                  &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(mapCode(nullptr, CL_MAP_READ, 0, 1), CL_INVALID_MEM_OBJECT);
  OwnedMem other(cl.clCreateBuffer(other_context, 0, buffer_bytes, nullptr, nullptr));
  EXPECT_EQ(mapCode(other, CL_MAP_READ, 0, 1), CL_INVALID_CONTEXT);
}

TEST_F(MapTest, RefusesBadRangesAndFlags) {
  const std::pair<size_t, size_t> ranges[] = {
      {0, 0}, {0, buffer_bytes + 1}, {buffer_bytes, 1}, {1, SIZE_MAX}};
  for (const auto& [offset, size] : ranges)
    EXPECT_EQ(mapCode(buffer, CL_MAP_READ, offset, size), CL_INVALID_VALUE) << offset;
  for (const cl_map_flags flags : {1 << 20, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION,
                                   CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION})
    EXPECT_EQ(mapCode(buffer, flags, 0, 1), CL_INVALID_VALUE) << flags;
}

TEST_F(MapTest, RespectsHostAccess) {
  const struct {
    cl_mem_flags access;
    cl_map_flags map;
    cl_int code;
  } cases[] = {
      {CL_MEM_HOST_WRITE_ONLY, CL_MAP_READ, CL_INVALID_OPERATION},
      {CL_MEM_HOST_WRITE_ONLY, CL_MAP_WRITE, CL_SUCCESS},
      {CL_MEM_HOST_READ_ONLY, CL_MAP_READ, CL_SUCCESS},
      {CL_MEM_HOST_READ_ONLY, CL_MAP_WRITE, CL_INVALID_OPERATION},
      {CL_MEM_HOST_READ_ONLY, CL_MAP_WRITE_INVALIDATE_REGION, CL_INVALID_OPERATION},
      {CL_MEM_HOST_NO_ACCESS, CL_MAP_READ, CL_INVALID_OPERATION},
      {CL_MEM_HOST_NO_ACCESS, CL_MAP_WRITE, CL_INVALID_OPERATION},
  };
  for (const auto& each : cases)
    EXPECT_EQ(mapCode(makeBuffer(each.access), each.map, 0, 1), each.code) << each.access;
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(MapTest, AFailedBlockingMapLeavesNothing) {
  constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  EXPECT_EQ(failedMapCode(CL_MAP_WRITE), dependent);
  EXPECT_EQ(mapCount(buffer), 0u);
  cl_int code = 1;
  void* pointer = map(buffer, CL_MAP_WRITE, 0, 64, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(failedMapCode(CL_MAP_READ), dependent);
  EXPECT_EQ(mapCount(buffer), 1u);
  EXPECT_EQ(mapCode(buffer, CL_MAP_WRITE, 32, 64), CL_INVALID_OPERATION);
  EXPECT_EQ(unmap(buffer, pointer), CL_SUCCESS);
  EXPECT_EQ(unmap(buffer, pointer), CL_INVALID_VALUE);
  EXPECT_EQ(mapCode(buffer, CL_MAP_WRITE, 32, 64), CL_SUCCESS);
}

TEST_F(MapTest, UnmapRefusesBadArguments) {
  cl_int code = 1;
  void* pointer = map(buffer, CL_MAP_READ, 0, 16, &code);
  OwnedMem second = makeBuffer();
  OwnedQueue other = makeQueue(other_context);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(nullptr, buffer, pointer, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(unmap(nullptr, pointer), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(other, buffer, pointer, 0, nullptr, nullptr),
            CL_INVALID_CONTEXT);
  EXPECT_EQ(unmap(buffer, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(unmap(buffer, host.data()), CL_INVALID_VALUE);
  EXPECT_EQ(unmap(second, pointer), CL_INVALID_VALUE);
  EXPECT_EQ(unmap(buffer, pointer), CL_SUCCESS);
  EXPECT_EQ(unmap(buffer, pointer), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

class MigrateTest : public CommandTest {
 protected:
  cl_int migrate(std::vector<cl_mem> objects, cl_mem_migration_flags flags = 0) {
    return cl.clEnqueueMigrateMemObjects(queue, static_cast<cl_uint>(objects.size()),
                                         objects.data(), flags, 0, nullptr, nullptr);
  }
};

TEST_F(MigrateTest, KeepsContents) {
  write(buffer, counting());
  EXPECT_EQ(migrate({buffer}), CL_SUCCESS);
  EXPECT_EQ(migrate({buffer}, CL_MIGRATE_MEM_OBJECT_HOST), CL_SUCCESS);
  EXPECT_EQ(contents(buffer), counting());
  EXPECT_EQ(migrate({buffer}, CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED),
            CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(MigrateTest, RefusesBadArguments) {
  const cl_mem object = buffer;
  OwnedMem other(cl.clCreateBuffer(other_context, 0, buffer_bytes, nullptr, nullptr));
  EXPECT_EQ(cl.clEnqueueMigrateMemObjects(nullptr, 1, &object, 0, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueMigrateMemObjects(queue, 0, &object, 0, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueMigrateMemObjects(queue, 1, nullptr, 0, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(migrate({buffer, nullptr}), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(migrate({buffer, other}), CL_INVALID_CONTEXT);
  EXPECT_EQ(migrate({buffer}, 1u << 20), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
