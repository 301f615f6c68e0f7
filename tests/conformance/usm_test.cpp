// cl_intel_unified_shared_memory: each function with its error codes.
#include "tests/conformance/usm.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

constexpr cl_bitfield access = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL,
                      atomic = CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL,
                      concurrent = CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL,
                      full = access | atomic | concurrent |
                             CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;

bool listsUsm(cl_device_id device) {
  size_t size = 0;
  cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &size);
  std::string text(size, ' ');
  cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, text.data(), nullptr);
  return text.find("cl_intel_unified_shared_memory") != std::string::npos;
}

class UsmTest : public CommandTest {
 protected:
  void SetUp() override {
    if (!listsUsm(testDevice())) GTEST_SKIP() << "no unified shared memory";
    usm = static_cast<unsigned char*>(
        f.sharedAlloc(context, testDevice(), nullptr, buffer_bytes, 0, nullptr));
    ASSERT_NE(usm, nullptr);
    std::memcpy(usm, counting().data(), buffer_bytes);
  }
  void TearDown() override { EXPECT_EQ(f.free(context, usm), CL_SUCCESS); }

  // The code of an allocation that fails; frees one that does not.
  template <class Allocate>
  cl_int failure(const Allocate& allocate) {
    cl_int code = 1;
    void* pointer = allocate(&code);
    EXPECT_EQ(pointer, nullptr);
    if (pointer) f.free(context, pointer);
    return code;
  }
  using Properties = const cl_mem_properties_intel*;
  using Allocator = std::function<void*(cl_context, Properties, size_t, cl_uint, cl_int*)>;
  std::vector<Allocator> allocators() const {
    return {[&](auto... a) { return f.hostAlloc(a...); },
            [&](auto c, auto... a) { return f.deviceAlloc(c, testDevice(), a...); },
            [&](auto c, auto... a) { return f.sharedAlloc(c, testDevice(), a...); },
            [&](auto c, auto... a) { return f.sharedAlloc(c, nullptr, a...); }};
  }
  template <class T>
  T about(const void* pointer, cl_mem_info_intel name) const {
    return info<T>(f.allocInfo, cl_context(context), pointer, name);
  }
  cl_int copy(void* to, const void* from, size_t size) const {
    return f.copy(queue, CL_TRUE, to, from, size, 0, nullptr, nullptr);
  }
  cl_int fill(void* to, const void* pattern, size_t pattern_size, size_t size) const {
    return f.fill(queue, to, pattern, pattern_size, size, 0, nullptr, nullptr);
  }
  std::vector<unsigned char> contents() const {
    EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
    return {usm, usm + buffer_bytes};
  }

  const UsmFunctions f;
  unsigned char* usm = nullptr;
};

// A device has the extension if it has host, device and shared allocations: with all that can be
// done with memory of the system, or with memory of its own that the host does not see.
TEST(UsmDevices, ClaimAllOrNothing) {
  cl_uint count = 0;
  ASSERT_EQ(cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count), CL_SUCCESS);
  std::vector<cl_device_id> devices(count);
  cl.clGetDeviceIDs(testPlatform(), CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  using Claims = std::vector<cl_bitfield>;
  for (const cl_device_id device : devices) {
    Claims claims;
    for (const cl_device_info query : usm_queries)
      claims.push_back(info<cl_bitfield>(cl.clGetDeviceInfo, device, query));
    const cl_bitfield both = access | concurrent;
    const bool uses_system = claims.back() != 0;
    const bool hides = claims[1] == (access | atomic);
    EXPECT_EQ(claims, !listsUsm(device) ? Claims(5, 0)
                      : uses_system     ? Claims(5, full)
                      : hides           ? Claims({both, access | atomic, both, both, 0})
                                        : Claims({both, both, both, both, 0}));
  }
}

TEST_F(UsmTest, AllocatesAligned) {
  for (const Allocator& allocate : allocators())
    for (const cl_uint alignment : {0u, 1u, 2u, 64u, 128u}) {
      cl_int code = 1;
      void* pointer = allocate(context, nullptr, 100, alignment, &code);
      ASSERT_NE(pointer, nullptr);
      EXPECT_EQ(code, CL_SUCCESS);
      EXPECT_EQ(reinterpret_cast<size_t>(pointer) % (alignment ? alignment : sizeof(cl_long16)),
                0u);
      EXPECT_EQ(f.free(context, pointer), CL_SUCCESS);
    }
}

TEST_F(UsmTest, RefusesBadAllocations) {
  const auto limit = deviceInfo<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  const cl_mem_properties_intel unknown[] = {CL_MEM_FLAGS, CL_MEM_READ_WRITE, 0};
  const cl_mem_properties_intel bad_flags[] = {CL_MEM_ALLOC_FLAGS_INTEL, 1 << 20, 0};
  const cl_mem_properties_intel twice[] = {CL_MEM_ALLOC_FLAGS_INTEL, 0, CL_MEM_ALLOC_FLAGS_INTEL, 0,
                                           0};
  for (const Allocator& allocate : allocators()) {
    const auto code = [&](cl_context c, Properties p, size_t size, cl_uint alignment) {
      return failure([&](cl_int* out) { return allocate(c, p, size, alignment, out); });
    };
    EXPECT_EQ(code(nullptr, nullptr, 64, 0), CL_INVALID_CONTEXT);
    EXPECT_EQ(code(foreign<cl_context>(cl_command_queue(queue)), nullptr, 64, 0),
              CL_INVALID_CONTEXT);
    EXPECT_EQ(code(context, nullptr, 64, 3), CL_INVALID_VALUE);
    EXPECT_EQ(code(context, nullptr, 64, 256), CL_INVALID_VALUE);
    EXPECT_EQ(code(context, unknown, 64, 0), CL_INVALID_PROPERTY);
    EXPECT_EQ(code(context, bad_flags, 64, 0), CL_INVALID_PROPERTY);
    EXPECT_EQ(code(context, twice, 64, 0), CL_INVALID_PROPERTY);
    EXPECT_EQ(code(context, nullptr, 0, 0), CL_INVALID_BUFFER_SIZE);
    EXPECT_EQ(code(context, nullptr, limit + 1, 0), CL_INVALID_BUFFER_SIZE);
  }
  const auto no_device = foreign<cl_device_id>(cl_command_queue(queue));
  EXPECT_EQ(failure([&](auto e) { return f.deviceAlloc(context, nullptr, nullptr, 64, 0, e); }),
            CL_INVALID_DEVICE);
  EXPECT_EQ(failure([&](auto e) { return f.deviceAlloc(context, no_device, nullptr, 64, 0, e); }),
            CL_INVALID_DEVICE);
  EXPECT_EQ(failure([&](auto e) { return f.sharedAlloc(context, no_device, nullptr, 64, 0, e); }),
            CL_INVALID_DEVICE);
}

// Where memory is to be at first is a matter of shared allocations only, and of one place.
TEST_F(UsmTest, Flags) {
  const auto all = allocators();
  for (const cl_bitfield flags :
       {CL_MEM_ALLOC_WRITE_COMBINED_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL,
        CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
        CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL}) {
    const cl_mem_properties_intel list[] = {CL_MEM_ALLOC_FLAGS_INTEL, flags, 0};
    for (size_t i = 0; i < all.size(); ++i) {
      const bool both = flags == 6;
      const bool fits = flags == CL_MEM_ALLOC_WRITE_COMBINED_INTEL || (i >= 2 && !both);
      cl_int code = 1;
      void* pointer = all[i](context, list, 64, 0, &code);
      EXPECT_EQ(code, fits ? CL_SUCCESS : CL_INVALID_PROPERTY) << flags << " " << i;
      if (!pointer) continue;
      EXPECT_EQ(about<cl_mem_alloc_flags_intel>(pointer, CL_MEM_ALLOC_FLAGS_INTEL), flags);
      EXPECT_EQ(f.free(context, pointer), CL_SUCCESS);
    }
  }
}

TEST_F(UsmTest, TellsWhatItAllocated) {
  const cl_unified_shared_memory_type_intel types[] = {
      CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_SHARED_INTEL,
      CL_MEM_TYPE_SHARED_INTEL};
  const auto all = allocators();
  for (size_t i = 0; i < all.size(); ++i) {
    auto* begin = static_cast<char*>(all[i](context, nullptr, 100, 0, nullptr));
    ASSERT_NE(begin, nullptr);
    for (const size_t offset : {0, 99}) {
      const void* inside = begin + offset;
      EXPECT_EQ(about<cl_unified_shared_memory_type_intel>(inside, CL_MEM_ALLOC_TYPE_INTEL),
                types[i]);
      EXPECT_EQ(about<void*>(inside, CL_MEM_ALLOC_BASE_PTR_INTEL), begin);
      EXPECT_EQ(about<size_t>(inside, CL_MEM_ALLOC_SIZE_INTEL), 100u);
      EXPECT_EQ(about<cl_device_id>(inside, CL_MEM_ALLOC_DEVICE_INTEL),
                i == 1 || i == 2 ? testDevice() : nullptr);
      EXPECT_EQ(about<cl_mem_alloc_flags_intel>(inside, CL_MEM_ALLOC_FLAGS_INTEL), 0u);
    }
    EXPECT_EQ(f.free(context, begin), CL_SUCCESS);
  }
}

TEST_F(UsmTest, TellsWhatIsNone) {
  void* svm = cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
  ASSERT_NE(svm, nullptr);
  for (const void* none : {static_cast<const void*>(nullptr), static_cast<const void*>(host.data()),
                           static_cast<const void*>(svm)}) {
    EXPECT_EQ(about<cl_unified_shared_memory_type_intel>(none, CL_MEM_ALLOC_TYPE_INTEL),
              cl_uint{CL_MEM_TYPE_UNKNOWN_INTEL});
    EXPECT_EQ(about<void*>(none, CL_MEM_ALLOC_BASE_PTR_INTEL), nullptr);
    EXPECT_EQ(about<size_t>(none, CL_MEM_ALLOC_SIZE_INTEL), 0u);
    EXPECT_EQ(about<cl_device_id>(none, CL_MEM_ALLOC_DEVICE_INTEL), nullptr);
    EXPECT_EQ(about<cl_mem_alloc_flags_intel>(none, CL_MEM_ALLOC_FLAGS_INTEL), 0u);
  }
  cl.clSVMFree(context, svm);
  cl_uint small = 0;
  size_t size = 0;
  EXPECT_EQ(f.allocInfo(nullptr, usm, CL_MEM_ALLOC_TYPE_INTEL, sizeof small, &small, nullptr),
            CL_INVALID_CONTEXT);
  EXPECT_EQ(f.allocInfo(context, usm, CL_MEM_TYPE, sizeof small, &small, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(f.allocInfo(context, usm, CL_MEM_ALLOC_SIZE_INTEL, 4, &small, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(f.allocInfo(context, usm, CL_MEM_ALLOC_SIZE_INTEL, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, sizeof(size_t));
}

TEST_F(UsmTest, RefusesBadFrees) {
  void* svm = cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
  for (const auto free : {f.free, f.blockingFree}) {
    EXPECT_EQ(free(nullptr, usm), CL_INVALID_CONTEXT);
    EXPECT_EQ(free(context, nullptr), CL_SUCCESS);
    EXPECT_EQ(free(context, usm + 1), CL_INVALID_VALUE);
    EXPECT_EQ(free(context, host.data()), CL_INVALID_VALUE);
    EXPECT_EQ(free(context, svm), CL_INVALID_VALUE);
    EXPECT_EQ(free(other_context, usm), CL_INVALID_VALUE);
  }
  cl.clSVMFree(context, usm);  // is none of its own
  EXPECT_EQ(contents(), counting());
  cl.clSVMFree(context, svm);
}

TEST_F(UsmTest, BlockingFreeWaits) {
  OwnedEvent gate = makeUserEvent(), filled;
  const cl_event wait = gate;
  const unsigned char seven = 7;
  ASSERT_EQ(f.fill(queue, usm, &seven, 1, buffer_bytes, 1, &wait, filled.out()), CL_SUCCESS);
  std::atomic<bool> freed{false};
  std::thread other([&] {
    EXPECT_EQ(f.blockingFree(context, usm), CL_SUCCESS);
    freed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(freed);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  other.join();
  EXPECT_EQ(info<cl_int>(cl.clGetEventInfo, cl_event(filled), CL_EVENT_COMMAND_EXECUTION_STATUS),
            CL_COMPLETE);
  EXPECT_EQ(about<void*>(usm, CL_MEM_ALLOC_BASE_PTR_INTEL), nullptr);
  usm = nullptr;
}

TEST_F(UsmTest, CopiesInsideAndOut) {
  ASSERT_EQ(copy(host.data(), usm + 100, 200), CL_SUCCESS);
  EXPECT_EQ(std::memcmp(host.data(), counting().data() + 100, 200), 0);
  ASSERT_EQ(copy(usm + 1000, host.data(), 200), CL_SUCCESS);
  ASSERT_EQ(copy(usm, usm + 2000, 0), CL_SUCCESS);
  auto expected = counting();
  std::copy_n(counting().begin() + 100, 200, expected.begin() + 1000);
  EXPECT_EQ(contents(), expected);
}

TEST_F(UsmTest, RefusesBadCopies) {
  EXPECT_EQ(f.copy(nullptr, CL_TRUE, usm, host.data(), 1, 0, nullptr, nullptr),
            CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(copy(nullptr, usm, 16), CL_INVALID_VALUE);
  EXPECT_EQ(copy(usm, nullptr, 16), CL_INVALID_VALUE);
  EXPECT_EQ(copy(usm + 15, usm, 16), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy(usm + buffer_bytes - 8, host.data(), 16), CL_INVALID_VALUE);
  EXPECT_EQ(contents(), counting());
}

TEST_F(UsmTest, Fills) {
  auto expected = counting();
  size_t offset = 0;
  for (const size_t pattern : {1, 2, 4, 8, 16, 32, 64, 128}) {
    ASSERT_EQ(fill(usm + offset, host.data(), pattern, 2 * pattern), CL_SUCCESS);
    std::fill_n(expected.begin() + offset, 2 * pattern, 0);
    offset += 256;
  }
  ASSERT_EQ(f.set(queue, usm + 3000, 0x1234, 5, 0, nullptr, nullptr), CL_SUCCESS);
  std::fill_n(expected.begin() + 3000, 5, 0x34);
  EXPECT_EQ(contents(), expected);
}

TEST_F(UsmTest, RefusesBadFills) {
  EXPECT_EQ(f.fill(nullptr, usm, host.data(), 1, 1, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(fill(nullptr, host.data(), 1, 1), CL_INVALID_VALUE);
  EXPECT_EQ(fill(usm, nullptr, 1, 1), CL_INVALID_VALUE);
  for (const size_t pattern : {0, 3, 256})
    EXPECT_EQ(fill(usm, host.data(), pattern, 768), CL_INVALID_VALUE);
  EXPECT_EQ(fill(usm + 2, host.data(), 4, 4), CL_INVALID_VALUE);
  EXPECT_EQ(fill(usm, host.data(), 4, 6), CL_INVALID_VALUE);
  EXPECT_EQ(fill(usm + buffer_bytes - 4, host.data(), 4, 8), CL_INVALID_VALUE);
  EXPECT_EQ(f.set(nullptr, usm, 1, 1, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(f.set(queue, nullptr, 1, 1, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(contents(), counting());
}

TEST_F(UsmTest, HintsKeepTheContents) {
  for (const cl_mem_migration_flags flags : {0, CL_MIGRATE_MEM_OBJECT_HOST})
    for (const size_t size : {size_t{16}, size_t{buffer_bytes}})
      EXPECT_EQ(f.migrate(queue, usm, size, flags, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(f.advise(queue, usm, buffer_bytes, 0, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(contents(), counting());
  EXPECT_EQ(f.migrate(nullptr, usm, 16, 0, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(f.migrate(queue, nullptr, 16, 0, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(f.migrate(queue, usm, buffer_bytes + 1, 0, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(f.migrate(queue, usm, 16, 1 << 20, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(f.advise(nullptr, usm, 16, 0, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(f.advise(queue, nullptr, 16, 0, 0, nullptr, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(f.advise(queue, usm, 16, 0x4208, 0, nullptr, nullptr), CL_INVALID_VALUE);
}

TEST_F(UsmTest, CommandTypesAndWaitLists) {
  using Command = std::function<cl_int(cl_uint, const cl_event*, cl_event*)>;
  const std::pair<cl_command_type, Command> commands[] = {
      {CL_COMMAND_MEMCPY_INTEL,
       [&](auto... w) { return f.copy(queue, CL_FALSE, usm, host.data(), 1, w...); }},
      {CL_COMMAND_MEMFILL_INTEL,
       [&](auto... w) { return f.fill(queue, usm, host.data(), 1, 1, w...); }},
      {CL_COMMAND_MEMFILL_INTEL, [&](auto... w) { return f.set(queue, usm, 0, 1, w...); }},
      {CL_COMMAND_MIGRATEMEM_INTEL, [&](auto... w) { return f.migrate(queue, usm, 1, 0, w...); }},
      {CL_COMMAND_MEMADVISE_INTEL, [&](auto... w) { return f.advise(queue, usm, 1, 0, w...); }},
  };
  OwnedEvent gate = makeUserEvent();
  OwnedEvent elsewhere(cl.clCreateUserEvent(other_context, nullptr));
  const cl_event mine = gate, other = elsewhere, null = nullptr;
  for (const auto& [type, command] : commands) {
    OwnedEvent event;
    EXPECT_EQ(command(1, nullptr, nullptr), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(command(0, &mine, nullptr), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(command(1, &null, nullptr), CL_INVALID_EVENT_WAIT_LIST);
    EXPECT_EQ(command(1, &other, nullptr), CL_INVALID_CONTEXT);
    ASSERT_EQ(command(1, &mine, event.out()), CL_SUCCESS);
    EXPECT_EQ(info<cl_command_type>(cl.clGetEventInfo, cl_event(event), CL_EVENT_COMMAND_TYPE),
              type);
  }
  ASSERT_EQ(cl.clSetUserEventStatus(gate, -5), CL_SUCCESS);
  EXPECT_EQ(contents(), counting());
  EXPECT_EQ(f.copy(queue, CL_TRUE, usm, host.data(), 1, 1, &mine, nullptr),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace
}  // namespace weft::conformance
