// Unified shared memory: what kernels, commands and the host find behind one pointer.
#include <atomic>
#include <numeric>

#include "tests/conformance/usm.h"
#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

constexpr char source[] = R"(
  typedef struct node { global struct node* next; int value; } node;
  kernel void sum(global node* list, global int* result) {
    *result = 0;
    for (global node* n = list; n; n = n->next) *result += n->value;
  }
  kernel void difference(global int* begin, global int* end, global int* result) {
    *result = end - begin;
  }
  kernel void twice(global int* data) { data[get_global_id(0)] *= 2; }
#ifdef __opencl_c_atomic_scope_all_devices
  kernel void add(global atomic_int* counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_all_svm_devices);
  }
#endif
)";

struct Node {
  Node* next;
  cl_int value;
};

class Usm : public SeveralDevices {
 protected:
  void SetUp() override {
    useDevices();
    for (size_t i = 0; i < devices.size(); ++i)
      if (info<cl_bitfield>(cl.clGetDeviceInfo, devices[i],
                            CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL))
        able.push_back(i);
    if (able.empty()) GTEST_SKIP() << "no unified shared memory";
    program = built(source, "-cl-std=CL3.0");
  }
  void TearDown() override {
    for (void* pointer : allocations) EXPECT_EQ(f.blockingFree(context, pointer), CL_SUCCESS);
    SeveralDevices::TearDown();
  }

  template <class T>
  T* keep(void* pointer) {
    EXPECT_NE(pointer, nullptr);
    allocations.push_back(pointer);
    return static_cast<T*>(pointer);
  }
  template <class T>
  T* onHost(size_t count) {
    return keep<T>(f.hostAlloc(context, nullptr, count * sizeof(T), 0, nullptr));
  }
  template <class T>
  T* shared(size_t count) {
    return keep<T>(f.sharedAlloc(context, nullptr, nullptr, count * sizeof(T), 0, nullptr));
  }
  template <class T>
  T* onDevice(size_t device, size_t count) {
    return keep<T>(f.deviceAlloc(context, devices[device], nullptr, count * sizeof(T), 0, nullptr));
  }
  cl_bitfield capabilities(size_t device, cl_device_info sort) const {
    return info<cl_bitfield>(cl.clGetDeviceInfo, devices[device], sort);
  }
  // Is what it allocates as its own out of the host's reach?
  bool hides(size_t device) const {
    return !(capabilities(device, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL) &
             CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL);
  }
  void launch(cl_command_queue on, cl_kernel kernel, size_t global) const {
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
  }
  cl_int copy(size_t device, void* to, const void* from, size_t bytes) const {
    return f.copy(queues[device], CL_TRUE, to, from, bytes, 0, nullptr, nullptr);
  }

  const conformance::UsmFunctions f;
  std::vector<size_t> able;  // devices with such memory
  std::vector<void*> allocations;
  OwnedProgram program;
};

// Memory of each sort, reached through pointers in memory that no argument names.
TEST_F(Usm, KernelsFollowPointers) {
  for (const size_t device : able) {
    Node* nodes[] = {onHost<Node>(1), shared<Node>(1), onDevice<Node>(device, 1)};
    for (size_t i = 0; i < 3; ++i) {
      const Node made{i + 1 < 3 ? nodes[i + 1] : nullptr, cl_int(i + 1)};
      ASSERT_EQ(copy(device, nodes[i], &made, sizeof made), CL_SUCCESS);
    }
    auto* result = shared<cl_int>(1);
    const OwnedKernel sum = kernel(program, "sum");
    ASSERT_EQ(f.setArgument(sum, 0, nodes[0]), CL_SUCCESS);
    ASSERT_EQ(f.setArgument(sum, 1, result), CL_SUCCESS);
    launch(queues[device], sum, 1);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    EXPECT_EQ(*result, 6);
  }
}

// No map, no unmap: the host sees what a kernel wrote once that has ended.
TEST_F(Usm, HostAndDevicesTakeTurns) {
  constexpr size_t count = 1000;
  auto* data = shared<cl_int>(count);
  std::iota(data, data + count, 1);
  const OwnedKernel twice = kernel(program, "twice");
  ASSERT_EQ(f.setArgument(twice, 0, data), CL_SUCCESS);
  cl_int factor = 1;
  for (const size_t device : able) {
    launch(queues[device], twice, count);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    factor *= 2;
    ASSERT_EQ(data[7], 8 * factor);
    data[7] += 8;
    data[7] -= 8;
  }
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], cl_int(i + 1) * factor);
}

TEST_F(Usm, ArgumentsIntoTheMiddleAndOfTheSystem) {
  const OwnedKernel twice = kernel(program, "twice");
  for (const size_t device : able) {
    std::vector<cl_int> system(64, 5);
    std::vector<cl_int*> all{onHost<cl_int>(64), shared<cl_int>(64)};
    if (capabilities(device, CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL))
      all.push_back(system.data());
    for (cl_int* values : all) {
      std::fill_n(values, 64, 5);
      ASSERT_EQ(f.setArgument(twice, 0, values + 16), CL_SUCCESS);
      launch(queues[device], twice, 32);
      ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
      for (int i = 0; i < 64; ++i) ASSERT_EQ(values[i], i >= 16 && i < 48 ? 10 : 5) << i;
    }
  }
}

TEST_F(Usm, AtomicsOfHostAndDevicesAddUp) {
  std::erase_if(able, [&](size_t device) {
    return !(capabilities(device, CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL) &
             CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL);
  });
  if (able.empty()) GTEST_SKIP() << "no atomics that the host sees";
  constexpr cl_int each = 10000;
  auto* counter = shared<std::atomic<cl_int>>(1);
  counter->store(0);
  const OwnedKernel add = kernel(program, "add");
  ASSERT_EQ(f.setArgument(add, 0, counter), CL_SUCCESS);
  for (const size_t device : able) {
    launch(queues[device], add, each);
    ASSERT_EQ(cl.clFlush(queues[device]), CL_SUCCESS);
  }
  for (cl_int i = 0; i < each; ++i) counter->fetch_add(1, std::memory_order_relaxed);
  for (const size_t device : able) ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
  EXPECT_EQ(counter->load(), each * cl_int(able.size() + 1));
}

// "For all devices, any pointer value is valid": what a kernel does not follow need not be memory
// of its device, nor that of anybody still.
TEST_F(Usm, ArgumentsThatAreOnlyNumbers) {
  const OwnedKernel difference = kernel(program, "difference");
  for (const size_t device : able) {
    auto* result = shared<cl_int>(1);
    auto* freed = static_cast<cl_int*>(f.hostAlloc(context, nullptr, 4096, 0, nullptr));
    ASSERT_EQ(f.setArgument(difference, 0, freed), CL_SUCCESS);
    ASSERT_EQ(f.free(context, freed), CL_SUCCESS);
    for (cl_int* begin : {freed, reinterpret_cast<cl_int*>(64), onDevice<cl_int>(device, 1024)}) {
      ASSERT_EQ(f.setArgument(difference, 0, begin), CL_SUCCESS);
      ASSERT_EQ(f.setArgument(difference, 1, begin + 1024), CL_SUCCESS);
      ASSERT_EQ(f.setArgument(difference, 2, result), CL_SUCCESS);
      launch(queues[device], difference, 1);
      ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
      EXPECT_EQ(*result, 1024);
      *result = 0;
    }
  }
}

// Out of order, so that nothing but the events keeps the order.
TEST_F(Usm, CommandsOfOneQueueFollowTheirEvents) {
  constexpr size_t count = 4096;
  const size_t device = able.back();
  const OwnedQueue queue(cl.clCreateCommandQueue(context, devices[device],
                                                 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr));
  auto* a = onDevice<cl_int>(device, count);
  auto* b = onDevice<cl_int>(device, count);
  std::vector<cl_int> result(count);
  const OwnedKernel twice = kernel(program, "twice");
  const cl_int three = 3;
  for (int round = 0; round < 20; ++round) {
    OwnedEvent filled, doubled, copied, read;
    ASSERT_EQ(f.fill(queue, a, &three, 4, count * 4, 0, nullptr, filled.out()), CL_SUCCESS);
    ASSERT_EQ(f.setArgument(twice, 0, a), CL_SUCCESS);
    cl_event wait = filled;
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queue, twice, 1, nullptr, &count, nullptr, 1, &wait,
                                        doubled.out()),
              CL_SUCCESS);
    wait = doubled;
    ASSERT_EQ(f.copy(queue, CL_FALSE, b, a, count * 4, 1, &wait, copied.out()), CL_SUCCESS);
    wait = copied;
    ASSERT_EQ(f.copy(queue, CL_TRUE, result.data(), b, count * 4, 1, &wait, nullptr), CL_SUCCESS);
    ASSERT_EQ(result, std::vector<cl_int>(count, 6));
  }
}

// Whoever's queue is asked to: from the memory of one device to that of another, of the host and
// back.
TEST_F(Usm, CopiesGoFromAnywhereToAnywhere) {
  constexpr size_t count = 50000, bytes = count * sizeof(cl_int);
  std::vector<cl_int*> places{onHost<cl_int>(count), shared<cl_int>(count)};
  for (const size_t device : able) places.push_back(onDevice<cl_int>(device, count));
  std::vector<cl_int> values(count), result(count);
  cl_int first = 1;
  for (const size_t device : able)
    for (cl_int* from : places)
      for (cl_int* to : places) {
        if (from == to) continue;
        std::iota(values.begin(), values.end(), ++first);
        ASSERT_EQ(copy(device, from, values.data(), bytes), CL_SUCCESS);
        ASSERT_EQ(
            f.copy(queues[device], CL_FALSE, to + 1, from + 1, bytes - 4, 0, nullptr, nullptr),
            CL_SUCCESS);
        ASSERT_EQ(copy(device, result.data(), to, bytes), CL_SUCCESS);
        ASSERT_TRUE(std::equal(values.begin() + 1, values.end(), result.begin() + 1));
      }
}

TEST_F(Usm, FillsGoAnywhere) {
  for (const size_t device : able)
    for (const size_t owner : able) {
      auto* data = onDevice<cl_int>(owner, 100);
      const cl_int pattern[] = {cl_int(device), 7};
      ASSERT_EQ(f.fill(queues[device], data, pattern, 8, 400, 0, nullptr, nullptr), CL_SUCCESS);
      ASSERT_EQ(f.set(queues[device], data + 1, 1, 4, 0, nullptr, nullptr), CL_SUCCESS);
      std::vector<cl_int> result(100);
      ASSERT_EQ(copy(device, result.data(), data, 400), CL_SUCCESS);
      EXPECT_EQ(result[0], cl_int(device));
      EXPECT_EQ(result[1], 0x01010101);
      EXPECT_EQ(result[99], 7);
    }
}

// A gate before them, so that they wait in the queue and then follow each other.
TEST_F(Usm, CommandsOfAnInOrderQueueFollowEachOther) {
  constexpr size_t count = 10000, bytes = count * sizeof(cl_int);
  const OwnedKernel twice = kernel(program, "twice");
  for (const size_t device : able)
    for (const size_t owner : able) {
      auto* own = onDevice<cl_int>(device, count);
      auto* other = onDevice<cl_int>(owner, count);
      auto* seen = shared<cl_int>(count);
      const cl_int three = 3;
      OwnedEvent gate = makeUserEvent();
      const cl_event wait = gate;
      ASSERT_EQ(f.fill(queues[device], other, &three, 4, bytes, 1, &wait, nullptr), CL_SUCCESS);
      ASSERT_EQ(f.copy(queues[device], CL_FALSE, own, other, bytes, 0, nullptr, nullptr),
                CL_SUCCESS);
      ASSERT_EQ(f.setArgument(twice, 0, own), CL_SUCCESS);
      launch(queues[device], twice, count);
      ASSERT_EQ(f.copy(queues[device], CL_FALSE, other, own, bytes, 0, nullptr, nullptr),
                CL_SUCCESS);
      ASSERT_EQ(f.copy(queues[device], CL_FALSE, seen, other, bytes, 0, nullptr, nullptr),
                CL_SUCCESS);
      ASSERT_EQ(f.migrate(queues[device], seen, bytes, 0, 0, nullptr, nullptr), CL_SUCCESS);
      ASSERT_EQ(f.setArgument(twice, 0, seen), CL_SUCCESS);
      launch(queues[device], twice, count);
      ASSERT_EQ(
          f.migrate(queues[device], seen, bytes, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, nullptr),
          CL_SUCCESS);
      ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
      ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
      EXPECT_EQ(std::vector(seen, seen + count), std::vector<cl_int>(count, 12));
    }
}

// The host cannot look at it, nor can what does not reach it.
TEST_F(Usm, WhatADeviceHidesIsNotTheHosts) {
  for (const size_t device : able) {
    if (!hides(device)) continue;
    auto* own = onDevice<cl_int>(device, 64);
    EXPECT_EQ(cl.clEnqueueSVMMap(queues[device], CL_TRUE, CL_MAP_READ, own, 4, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    for (const cl_mem_flags flags : {CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR}) {
      cl_int code = 1;
      EXPECT_EQ(cl.clCreateBuffer(context, flags, 64, own, &code), nullptr);
      EXPECT_EQ(code, CL_INVALID_HOST_PTR);
    }
    const OwnedKernel named = kernel(program, "twice"), indirect = kernel(program, "twice");
    ASSERT_EQ(f.setArgument(named, 0, own), CL_SUCCESS);
    ASSERT_EQ(f.setArgument(indirect, 0, shared<cl_int>(1)), CL_SUCCESS);
    ASSERT_EQ(
        cl.clSetKernelExecInfo(indirect, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof own, &own),
        CL_SUCCESS);
    const size_t one = 1;
    for (const size_t other : able)
      if (!hides(other)) {
        for (const cl_kernel twice : {cl_kernel(named), cl_kernel(indirect)})
          EXPECT_EQ(cl.clEnqueueNDRangeKernel(queues[other], twice, 1, nullptr, &one, nullptr, 0,
                                              nullptr, nullptr),
                    CL_INVALID_OPERATION);
      }
  }
}

// Nor do commands on buffers and images that copy from the host's memory and to it.
TEST_F(Usm, WhatADeviceHidesIsNoHostPointer) {
  const OwnedMem buffer(cl.clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, nullptr));
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = shape.image_height = 4;
  const OwnedMem image(
      cl.clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, nullptr, nullptr));
  const size_t zero[3] = {}, box[] = {4, 4, 1};
  for (const size_t device : able) {
    if (!hides(device)) continue;
    auto* own = onDevice<char>(device, 128) + 64;
    for (const cl_command_queue queue : queues) {
      EXPECT_EQ(cl.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, own, 0, nullptr, nullptr),
                CL_INVALID_VALUE);
      EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 64, own, 0, nullptr, nullptr),
                CL_INVALID_VALUE);
      EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero, zero, box, 0, 0, 0, 0, own,
                                           0, nullptr, nullptr),
                CL_INVALID_VALUE);
      EXPECT_EQ(cl.clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, zero, box, 0, 0, 0, 0,
                                            own, 0, nullptr, nullptr),
                CL_INVALID_VALUE);
      EXPECT_EQ(
          cl.clEnqueueReadImage(queue, image, CL_TRUE, zero, box, 0, 0, own, 0, nullptr, nullptr),
          CL_INVALID_VALUE);
      EXPECT_EQ(
          cl.clEnqueueWriteImage(queue, image, CL_TRUE, zero, box, 0, 0, own, 0, nullptr, nullptr),
          CL_INVALID_VALUE);
    }
  }
}

// And what idle buffers have there makes room.
TEST_F(Usm, DeviceMemoryIsLimited) {
  constexpr cl_ulong small = cl_ulong(2) << 30;
  for (const size_t device : able) {
    const auto all = info<cl_ulong>(cl.clGetDeviceInfo, devices[device], CL_DEVICE_GLOBAL_MEM_SIZE);
    if (!hides(device) || all > small) continue;
    const auto half = static_cast<size_t>(all / 2);
    const OwnedMem buffer(cl.clCreateBuffer(context, CL_MEM_READ_WRITE, half, nullptr, nullptr));
    const cl_mem handle = buffer;
    ASSERT_EQ(
        cl.clEnqueueMigrateMemObjects(queues[device], 1, &handle,
                                      CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, nullptr, nullptr),
        CL_SUCCESS);
    const cl_uchar byte = 0;
    ASSERT_EQ(
        cl.clEnqueueWriteBuffer(queues[device], buffer, CL_TRUE, 0, 1, &byte, 0, nullptr, nullptr),
        CL_SUCCESS);
    ASSERT_EQ(cl.clEnqueueMigrateMemObjects(queues[device], 1, &handle, CL_MIGRATE_MEM_OBJECT_HOST,
                                            0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    onDevice<char>(device, half / 4 * 3);
    onDevice<char>(device, half / 4 * 3);
    cl_int code = 1;
    EXPECT_EQ(f.deviceAlloc(context, devices[device], nullptr, half, 0, &code), nullptr);
    EXPECT_EQ(code, CL_OUT_OF_RESOURCES);
    ASSERT_EQ(f.free(context, allocations.back()), CL_SUCCESS);
    allocations.pop_back();
    onDevice<char>(device, half);
    // Other devices may have the same memory.
    for (void* pointer : allocations) EXPECT_EQ(f.free(context, pointer), CL_SUCCESS);
    allocations.clear();
  }
}

// A device without such memory refuses to have its own and to work on that of others by the
// extension's commands.
TEST_F(Usm, OtherDevicesRefuse) {
  auto* data = shared<cl_int>(4);
  for (size_t device = 0; device < devices.size(); ++device) {
    if (std::find(able.begin(), able.end(), device) != able.end()) continue;
    cl_int code = 1;
    EXPECT_EQ(f.deviceAlloc(context, devices[device], nullptr, 64, 0, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_OPERATION);
    EXPECT_EQ(f.sharedAlloc(context, devices[device], nullptr, 64, 0, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_OPERATION);
    const cl_int one = 1;
    const cl_command_queue queue = queues[device];
    EXPECT_EQ(f.copy(queue, CL_TRUE, data, &one, 4, 0, nullptr, nullptr), CL_INVALID_OPERATION);
    EXPECT_EQ(f.fill(queue, data, &one, 4, 4, 0, nullptr, nullptr), CL_INVALID_OPERATION);
    EXPECT_EQ(f.migrate(queue, data, 4, 0, 0, nullptr, nullptr), CL_INVALID_OPERATION);
    EXPECT_EQ(f.advise(queue, data, 4, 0, 0, nullptr, nullptr), CL_INVALID_OPERATION);
  }
}

}  // namespace
}  // namespace weft::e2e
