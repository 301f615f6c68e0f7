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
  const size_t device = able.front();
  auto* values = onHost<cl_int>(64);
  std::vector<cl_int> system(64, 5);
  std::fill_n(values, 64, 5);
  const OwnedKernel twice = kernel(program, "twice");
  for (cl_int* begin : {values + 16, system.data() + 16}) {
    ASSERT_EQ(f.setArgument(twice, 0, begin), CL_SUCCESS);
    launch(queues[device], twice, 32);
    ASSERT_EQ(cl.clFinish(queues[device]), CL_SUCCESS);
    EXPECT_EQ(begin[-1], 5);
    EXPECT_EQ(begin[0], 10);
    EXPECT_EQ(begin[31], 10);
    EXPECT_EQ(begin[32], 5);
  }
}

TEST_F(Usm, AtomicsOfHostAndDevicesAddUp) {
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
