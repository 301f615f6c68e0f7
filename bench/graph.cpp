// What a node costs in a large graph: commands with random dependencies, all of them enqueued
// before the first may run. The times are per graph; `bytes/command` is what the process grew by
// while all were outstanding, events included; `cpu_ns/command` what all its threads worked, which
// other processes disturb less.
#include <ctime>
#include <fstream>
#include <random>
#include <vector>

#include <unistd.h>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr const char* source = R"(
kernel void count(global int* counter, int amount) { atomic_add(counter, amount); }
)";

constexpr size_t reach = 10000;  // dependencies are at most so many commands back
constexpr unsigned most_dependencies = 3;

size_t residentBytes() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

double processNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void randomGraph(benchmark::State& state, size_t nodes) {
  const cl::CommandQueue queue = runtime().queue(Order::out_of_order);
  const cl::Kernel kernel = runtime().kernel(source, "count");
  cl::Buffer counter = runtime().buffer(sizeof(cl_int));
  clSetKernelArg(kernel(), 0, sizeof(cl_mem), &counter());
  setArgument(kernel, 1, 1);
  launch(queue, kernel, 1, 1);
  queue.finish();
  std::vector<cl_event> events(nodes);
  size_t grown = 0;
  const double begin = processNanoseconds();
  for (auto _ : state) {
    cl_int result = 0;
    queue.enqueueFillBuffer(counter, cl_int{0}, 0, sizeof(cl_int));
    queue.finish();
    std::mt19937 random(1);
    cl::UserEvent gate(runtime().context);
    const size_t before = residentBytes();
    for (size_t i = 0; i < nodes; ++i) {
      cl_event waits[most_dependencies] = {gate()};
      cl_uint count = 1;
      if (i > 0)
        for (count = 0; count < 1 + i % most_dependencies; ++count)
          waits[count] = events[i - 1 - random() % std::min(i, reach)];
      launch(queue, kernel, 1, 1, count, waits, &events[i]);
    }
    grown = std::max(grown, residentBytes() - before);
    gate.setStatus(CL_COMPLETE);
    queue.finish();
    for (cl_event event : events) clReleaseEvent(event);
    queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof result, &result);
    if (result != static_cast<cl_int>(nodes)) reportWrong(state);
  }
  const auto commands = static_cast<double>(state.iterations() * nodes);
  state.SetItemsProcessed(static_cast<int64_t>(commands));
  state.counters["cpu_ns/command"] = (processNanoseconds() - begin) / commands;
  state.counters["bytes/command"] = static_cast<double>(grown) / static_cast<double>(nodes);
}

[[maybe_unused]] const Registered registered[] = {
    add("graph/random/1000", randomGraph, 1000)->Unit(benchmark::kMillisecond),
    add("graph/random/1000000", randomGraph, 1000000)->Unit(benchmark::kMillisecond)->Iterations(2),
};

}  // namespace
}  // namespace weft::bench
