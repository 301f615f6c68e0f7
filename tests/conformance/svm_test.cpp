// clSVMAlloc, clSVMFree and the clEnqueueSVM* commands.
#include <cstring>
#include <functional>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

constexpr cl_svm_mem_flags fine = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;

class SvmTest : public CommandTest {
 protected:
  void SetUp() override {
    if (!deviceInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES))
      GTEST_SKIP() << "shared virtual memory is not supported";
    svm = static_cast<unsigned char*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, buffer_bytes, 0));
    ASSERT_NE(svm, nullptr);
    ASSERT_EQ(map(svm, buffer_bytes), CL_SUCCESS);
    std::memcpy(svm, counting().data(), buffer_bytes);
    ASSERT_EQ(unmap(svm), CL_SUCCESS);
  }
  void TearDown() override { cl.clSVMFree(context, svm); }

  cl_int map(void* pointer, size_t size, cl_map_flags flags = CL_MAP_READ | CL_MAP_WRITE) {
    return cl.clEnqueueSVMMap(queue, CL_TRUE, flags, pointer, size, 0, nullptr, nullptr);
  }
  cl_int unmap(void* pointer) { return cl.clEnqueueSVMUnmap(queue, pointer, 0, nullptr, nullptr); }
  cl_int copy(void* to, const void* from, size_t size) {
    return cl.clEnqueueSVMMemcpy(queue, CL_TRUE, to, from, size, 0, nullptr, nullptr);
  }
  cl_int fill(void* pointer, const void* pattern, size_t pattern_size, size_t size) {
    return cl.clEnqueueSVMMemFill(queue, pointer, pattern, pattern_size, size, 0, nullptr, nullptr);
  }
  cl_int migrate(std::vector<const void*> pointers, const size_t* sizes,
                 cl_mem_migration_flags flags = 0) {
    return cl.clEnqueueSVMMigrateMem(queue, static_cast<cl_uint>(pointers.size()), pointers.data(),
                                     sizes, flags, 0, nullptr, nullptr);
  }
  cl_int free(std::vector<void*> pointers) {
    return cl.clEnqueueSVMFree(queue, static_cast<cl_uint>(pointers.size()), pointers.data(),
                               nullptr, nullptr, 0, nullptr, nullptr);
  }
  std::vector<unsigned char> mapped() {
    EXPECT_EQ(map(svm, buffer_bytes, CL_MAP_READ), CL_SUCCESS);
    std::vector<unsigned char> bytes(svm, svm + buffer_bytes);
    EXPECT_EQ(unmap(svm), CL_SUCCESS);
    return bytes;
  }

  unsigned char* svm = nullptr;
};

TEST_F(SvmTest, CapabilitiesAreOrdered) {
  const auto all = deviceInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  EXPECT_TRUE(all & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
  if (all & (CL_DEVICE_SVM_FINE_GRAIN_SYSTEM | CL_DEVICE_SVM_ATOMICS)) {
    EXPECT_TRUE(all & CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
  }
}

TEST_F(SvmTest, AllocatesAligned) {
  for (const cl_uint alignment : {0u, 1u, 2u, 16u, 64u, 128u}) {
    void* pointer = cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 100, alignment);
    ASSERT_NE(pointer, nullptr);
    EXPECT_EQ(reinterpret_cast<size_t>(pointer) % (alignment ? alignment : sizeof(cl_long16)), 0u);
    cl.clSVMFree(context, pointer);
  }
  for (const cl_svm_mem_flags flags : {0, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY}) {
    void* pointer = cl.clSVMAlloc(context, flags, 1, 0);
    EXPECT_NE(pointer, nullptr);
    cl.clSVMFree(context, pointer);
  }
}

TEST_F(SvmTest, AllocatesWhatTheDeviceClaims) {
  const auto all = combinedInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
  void* pointer = cl.clSVMAlloc(context, fine, 64, 0);
  EXPECT_EQ(pointer != nullptr, (all & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0);
  cl.clSVMFree(context, pointer);
  pointer = cl.clSVMAlloc(context, fine | CL_MEM_SVM_ATOMICS, 64, 0);
  EXPECT_EQ(pointer != nullptr, (all & CL_DEVICE_SVM_ATOMICS) != 0);
  cl.clSVMFree(context, pointer);
}

TEST_F(SvmTest, RefusesBadAllocations) {
  const auto limit = deviceInfo<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  EXPECT_EQ(cl.clSVMAlloc(nullptr, CL_MEM_READ_WRITE, 64, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(foreign<cl_context>(cl_command_queue(queue)), 0, 64, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_ATOMICS, 64, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_USE_HOST_PTR, 64, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, limit + 1, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 3), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 256), nullptr);
}

TEST_F(SvmTest, FreeIgnoresWhatIsNone) {
  cl.clSVMFree(context, nullptr);
  cl.clSVMFree(nullptr, svm);
  cl.clSVMFree(other_context, svm);
  cl.clSVMFree(context, svm + 1);
  EXPECT_EQ(mapped(), counting());
}

TEST_F(SvmTest, CopiesInsideAndOut) {
  ASSERT_EQ(copy(host.data(), svm + 100, 200), CL_SUCCESS);
  EXPECT_EQ(std::memcmp(host.data(), counting().data() + 100, 200), 0);
  ASSERT_EQ(copy(svm + 1000, host.data(), 200), CL_SUCCESS);
  ASSERT_EQ(copy(svm + 2000, svm + 1000, 200), CL_SUCCESS);
  ASSERT_EQ(copy(svm + 2000, svm, 0), CL_SUCCESS);
  auto expected = counting();
  std::copy_n(counting().begin() + 100, 200, expected.begin() + 1000);
  std::copy_n(counting().begin() + 100, 200, expected.begin() + 2000);
  EXPECT_EQ(mapped(), expected);
}

TEST_F(SvmTest, RefusesBadCopies) {
  EXPECT_EQ(cl.clEnqueueSVMMemcpy(nullptr, CL_TRUE, svm, host.data(), 1, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(copy(nullptr, svm, 16), CL_INVALID_VALUE);
  EXPECT_EQ(copy(svm, nullptr, 16), CL_INVALID_VALUE);
  EXPECT_EQ(copy(svm + 15, svm, 16), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(svm, svm + 15, 16), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(svm, svm, 1), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(svm + buffer_bytes - 8, host.data(), 16), CL_INVALID_VALUE);
  EXPECT_EQ(copy(host.data(), svm + buffer_bytes - 8, 16), CL_INVALID_VALUE);
  EXPECT_EQ(mapped(), counting());
}

TEST_F(SvmTest, Fills) {
  auto expected = counting();
  size_t offset = 0;
  for (const size_t pattern : {1, 2, 4, 8, 16, 32, 64, 128}) {
    ASSERT_EQ(fill(svm + offset, host.data(), pattern, 2 * pattern), CL_SUCCESS);
    std::fill_n(expected.begin() + offset, 2 * pattern, 0);
    offset += 256;
  }
  ASSERT_EQ(fill(svm, host.data(), 1, 0), CL_SUCCESS);
  EXPECT_EQ(mapped(), expected);
}

TEST_F(SvmTest, RefusesBadFills) {
  EXPECT_EQ(cl.clEnqueueSVMMemFill(nullptr, svm, host.data(), 1, 1, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(fill(nullptr, host.data(), 1, 1), CL_INVALID_VALUE);
  EXPECT_EQ(fill(svm, nullptr, 1, 1), CL_INVALID_VALUE);
  for (const size_t pattern : {0, 3, 256})
    EXPECT_EQ(fill(svm, host.data(), pattern, 768), CL_INVALID_VALUE);
  EXPECT_EQ(fill(svm + 2, host.data(), 4, 4), CL_INVALID_VALUE);
  EXPECT_EQ(fill(svm, host.data(), 4, 6), CL_INVALID_VALUE);
  EXPECT_EQ(fill(svm + buffer_bytes - 4, host.data(), 4, 8), CL_INVALID_VALUE);
  EXPECT_EQ(mapped(), counting());
}

TEST_F(SvmTest, RefusesBadMaps) {
  EXPECT_EQ(cl.clEnqueueSVMMap(nullptr, CL_TRUE, CL_MAP_READ, svm, 1, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(map(nullptr, 1), CL_INVALID_VALUE);
  EXPECT_EQ(map(svm, 0), CL_INVALID_VALUE);
  EXPECT_EQ(map(svm + 1, buffer_bytes), CL_INVALID_VALUE);
  EXPECT_EQ(map(svm, 1, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION), CL_INVALID_VALUE);
  EXPECT_EQ(map(svm, 1, 1u << 20), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueSVMUnmap(nullptr, svm, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(unmap(nullptr), CL_INVALID_VALUE);
}

TEST_F(SvmTest, Migrates) {
  const size_t sizes[] = {0, 16};
  EXPECT_EQ(migrate({svm, svm + 100}, sizes), CL_SUCCESS);
  EXPECT_EQ(migrate({svm + 100}, nullptr, CL_MIGRATE_MEM_OBJECT_HOST), CL_SUCCESS);
  EXPECT_EQ(mapped(), counting());
  EXPECT_EQ(migrate({svm}, nullptr, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(SvmTest, RefusesBadMigrations) {
  const void* list[] = {svm};
  const size_t beyond = buffer_bytes + 1;
  EXPECT_EQ(cl.clEnqueueSVMMigrateMem(nullptr, 1, list, nullptr, 0, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueSVMMigrateMem(queue, 0, list, nullptr, 0, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueSVMMigrateMem(queue, 1, nullptr, nullptr, 0, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(migrate({svm}, &beyond), CL_INVALID_VALUE);
  EXPECT_EQ(migrate({nullptr}, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(migrate({host.data()}, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(migrate({svm}, nullptr, 1u << 20), CL_INVALID_VALUE);
}

TEST_F(SvmTest, CommandTypes) {
  const void* list[] = {svm};
  const std::pair<cl_command_type, std::function<cl_int(cl_event*)>> commands[] = {
      {CL_COMMAND_SVM_MEMCPY,
       [&](auto e) {
         return cl.clEnqueueSVMMemcpy(queue, CL_FALSE, svm, host.data(), 1, 0, nullptr, e);
       }},
      {CL_COMMAND_SVM_MEMFILL,
       [&](auto e) {
         return cl.clEnqueueSVMMemFill(queue, svm, host.data(), 1, 1, 0, nullptr, e);
       }},
      {CL_COMMAND_SVM_MAP,
       [&](auto e) {
         return cl.clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ, svm, 1, 0, nullptr, e);
       }},
      {CL_COMMAND_SVM_UNMAP,
       [&](auto e) { return cl.clEnqueueSVMUnmap(queue, svm, 0, nullptr, e); }},
      {CL_COMMAND_SVM_MIGRATE_MEM,
       [&](auto e) {
         return cl.clEnqueueSVMMigrateMem(queue, 1, list, nullptr, 0, 0, nullptr, e);
       }},
      {CL_COMMAND_SVM_FREE,
       [&](auto e) {
         return cl.clEnqueueSVMFree(queue, 0, nullptr, nullptr, nullptr, 0, nullptr, e);
       }},
  };
  for (const auto& [type, command] : commands) {
    OwnedEvent event;
    ASSERT_EQ(command(event.out()), CL_SUCCESS) << type;
    EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_TYPE),
              type);
  }
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(SvmTest, WaitLists) {
  OwnedEvent gate = makeUserEvent();
  OwnedEvent elsewhere(cl.clCreateUserEvent(other_context, nullptr));
  const cl_event mine = gate, other = elsewhere, null = nullptr;
  const std::function<cl_int(cl_uint, const cl_event*)> commands[] = {
      [&](auto n, auto w) {
        return cl.clEnqueueSVMMemcpy(queue, CL_FALSE, svm, host.data(), 1, n, w, nullptr);
      },
      [&](auto n, auto w) {
        return cl.clEnqueueSVMMemFill(queue, svm, host.data(), 1, 1, n, w, nullptr);
      },
      [&](auto n, auto w) {
        return cl.clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ, svm, 1, n, w, nullptr);
      },
      [&](auto n, auto w) { return cl.clEnqueueSVMUnmap(queue, svm, n, w, nullptr); },
      [&](auto n, auto w) {
        const void* list[] = {svm};
        return cl.clEnqueueSVMMigrateMem(queue, 1, list, nullptr, 0, n, w, nullptr);
      },
      [&](auto n, auto w) {
        return cl.clEnqueueSVMFree(queue, 0, nullptr, nullptr, nullptr, n, w, nullptr);
      },
  };
  for (const auto& command : commands) {
    EXPECT_EQ(command(1, nullptr), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(command(0, &mine), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(command(1, &null), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(command(1, &other), CL_INVALID_CONTEXT);
    EXPECT_EQ(command(1, &mine), CL_SUCCESS);
  }
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -5), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(mapped(), counting());
  EXPECT_EQ(cl.clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, svm, 1, 1, &mine, nullptr),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(cl.clEnqueueSVMMemcpy(queue, CL_TRUE, svm, host.data(), 1, 1, &mine, nullptr),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(SvmTest, EnqueuedFreeTakesItsTurn) {
  void* extra = cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
  const void* list[] = {extra};
  const auto exists = [&] {
    return cl.clEnqueueSVMMigrateMem(queue, 1, list, nullptr, 0, 0, nullptr, nullptr) == CL_SUCCESS;
  };
  OwnedEvent gate = makeUserEvent();
  const cl_event wait = gate;
  ASSERT_EQ(cl.clEnqueueSVMFree(queue, 1, &extra, nullptr, nullptr, 1, &wait, nullptr), CL_SUCCESS);
  EXPECT_TRUE(exists());
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_FALSE(exists());
}

TEST_F(SvmTest, EnqueuedFreeCallsBack) {
  struct Call {
    cl_command_queue queue = nullptr;
    std::vector<void*> pointers;
  } seen;
  int outside = 0;  // with a callback the pointers are the application's business
  void* pointers[] = {svm, &outside};
  ASSERT_EQ(cl.clEnqueueSVMFree(
                queue, 2, pointers,
                [](cl_command_queue q, cl_uint count, void* list[], void* user) {
                  auto& call = *static_cast<Call*>(user);
                  call.queue = q;
                  call.pointers.assign(list, list + count);
                },
                &seen, 0, nullptr, nullptr),
            CL_SUCCESS);
  pointers[0] = pointers[1] = nullptr;
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(seen.queue, cl_command_queue(queue));
  EXPECT_EQ(seen.pointers, (std::vector<void*>{svm, &outside}));
  EXPECT_EQ(mapped(), counting());
}

TEST_F(SvmTest, RefusesBadFrees) {
  void* pointers[] = {svm};
  EXPECT_EQ(cl.clEnqueueSVMFree(nullptr, 1, pointers, nullptr, nullptr, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clEnqueueSVMFree(queue, 0, pointers, nullptr, nullptr, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueSVMFree(queue, 1, nullptr, nullptr, nullptr, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
}

// Freeing does not wait, but what was enqueued with the memory still finds it.
TEST_F(SvmTest, CommandsKeepTheirMemory) {
  constexpr size_t bytes = size_t(4) << 20;
  void* extra = cl.clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
  std::vector<unsigned char> result(bytes);
  const unsigned char value = 7;
  OwnedEvent gate = makeUserEvent();
  const cl_event wait = gate;
  ASSERT_EQ(cl.clEnqueueSVMMemFill(queue, extra, &value, 1, bytes, 1, &wait, nullptr), CL_SUCCESS);
  ASSERT_EQ(
      cl.clEnqueueSVMMemcpy(queue, CL_FALSE, result.data(), extra, bytes, 0, nullptr, nullptr),
      CL_SUCCESS);
  cl.clSVMFree(context, extra);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_EQ(result, std::vector<unsigned char>(bytes, value));
}

TEST_F(SvmTest, BuffersOnSvmAreTheSvm) {
  OwnedMem whole = makeBuffer(CL_MEM_USE_HOST_PTR, buffer_bytes, svm);
  OwnedMem part = makeBuffer(CL_MEM_USE_HOST_PTR, 64, svm + 256);
  OwnedMem sub = makeSubBuffer(whole, 256, 64);  // aligned for every device
  for (const cl_mem m : {cl_mem(whole), cl_mem(part), cl_mem(sub)})
    EXPECT_TRUE(info<cl_bool>(cl.clGetMemObjectInfo, m, CL_MEM_USES_SVM_POINTER));
  EXPECT_EQ(info<void*>(cl.clGetMemObjectInfo, cl_mem(part), CL_MEM_HOST_PTR), svm + 256);
  EXPECT_EQ(contents(whole), counting());
  const cl_int value = 0x01010101;
  ASSERT_EQ(cl.clEnqueueFillBuffer(queue, part, &value, 4, 0, 64, 0, nullptr, nullptr), CL_SUCCESS);
  auto expected = counting();
  std::fill_n(expected.begin() + 256, 64, 1);
  EXPECT_EQ(mapped(), expected);
  EXPECT_EQ(contents(whole), expected);
}

TEST_F(SvmTest, BuffersStayInsideTheAllocation) {
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateBuffer(context, CL_MEM_USE_HOST_PTR, buffer_bytes + 1, svm, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
  EXPECT_EQ(cl.clCreateBuffer(context, CL_MEM_USE_HOST_PTR, buffer_bytes, svm + 1, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_BUFFER_SIZE);
  OwnedMem copied = makeBuffer(CL_MEM_COPY_HOST_PTR, buffer_bytes, svm);
  EXPECT_FALSE(info<cl_bool>(cl.clGetMemObjectInfo, cl_mem(copied), CL_MEM_USES_SVM_POINTER));
}

TEST_F(SvmTest, ImagesStayInsideTheAllocation) {
  if (!deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 32;
  const auto codeOf = [&](void* host_ptr, size_t row_pitch, cl_mem_flags flags) {
    desc.image_row_pitch = row_pitch;
    cl_int code = 1;
    const OwnedMem made(cl.clCreateImage(context, flags, &format, &desc, host_ptr, &code));
    return code;
  };
  EXPECT_EQ(codeOf(svm, 0, CL_MEM_USE_HOST_PTR), CL_SUCCESS);
  EXPECT_EQ(codeOf(svm + 4, 0, CL_MEM_USE_HOST_PTR), CL_INVALID_IMAGE_SIZE);
  EXPECT_EQ(codeOf(svm, 132, CL_MEM_USE_HOST_PTR), CL_INVALID_IMAGE_SIZE);
  EXPECT_EQ(codeOf(svm, 0, CL_MEM_COPY_HOST_PTR), CL_SUCCESS);
}

// What the application does not free goes with the context.
TEST_F(SvmTest, ContextsTakeTheirAllocationsAlong) {
  OwnedContext short_lived = makeContext();
  EXPECT_NE(cl.clSVMAlloc(short_lived, CL_MEM_READ_WRITE, size_t(64) << 20, 0), nullptr);
}

}  // namespace
}  // namespace weft::conformance
