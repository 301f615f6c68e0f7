// What a recorded command costs against one that is enqueued: the same launches, one after the
// other and, in an unordered queue, in eight chains. The first time is of a batch that is enqueued
// anew, the second of one that was recorded once.
#include <ctime>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr int chains = 8;
constexpr const char* source = R"(
kernel void count(global int* counter, int amount, global int* other) { *counter += amount; }
)";

template <class F>
F* extension(const char* name) {
  const cl::Platform platform(runtime().device.getInfo<CL_DEVICE_PLATFORM>());
  void* const address = clGetExtensionFunctionAddressForPlatform(platform(), name);
  if (!address) throw cl::Error(CL_INVALID_OPERATION, name);
  return reinterpret_cast<F*>(address);
}

// cl_khr_command_buffer, as far as it is used here. The system's header may have an older revision.
struct CommandBuffers {
  using Handle = struct _cl_command_buffer_khr*;
  using SyncPoint = cl_uint;
  using Create = Handle CL_API_CALL(cl_uint, const cl_command_queue*, const cl_properties*,
                                    cl_int*);
  using One = cl_int CL_API_CALL(Handle);
  using Enqueue = cl_int CL_API_CALL(cl_uint, cl_command_queue*, Handle, cl_uint, const cl_event*,
                                     cl_event*);
  using Launch = cl_int CL_API_CALL(Handle, cl_command_queue, const cl_properties*, cl_kernel,
                                    cl_uint, const size_t*, const size_t*, const size_t*, cl_uint,
                                    const SyncPoint*, SyncPoint*, void**);

  Create* create = extension<Create>("clCreateCommandBufferKHR");
  One* finalize = extension<One>("clFinalizeCommandBufferKHR");
  One* release = extension<One>("clReleaseCommandBufferKHR");
  Enqueue* enqueue = extension<Enqueue>("clEnqueueCommandBufferKHR");
  Launch* launch = extension<Launch>("clCommandNDRangeKernelKHR");
};

void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw cl::Error(code, what);
}

double processNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// A kernel with a counter for each chain.
struct Counting {
  explicit Counting(Order order)
      : queue(runtime().queue(order)), unordered(order == Order::out_of_order) {
    for (int i = 0; i < chains; ++i) {
      counters.push_back(runtime().buffer(sizeof(cl_int)));
      queue.enqueueFillBuffer(counters.back(), cl_int{0}, 0, sizeof(cl_int));
      kernels.push_back(runtime().kernel(source, "count"));
      clSetKernelArg(kernels[i](), 0, sizeof(cl_mem), &counters[i]());
      setArgument(kernels[i], 1, 1);
      clSetKernelArg(kernels[i](), 2, sizeof(cl_mem), &counters[i]());
    }
    queue.finish();
  }
  bool isRight(int64_t each) const {
    cl_int sum = 0;
    for (const cl::Buffer& counter : counters) {
      cl_int value = 0;
      queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof value, &value);
      sum += value;
    }
    return sum == each;
  }

  cl::CommandQueue queue;
  bool unordered;
  std::vector<cl::Kernel> kernels;
  std::vector<cl::Buffer> counters;
};

void report(benchmark::State& state, const Counting& counting, int batch, double nanoseconds) {
  const auto commands = static_cast<int64_t>(state.iterations()) * batch;
  state.SetItemsProcessed(commands);
  state.counters["cpu_ns/command"] = nanoseconds / static_cast<double>(commands);
  if (!counting.isRight(commands)) reportWrong(state);
}

void enqueued(benchmark::State& state, Order order, int batch) {
  const Counting counting(order);
  double worked = 0;
  for (auto _ : state) {
    const double begin = processNanoseconds();
    std::vector<cl_event> events;
    for (int i = 0; i < batch; ++i) {
      const bool waits = counting.unordered && i >= chains;
      cl_event event = nullptr;
      launch(counting.queue, counting.kernels[i % chains], 1, 1, waits ? 1 : 0,
             waits ? &events[i - chains] : nullptr, counting.unordered ? &event : nullptr);
      if (counting.unordered) events.push_back(event);
    }
    counting.queue.finish();
    for (const cl_event event : events) clReleaseEvent(event);
    worked += processNanoseconds() - begin;
  }
  report(state, counting, batch, worked);
}

void recorded(benchmark::State& state, Order order, int batch) {
  const CommandBuffers functions;
  const Counting counting(order);
  const cl_command_queue queue = counting.queue();
  cl_int code = CL_SUCCESS;
  const CommandBuffers::Handle commands = functions.create(1, &queue, nullptr, &code);
  check(code, "clCreateCommandBufferKHR");
  const size_t one = 1;
  std::vector<CommandBuffers::SyncPoint> points(batch);
  for (int i = 0; i < batch; ++i) {
    const bool waits = counting.unordered && i >= chains;
    check(functions.launch(commands, nullptr, nullptr, counting.kernels[i % chains](), 1, nullptr,
                           &one, &one, waits ? 1 : 0, waits ? &points[i - chains] : nullptr,
                           &points[i], nullptr),
          "clCommandNDRangeKernelKHR");
  }
  check(functions.finalize(commands), "clFinalizeCommandBufferKHR");
  double worked = 0;
  for (auto _ : state) {
    const double begin = processNanoseconds();
    check(functions.enqueue(0, nullptr, commands, 0, nullptr, nullptr),
          "clEnqueueCommandBufferKHR");
    counting.queue.finish();
    worked += processNanoseconds() - begin;
  }
  functions.release(commands);
  report(state, counting, batch, worked);
}

[[maybe_unused]] const Registered registered[] = {
    add("recorded/in_order/enqueued", enqueued, Order::in_order, 10000),
    add("recorded/in_order/replayed", recorded, Order::in_order, 10000),
    add("recorded/out_of_order/enqueued", enqueued, Order::out_of_order, 10000),
    add("recorded/out_of_order/replayed", recorded, Order::out_of_order, 10000),
    add("recorded/million/in_order", recorded, Order::in_order, 1000000)->Iterations(3),
    add("recorded/million/out_of_order", recorded, Order::out_of_order, 1000000)->Iterations(3),
};

}  // namespace
}  // namespace weft::bench
