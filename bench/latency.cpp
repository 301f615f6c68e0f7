// How long one small command takes from its enqueue until the program knows that it is complete,
// for each of the ways in which programs wait.
#include <atomic>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr const char* source = R"(
kernel void empty() {}
kernel void count(global int* counter, int amount) { if (get_global_id(0) == 0) *counter += amount; }
)";

using Wait = void (*)(const cl::CommandQueue& queue, cl_event event);

void waitFinish(const cl::CommandQueue& queue, cl_event) { queue.finish(); }

void waitEvents(const cl::CommandQueue&, cl_event event) { clWaitForEvents(1, &event); }

void waitPolling(const cl::CommandQueue& queue, cl_event event) {
  queue.flush();
  cl_int status = CL_QUEUED;
  while (status > CL_COMPLETE)
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
}

void CL_CALLBACK raise(cl_event, cl_int, void* flag) {
  auto& raised = *static_cast<std::atomic<int>*>(flag);
  raised.store(1, std::memory_order_release);
  raised.notify_one();
}

void waitCallback(const cl::CommandQueue& queue, cl_event event) {
  std::atomic<int> raised = 0;
  clSetEventCallback(event, CL_COMPLETE, raise, &raised);
  queue.flush();
  raised.wait(0, std::memory_order_acquire);
}

void emptyKernel(benchmark::State& state, Wait wait) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Kernel kernel = runtime().kernel(source, "empty");
  launch(queue, kernel, 1, 1);
  queue.finish();
  for (auto _ : state) {
    cl_event event;
    launch(queue, kernel, 1, 1, 0, nullptr, &event);
    wait(queue, event);
    clReleaseEvent(event);
  }
}

// The kernel does something, with another argument each time, and what it did is checked.
void countingKernel(benchmark::State& state, Wait wait) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Kernel kernel = runtime().kernel(source, "count");
  cl::Buffer counter = runtime().buffer(sizeof(cl_int));
  queue.enqueueFillBuffer(counter, cl_int{0}, 0, sizeof(cl_int));
  clSetKernelArg(kernel(), 0, sizeof(cl_mem), &counter());
  setArgument(kernel, 1, 0);
  launch(queue, kernel, 64, 64);  // what the first launch costs is newLocalSize's
  queue.finish();
  cl_int sum = 0, amount = 0;
  for (auto _ : state) {
    amount = (amount + 1) & 7;
    sum += amount;
    setArgument(kernel, 1, amount);
    cl_event event;
    launch(queue, kernel, 64, 64, 0, nullptr, &event);
    wait(queue, event);
    clReleaseEvent(event);
  }
  cl_int result = 0;
  queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof result, &result);
  if (result != sum) reportWrong(state);
}

// The first launch with a local size that the program has not used yet.
void newLocalSize(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Kernel kernel = runtime().kernel(source, "count", "-DOF_ITS_OWN");
  cl::Buffer counter = runtime().buffer(sizeof(cl_int));
  queue.enqueueFillBuffer(counter, cl_int{0}, 0, sizeof(cl_int));
  clSetKernelArg(kernel(), 0, sizeof(cl_mem), &counter());
  setArgument(kernel, 1, 1);
  size_t local = 1;
  for (auto _ : state) {
    ++local;
    launch(queue, kernel, local, local);
    queue.finish();
  }
}

[[maybe_unused]] const Registered registered[] = {
    add("latency/empty/finish", emptyKernel, waitFinish),
    add("latency/empty/wait", emptyKernel, waitEvents),
    add("latency/empty/poll", emptyKernel, waitPolling),
    add("latency/empty/callback", emptyKernel, waitCallback),
    add("latency/count/finish", countingKernel, waitFinish),
    add("latency/count/wait", countingKernel, waitEvents),
    add("latency/count/poll", countingKernel, waitPolling),
    add("latency/count/callback", countingKernel, waitCallback),
    add("latency/new_local_size", newLocalSize)->Iterations(20),
};

}  // namespace
}  // namespace weft::bench
