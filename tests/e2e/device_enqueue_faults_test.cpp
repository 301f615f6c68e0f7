// Device-side enqueue where calls of the driver fail, on software GPUs.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/e2e/device_queues.h"
#include "tests/software_gpu/faults.h"

namespace weft::e2e {
namespace {

class DeviceEnqueueFaults : public DeviceEnqueue {
 protected:
  void SetUp() override {
    DeviceEnqueue::SetUp();
    if (IsSkipped()) return;
    const std::string name = listOf<char>(testDevice(), CL_DEVICE_NAME).data();
    const bool level_zero = name.starts_with("Software Level Zero");
    const char* runtime = std::getenv(level_zero ? "ZE_ENABLE_ALT_DRIVERS" : "WEFT_HIP_RUNTIME");
    void* const library = runtime ? dlopen(runtime, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    void* const get = library ? dlsym(library, "weftSoftwareGpuFaults") : nullptr;
    if (get) faults = reinterpret_cast<software::GetFaults>(get)();
    if (!faults || !name.starts_with("Software ")) GTEST_SKIP() << "needs a software GPU";
  }
  void TearDown() override {
    if (!faults) return;
    faults->holds_memory = false;
    for (software::Fault* fault : {&faults->copies, &faults->launches, &faults->allocations,
                                   &faults->kernels, &faults->signals})
      fault->failing = fault->spared = 0;
  }

  software::Faults* faults = nullptr;
};

// A call of the driver's fails, the first, the second and so on: the launch fails, or does all that
// it is to do; nothing hangs, and the next one is right.
TEST_F(DeviceEnqueueFaults, OneCallAfterTheOther) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t e;
      enqueue_kernel(q, 0, ndrange_1D(1), 0, NULL, &e, ^{
        enqueue_kernel(q, 0, ndrange_1D(4), ^{ atomic_inc(out); });
      });
      enqueue_kernel(q, 0, ndrange_1D(8), 1, &e, NULL, ^{ atomic_inc(out); });
      release_event(e);
    })");
  const OwnedKernel k = kernel(program, "k");
  int failed = 0;
  for (software::Fault* fault : {&faults->copies, &faults->launches, &faults->allocations})
    for (int spared = 0; spared < 14; ++spared) {
      const OwnedMem out = upload(std::vector<cl_int>(1));
      set(k, out);
      fault->spared = spared;
      fault->failing = 1;
      const cl_int status = statusOf(k);
      fault->failing = 0;
      failed += status < 0;
      if (status == CL_COMPLETE) {
        EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>{12}) << spared;
      }
      const OwnedMem again = upload(std::vector<cl_int>(1));
      set(k, again);
      run(k, {{1}});
      EXPECT_EQ(download<cl_int>(again), std::vector<cl_int>{12}) << spared;
    }
  EXPECT_GT(failed, 6);
}

// Of two kernels that enqueue, side by side, one cannot be launched: what the other asked for is
// lost with it, so nothing that waits for that one's event runs.
TEST_F(DeviceEnqueueFaults, WhoseChildrenAreLostFails) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      queue_t q = get_default_queue();
      clk_event_t a, b;
      enqueue_kernel(q, 0, ndrange_1D(1), 0, NULL, &a, ^{
        enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[0] = 1; });
      });
      enqueue_kernel(q, 0, ndrange_1D(1), 0, NULL, &b, ^{
        out[1] = 1;
        enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[2] = 1; });
      });
      enqueue_kernel(q, 0, ndrange_1D(1), 1, &b, NULL, ^{ out[3] = 1; });
    })");
  const OwnedKernel k = kernel(program, "k");
  // What a failed kernel wrote stays there.
  auto* const out = static_cast<cl_int*>(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0));
  ASSERT_NE(out, nullptr);
  std::fill_n(out, 4, 0);
  ASSERT_EQ(cl.clSetKernelArgSVMPointer(k, 0, out), CL_SUCCESS);
  faults->launches.spared = 1;
  faults->launches.failing = 1;
  EXPECT_LT(statusOf(k), 0);
  EXPECT_EQ(faults->launches.failing, 0);
  EXPECT_EQ(std::vector<cl_int>(out, out + 4), (std::vector<cl_int>{0, 1, 0, 0}));
  cl.clSVMFree(context, out);
}

// Of a launch that cannot begin nothing has run: what it was to write is as it was.
TEST_F(DeviceEnqueueFaults, WhatCouldNotBeginHasWrittenNothing) {
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[0] += 1; });
    })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem first = upload(std::vector<cl_int>(1));
  set(k, first);
  run(k, {{1}});
  const OwnedQueue elsewhere = makeQueue(other_context);
  cl_int code = 1;
  const OwnedMem large(
      cl.clCreateBuffer(other_context, CL_MEM_READ_WRITE, 80 << 20, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  // What the backend keeps of what was given back goes first; the context of `out` is not asked.
  // The journal of the launch before may come back only behind that, and be there for this one.
  cl_int status = CL_COMPLETE, read = 1, value = 0;
  for (int i = 0; i < 2000 && (status >= 0 || read != CL_SUCCESS); ++i) {
    const OwnedMem out = upload(std::vector<cl_int>{7});
    set(k, out);
    faults->allocations.failing = 1 << 20;
    const cl_int zero = 0;
    cl.clEnqueueFillBuffer(elsewhere, large, &zero, sizeof zero, 0, 80 << 20, 0, nullptr, nullptr);
    cl.clFinish(elsewhere);
    status = statusOf(k);
    faults->allocations.failing = 0;
    read =
        cl.clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  }
  EXPECT_EQ(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(read, CL_SUCCESS);
  EXPECT_EQ(value, 7);
  const OwnedMem out = upload(std::vector<cl_int>{7});
  set(k, out);
  run(k, {{1}});
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>{8});
}

// Where a driver waits with what it frees, families that are over do not, nor what follows them.
TEST_F(DeviceEnqueueFaults, EndsAreToldWhileMemoryIsFreed) {
  // The backend for HIP frees at once what is more than 256 MiB; what it keeps goes where there is
  // no memory.
  {
    const OwnedQueue elsewhere = makeQueue(other_context);
    faults->allocations.failing = 1;
    std::vector<OwnedMem> pieces;
    for (size_t piece : {56, 28, 28, 28, 28, 28, 28, 28, 28, 28, 4}) {
      cl_int code = 1;
      pieces.emplace_back(
          cl.clCreateBuffer(other_context, CL_MEM_READ_WRITE, piece << 20, nullptr, &code));
      ASSERT_EQ(code, CL_SUCCESS);
      const cl_int zero = 0;
      cl.clEnqueueFillBuffer(elsewhere, pieces.back(), &zero, sizeof zero, 0, piece << 20, 0,
                             nullptr, nullptr);
    }
    ASSERT_EQ(cl.clFinish(elsewhere), CL_SUCCESS);
    ASSERT_EQ(faults->allocations.failing, 0);
  }
  const OwnedProgram program = builtFor(R"(
    kernel void k(global int* out) {
      enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{
        enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ ++*out; });
      });
    })");
  const OwnedKernel k = kernel(program, "k");
  const OwnedMem out = upload(std::vector<cl_int>(1));
  set(k, out);
  run(k, {{1}});
  faults->holds_memory = true;
  constexpr size_t one = 1;
  constexpr int families = 3;
  OwnedEvent last;
  for (int i = 0; i < families; ++i)
    ASSERT_EQ(cl.clEnqueueNDRangeKernel(queue, k, 1, nullptr, &one, nullptr, 0, nullptr,
                                        i + 1 < families ? nullptr : last.out()),
              CL_SUCCESS);
  ASSERT_EQ(cl.clFlush(queue), CL_SUCCESS);
  const auto status = [&] {
    return info<cl_int>(cl.clGetEventInfo, cl_event(last), CL_EVENT_COMMAND_EXECUTION_STATUS);
  };
  for (int i = 0; i < 20'000 && status() > CL_COMPLETE; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(status(), CL_COMPLETE);
  faults->holds_memory = false;
  EXPECT_EQ(download<cl_int>(out), std::vector<cl_int>{families + 1});
}

// Families that side by side want more memory than there is left run one after the other: those
// that find none for their journals, and those that find none for what their kernels captured.
TEST_F(DeviceEnqueueFaults, FamiliesWaitForMemory) {
  const OwnedProgram program = builtFor(R"(
    typedef struct { int a[1000]; } large;
    kernel void k(global int* out, int n) {
      large values;
      for (int i = 0; i < 1000; ++i) values.a[i] = 1;
      for (int i = 0; i < n; ++i)
        if (enqueue_kernel(get_default_queue(), 0, ndrange_1D(1),
                           ^{ atomic_add(out, values.a[999]); }))
          atomic_add(out + 1, 1);
    })");
  const OwnedQueue unordered = makeQueue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  constexpr cl_int families = 6, blocks = 2500;
  constexpr size_t piece = 8 << 20, one = 1;
  const OwnedMem sums = upload(std::vector<cl_int>(2));
  const OwnedKernel k = kernel(program, "k");
  set(k, sums, blocks);
  cl_int expected = 0;
  // All that there is but one journal and some more, then but two, is taken by another context.
  const OwnedQueue elsewhere = makeQueue(other_context);
  for (const size_t left : {size_t{48} << 20, size_t{80} << 20}) {
    std::vector<OwnedMem> taken;
    for (size_t n = deviceInfo<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE) - left; n >= piece;
         n -= piece) {
      cl_int code = 1;
      const cl_int zero = 0;
      taken.emplace_back(
          cl.clCreateBuffer(other_context, CL_MEM_READ_WRITE, piece, nullptr, &code));
      ASSERT_EQ(code, CL_SUCCESS);
      cl.clEnqueueFillBuffer(elsewhere, taken.back(), &zero, sizeof zero, 0, piece, 0, nullptr,
                             nullptr);
    }
    EXPECT_EQ(cl.clFinish(elsewhere), CL_SUCCESS);
    const OwnedEvent gate = makeUserEvent();
    const cl_event waits = gate;
    for (cl_int i = 0; i < families; ++i)
      EXPECT_EQ(
          cl.clEnqueueNDRangeKernel(unordered, k, 1, nullptr, &one, nullptr, 1, &waits, nullptr),
          CL_SUCCESS);
    EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(unordered), CL_SUCCESS);
    expected += families * blocks;
    EXPECT_EQ(download<cl_int>(sums), (std::vector<cl_int>{expected, 0})) << left;
  }
}

}  // namespace
}  // namespace weft::e2e
