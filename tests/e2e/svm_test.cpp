// Kernels on shared virtual memory: one address on the host and every device. Runs a second time
// with devices that have memory of their own, and with those of several drivers.
#include <atomic>
#include <numeric>

#include "tests/e2e/several_devices.h"

namespace weft::e2e {
namespace {

constexpr char source[] = R"(
  typedef struct node { global struct node* next; int value; } node;
  kernel void walk(global node* list, global int* sum) {
    *sum = 0;
    for (global node* n = list; n; n = n->next) *sum += n->value;
  }
  kernel void link(global node* nodes, int count) {
    int i = get_global_id(0);
    nodes[i].next = i + 1 < count ? nodes + i + 1 : 0;
    nodes[i].value = i * 3;
  }
  typedef struct { global int* a; global int* b; } pointers;
  kernel void follow(global pointers* p, constant int* by) {
    int i = get_global_id(0);
    p->b[i] = p->a[i] * by[0];
  }
#ifdef __opencl_c_atomic_scope_all_devices
  kernel void add(global atomic_int* counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_all_svm_devices);
  }
  kernel void answer(global atomic_int* question, global atomic_int* reply) {
    int seen;
    while ((seen = atomic_load_explicit(question, memory_order_acquire,
                                        memory_scope_all_svm_devices)) == 0);
    atomic_store_explicit(reply, seen + 1, memory_order_release, memory_scope_all_svm_devices);
  }
#endif
  kernel void twice(global int* data) { data[get_global_id(0)] *= 2; }
)";

struct Node {
  Node* next;
  cl_int value;
};

constexpr cl_svm_mem_flags atomics =
    CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;

class Svm : public SeveralDevices {
 protected:
  void SetUp() override {
    capabilities = deviceInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
    if (!capabilities) GTEST_SKIP() << "shared virtual memory is not supported";
    useDevices();
    for (const cl_device_id device : devices)
      capabilities &=
          info<cl_device_svm_capabilities>(cl.clGetDeviceInfo, device, CL_DEVICE_SVM_CAPABILITIES);
    ASSERT_NE(capabilities, 0u) << "one of the devices has no shared virtual memory";
    program = built(source, "-cl-std=CL3.0");
  }
  void TearDown() override {
    for (void* pointer : allocations) cl.clSVMFree(context, pointer);
    SeveralDevices::TearDown();
  }

  template <class T>
  T* allocate(size_t count, cl_svm_mem_flags flags = CL_MEM_READ_WRITE) {
    void* pointer = cl.clSVMAlloc(context, flags, count * sizeof(T), 0);
    EXPECT_NE(pointer, nullptr);
    allocations.push_back(pointer);
    return static_cast<T*>(pointer);
  }
  void map(cl_command_queue on, void* pointer, size_t bytes) {
    ASSERT_EQ(cl.clEnqueueSVMMap(on, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, pointer, bytes, 0,
                                 nullptr, nullptr),
              CL_SUCCESS);
  }
  void unmap(cl_command_queue on, void* pointer) {
    ASSERT_EQ(cl.clEnqueueSVMUnmap(on, pointer, 0, nullptr, nullptr), CL_SUCCESS);
  }
  void setPointer(cl_kernel kernel, cl_uint index, const void* pointer) {
    EXPECT_EQ(cl.clSetKernelArgSVMPointer(kernel, index, pointer), CL_SUCCESS);
  }
  void launch(cl_command_queue on, cl_kernel kernel, size_t global, cl_event* event = nullptr) {
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &global, nullptr, 0, nullptr, event),
        CL_SUCCESS);
  }
  bool has(cl_device_svm_capabilities wanted) const { return capabilities & wanted; }
  void spinWhileOthersWork(const OwnedQueue& own, cl_device_id device);

  cl_device_svm_capabilities capabilities = 0;
  std::vector<void*> allocations;
  OwnedProgram program;
};

TEST_F(Svm, PointersMeanTheSameEverywhere) {
  constexpr cl_int count = 1000;
  auto* nodes = allocate<Node>(count);
  auto* sum = allocate<cl_int>(1);
  const OwnedKernel link = kernel(program, "link"), walk = kernel(program, "walk");
  setPointer(link, 0, nodes);
  ASSERT_EQ(cl.clSetKernelArg(link, 1, sizeof count, &count), CL_SUCCESS);
  setPointer(walk, 0, nodes);
  setPointer(walk, 1, sum);
  cl_int expected = 3 * count * (count - 1) / 2;
  for (const OwnedQueue& builder : queues)
    for (const OwnedQueue& reader : queues) {
      launch(builder, link, count);
      map(builder, nodes, count * sizeof(Node));
      EXPECT_EQ(nodes[10].next, nodes + 11);
      nodes[10].value += 5;
      unmap(builder, nodes);
      ASSERT_EQ(cl.clFinish(builder), CL_SUCCESS);
      launch(reader, walk, 1);
      map(reader, sum, sizeof(cl_int));
      EXPECT_EQ(*sum, expected + 5);
      unmap(reader, sum);
      ASSERT_EQ(cl.clFinish(reader), CL_SUCCESS);
    }
}

TEST_F(Svm, ArgumentsIntoTheMiddle) {
  auto* values = allocate<cl_int>(64);
  const OwnedKernel twice = kernel(program, "twice");
  map(queues[0], values, 64 * sizeof(cl_int));
  std::iota(values, values + 64, 1);
  unmap(queues[0], values);
  setPointer(twice, 0, values + 16);
  launch(queues[0], twice, 32);
  map(queues[0], values, 64 * sizeof(cl_int));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values[i], (i >= 16 && i < 48 ? 2 : 1) * (i + 1)) << i;
  unmap(queues[0], values);
  EXPECT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
}

// An argument that was an SVM pointer can become a buffer, and the other way round.
TEST_F(Svm, ArgumentsChangeKinds) {
  auto* values = allocate<cl_int>(1);
  const cl_int one = 1;
  const OwnedMem memory = upload(std::vector<cl_int>{10});
  const cl_mem handle = memory;
  const OwnedKernel twice = kernel(program, "twice");
  ASSERT_EQ(cl.clEnqueueSVMMemFill(queues[0], values, &one, 4, 4, 0, nullptr, nullptr), CL_SUCCESS);
  setPointer(twice, 0, values);
  launch(queues[0], twice, 1);
  ASSERT_EQ(cl.clSetKernelArg(twice, 0, sizeof handle, &handle), CL_SUCCESS);
  launch(queues[0], twice, 1);
  setPointer(twice, 0, values);
  launch(queues[0], twice, 1);
  cl_int buffered = 0, shared = 0;
  ASSERT_EQ(
      cl.clEnqueueReadBuffer(queues[0], memory, CL_TRUE, 0, 4, &buffered, 0, nullptr, nullptr),
      CL_SUCCESS);
  ASSERT_EQ(cl.clEnqueueSVMMemcpy(queues[0], CL_TRUE, &shared, values, 4, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(buffered, 20);
  EXPECT_EQ(shared, 4);
}

TEST_F(Svm, IndirectPointersAreKeptByLaunches) {
  struct Pointers {
    cl_int *a, *b;
  };
  constexpr size_t count = 256;
  auto* p = allocate<Pointers>(1);
  auto* by = allocate<cl_int>(1);
  auto* b = allocate<cl_int>(count);
  auto* a = static_cast<cl_int*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, count * 4, 0));
  map(queues[0], p, sizeof *p);
  *p = {a, b};
  *by = 7;
  std::iota(a, a + count, 0);
  unmap(queues[0], p);
  const OwnedKernel follow = kernel(program, "follow");
  setPointer(follow, 0, p);
  setPointer(follow, 1, by);
  const void* list[] = {a, b + 1};
  ASSERT_EQ(cl.clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list),
            CL_SUCCESS);
  OwnedKernel clone(cl.clCloneKernel(follow, nullptr));
  OwnedEvent gate = makeUserEvent();
  const cl_event wait = gate;
  ASSERT_EQ(
      cl.clEnqueueNDRangeKernel(queues[0], clone, 1, nullptr, &count, nullptr, 1, &wait, nullptr),
      CL_SUCCESS);
  cl.clSVMFree(context, a);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
  map(queues[0], b, count * 4);
  for (cl_int i = 0; i < cl_int(count); ++i) ASSERT_EQ(b[i], i * 7);
  unmap(queues[0], b);
  EXPECT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
}

TEST_F(Svm, BuffersOnSvmAreTheSameBytesOnEveryDevice) {
  auto* values = allocate<cl_int>(64);
  cl_int code = 1;
  const OwnedMem memory(
      cl.clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64 * sizeof(cl_int), values, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const cl_mem handle = memory;
  const OwnedKernel on_buffer = kernel(program, "twice"), on_svm = kernel(program, "twice");
  ASSERT_EQ(cl.clSetKernelArg(on_buffer, 0, sizeof handle, &handle), CL_SUCCESS);
  setPointer(on_svm, 0, values);
  map(queues[0], values, 64 * sizeof(cl_int));
  std::fill_n(values, 64, 1);
  unmap(queues[0], values);
  ASSERT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
  cl_int expected = 1;
  for (const OwnedQueue& on : queues) {
    launch(on, on_buffer, 64);
    launch(on, on_svm, 64);
    ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
    expected *= 4;
  }
  map(queues[0], values, 64 * sizeof(cl_int));
  EXPECT_EQ(std::vector<cl_int>(values, values + 64), std::vector<cl_int>(64, expected));
  unmap(queues[0], values);
  EXPECT_EQ(cl.clFinish(queues[0]), CL_SUCCESS);
}

// While a kernel doubles the first numbers of an allocation, the host writes the others.
TEST_F(Svm, FineGrainedBuffersNeedNoMap) {
  if (!has(CL_DEVICE_SVM_FINE_GRAIN_BUFFER)) GTEST_SKIP() << "no fine-grained SVM";
  constexpr cl_int count = 1000;
  auto* values = allocate<cl_int>(2 * count, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER);
  const OwnedKernel twice = kernel(program, "twice");
  setPointer(twice, 0, values);
  for (cl_int turn = 1; turn <= 3; ++turn)
    for (const OwnedQueue& on : queues) {
      for (cl_int i = 0; i < count; ++i) values[i] = i * turn;
      launch(on, twice, count);
      ASSERT_EQ(cl.clFlush(on), CL_SUCCESS);
      for (cl_int i = 0; i < count; ++i) values[count + i] = i - turn;
      ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
      for (cl_int i = 0; i < count; ++i) {
        ASSERT_EQ(values[i], 2 * i * turn);
        ASSERT_EQ(values[count + i], i - turn);
      }
    }
}

TEST_F(Svm, AnyMemoryOfTheHost) {
  if (!has(CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)) GTEST_SKIP() << "no fine-grained system SVM";
  std::vector<cl_int> values(64, 21);
  const cl_int five = 5;
  const OwnedKernel twice = kernel(program, "twice");
  const cl_bool yes = CL_TRUE;
  ASSERT_EQ(
      cl.clSetKernelExecInfo(twice, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes),
      CL_SUCCESS);
  setPointer(twice, 0, values.data());
  for (const OwnedQueue& on : queues) {
    launch(on, twice, 64);
    ASSERT_EQ(cl.clEnqueueSVMMemFill(on, values.data() + 60, &five, 4, 8, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
  }
  EXPECT_EQ(values[0], 21 << queues.size());
  EXPECT_EQ(values[60], 5);
  EXPECT_EQ(values[61], 5);
}

TEST_F(Svm, AtomicsOfHostAndDevicesAddUp) {
  if (!has(CL_DEVICE_SVM_ATOMICS)) GTEST_SKIP() << "no SVM atomics";
  constexpr int each = 20000;
  auto* counter = allocate<std::atomic<cl_int>>(1, atomics);
  counter->store(0);
  const OwnedKernel add = kernel(program, "add");
  setPointer(add, 0, counter);
  for (const OwnedQueue& on : queues) {
    launch(on, add, each);
    ASSERT_EQ(cl.clFlush(on), CL_SUCCESS);
  }
  for (int i = 0; i < each; ++i) counter->fetch_add(1, std::memory_order_relaxed);
  for (const OwnedQueue& on : queues) ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
  EXPECT_EQ(counter->load(), each * cl_int(queues.size() + 1));
}

// A kernel that waits for a word which the host writes after the enqueue holds up nobody but
// itself: not the enqueue, nor a user event that sets it off, nor what else the host asks for
// meanwhile.
void Svm::spinWhileOthersWork(const OwnedQueue& own, cl_device_id device) {
  auto* words = allocate<std::atomic<cl_int>>(2, atomics);
  words[0].store(0);
  words[1].store(0);
  const OwnedKernel answer = kernel(program, "answer"), twice = kernel(program, "twice");
  setPointer(answer, 0, words);
  setPointer(answer, 1, words + 1);
  OwnedEvent gate = makeUserEvent(), spinning;
  const cl_event wait = gate;
  const size_t one = 1;
  ASSERT_EQ(
      cl.clEnqueueNDRangeKernel(own, answer, 1, nullptr, &one, nullptr, 1, &wait, spinning.out()),
      CL_SUCCESS);
  ASSERT_EQ(cl.clFlush(own), CL_SUCCESS);
  ASSERT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);

  const OwnedQueue other(cl.clCreateCommandQueue(context, device, 0, nullptr));
  const OwnedMem memory = upload(std::vector<cl_int>(100, 4));
  const cl_mem handle = memory;
  ASSERT_EQ(cl.clSetKernelArg(twice, 0, sizeof handle, &handle), CL_SUCCESS);
  launch(other, twice, 100);
  cl_int value = 0;
  ASSERT_EQ(cl.clEnqueueReadBuffer(other, memory, CL_TRUE, 0, 4, &value, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(words[1].load(), 0);
  EXPECT_GT(info<cl_int>(cl.clGetEventInfo, cl_event(spinning), CL_EVENT_COMMAND_EXECUTION_STATUS),
            CL_COMPLETE);

  words[0].store(41, std::memory_order_release);
  ASSERT_EQ(cl.clFinish(own), CL_SUCCESS);
  EXPECT_EQ(words[1].load(), 42);
}

// The second time on a sub-device of one unit, whose only thread spins.
TEST_F(Svm, SpinningKernelsHoldUpOnlyThemselves) {
  if (!has(CL_DEVICE_SVM_ATOMICS)) GTEST_SKIP() << "no SVM atomics";
  spinWhileOthersWork(queues.back(), devices.back());
  spinWhileOthersWork(queues.front(), devices.front());
}

// Large enough to have pages of its own, which migration may move.
TEST_F(Svm, MigratesBetweenDevices) {
  constexpr size_t count = 1 << 20;
  auto* data = allocate<cl_int>(count);
  map(queues.back(), data, count * sizeof *data);
  std::iota(data, data + count, 0);
  unmap(queues.back(), data);
  ASSERT_EQ(cl.clFinish(queues.back()), CL_SUCCESS);
  const OwnedKernel twice = kernel(program, "twice");
  setPointer(twice, 0, data);
  const void* pointer = data;
  for (const OwnedQueue& on : queues)
    for (const size_t bytes : {size_t{0}, size_t{4096}, count * sizeof *data}) {
      ASSERT_EQ(cl.clEnqueueSVMMigrateMem(on, 1, &pointer, &bytes, 0, 0, nullptr, nullptr),
                CL_SUCCESS);
      if (bytes == 0) launch(on, twice, count);
      ASSERT_EQ(cl.clFinish(on), CL_SUCCESS);
    }
  map(queues.back(), data, count * sizeof *data);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], cl_int(i << queues.size())) << i;
  unmap(queues.back(), data);
  ASSERT_EQ(cl.clFinish(queues.back()), CL_SUCCESS);
}

}  // namespace
}  // namespace weft::e2e
