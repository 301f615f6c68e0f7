// What a command costs in a long queue. Times are per batch of 10,000 commands; the rate is in the
// items column.
#include <vector>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr int batch = 10000;
constexpr const char* source = R"(
kernel void empty() {}
kernel void count(global int* counter, int amount) { atomic_add(counter, amount); }
// Right only when the one before it has finished: neither atomic nor commutative.
kernel void next(global uint* state, uint amount) { *state = *state * 3u + amount; }
)";

// Waits that the enqueues of one batch pass from one to the next.
class EventChain {
 public:
  ~EventChain() {
    for (cl_event event : events_) clReleaseEvent(event);
  }
  cl_uint count() const { return events_.empty() ? 0 : 1; }
  const cl_event* last() const { return events_.empty() ? nullptr : &events_.back(); }
  void add(cl_event event) { events_.push_back(event); }

 private:
  std::vector<cl_event> events_;
};

void emptyKernels(benchmark::State& state, Order order) {
  const cl::CommandQueue queue = runtime().queue(order);
  const cl::Kernel kernel = runtime().kernel(source, "empty");
  launch(queue, kernel, 1, 1);
  queue.finish();
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i) launch(queue, kernel, 1, 1);
    queue.finish();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void countingKernels(benchmark::State& state, Order order) {
  const cl::CommandQueue queue = runtime().queue(order);
  const cl::Kernel kernel = runtime().kernel(source, "count");
  cl::Buffer counter = runtime().buffer(sizeof(cl_int));
  clSetKernelArg(kernel(), 0, sizeof(cl_mem), &counter());
  setArgument(kernel, 1, 0);
  launch(queue, kernel, 1, 1);
  queue.finish();
  for (auto _ : state) {
    cl_int sum = 0, result = 0;
    queue.enqueueFillBuffer(counter, cl_int{0}, 0, sizeof(cl_int));
    queue.finish();
    for (int i = 0; i < batch; ++i) {
      setArgument(kernel, 1, i & 15);
      sum += i & 15;
      launch(queue, kernel, 1, 1);
    }
    queue.finish();
    queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof result, &result);
    if (result != sum) reportWrong(state);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

// A chain of dependent commands that alternates between the queues.
void chain(benchmark::State& state, const std::vector<cl::CommandQueue>& queues) {
  const cl::Kernel kernel = runtime().kernel(source, "next");
  cl::Buffer value = runtime().buffer(sizeof(cl_uint));
  clSetKernelArg(kernel(), 0, sizeof(cl_mem), &value());
  setArgument(kernel, 1, 0);
  launch(queues[0], kernel, 1, 1);
  queues[0].finish();
  for (auto _ : state) {
    cl_uint expected = 1, result = 0;
    queues[0].enqueueFillBuffer(value, cl_uint{1}, 0, sizeof(cl_uint));
    queues[0].finish();
    EventChain events;
    for (int i = 0; i < batch; ++i) {
      setArgument(kernel, 1, i);
      expected = expected * 3u + static_cast<cl_uint>(i);
      cl_event event;
      launch(queues[i % queues.size()], kernel, 1, 1, events.count(), events.last(), &event);
      events.add(event);
    }
    for (const cl::CommandQueue& queue : queues) queue.flush();
    clWaitForEvents(1, events.last());
    queues[0].enqueueReadBuffer(value, CL_TRUE, 0, sizeof result, &result);
    if (result != expected) reportWrong(state);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void chainOneQueue(benchmark::State& state) {
  chain(state, {runtime().queue(Order::out_of_order)});
}

void chainTwoQueues(benchmark::State& state, Order order) {
  chain(state, {runtime().queue(order), runtime().queue(order)});
}

[[maybe_unused]] const Registered registered[] = {
    add("queue/in_order/empty", emptyKernels, Order::in_order)->Unit(benchmark::kMillisecond),
    add("queue/out_of_order/empty", emptyKernels, Order::out_of_order)
        ->Unit(benchmark::kMillisecond),
    add("queue/in_order/count", countingKernels, Order::in_order)->Unit(benchmark::kMillisecond),
    add("queue/out_of_order/count", countingKernels, Order::out_of_order)
        ->Unit(benchmark::kMillisecond),
    add("queue/chain/wait_lists", chainOneQueue)->Unit(benchmark::kMillisecond),
    add("queue/chain/two_in_order", chainTwoQueues, Order::in_order)->Unit(benchmark::kMillisecond),
    add("queue/chain/two_out_of_order", chainTwoQueues, Order::out_of_order)
        ->Unit(benchmark::kMillisecond),
};

}  // namespace
}  // namespace weft::bench
