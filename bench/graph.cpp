// What a node costs in a large graph: commands with random dependencies, all of them enqueued
// before the first may run. The times are per graph; `bytes/command` is what the process grew by
// while all were outstanding, events included; `cpu_ns/command` what all its threads worked, which
// other processes disturb less: until all were enqueued, until all had run, and until their events
// were released. `system` is the operating system's share, most of it for memory that is new.
#include <ctime>
#include <fstream>
#include <random>
#include <vector>

#include <sys/resource.h>
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

double systemNanoseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_stime.tv_sec) * 1e9 +
         static_cast<double>(usage.ru_stime.tv_usec) * 1e3;
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
  double enqueueing = 0, running = 0, releasing = 0, system = 0;
  for (auto _ : state) {
    cl_int result = 0;
    queue.enqueueFillBuffer(counter, cl_int{0}, 0, sizeof(cl_int));
    queue.finish();
    std::mt19937 random(1);
    cl::UserEvent gate(runtime().context);
    const size_t before = residentBytes();
    const double system_before = systemNanoseconds();
    const double begin = processNanoseconds();
    for (size_t i = 0; i < nodes; ++i) {
      cl_event waits[most_dependencies] = {gate()};
      cl_uint count = 1;
      if (i > 0)
        for (count = 0; count < 1 + i % most_dependencies; ++count)
          waits[count] = events[i - 1 - random() % std::min(i, reach)];
      launch(queue, kernel, 1, 1, count, waits, &events[i]);
    }
    const double enqueued = processNanoseconds();
    grown = std::max(grown, residentBytes() - before);
    const double started = processNanoseconds();
    gate.setStatus(CL_COMPLETE);
    queue.finish();
    const double finished = processNanoseconds();
    for (cl_event event : events) clReleaseEvent(event);
    enqueueing += enqueued - begin;
    running += finished - started;
    releasing += processNanoseconds() - finished;
    system += systemNanoseconds() - system_before;
    queue.enqueueReadBuffer(counter, CL_TRUE, 0, sizeof result, &result);
    if (result != static_cast<cl_int>(nodes)) reportWrong(state);
  }
  const auto commands = static_cast<double>(state.iterations() * nodes);
  state.SetItemsProcessed(static_cast<int64_t>(commands));
  state.counters["cpu_ns/command"] = (enqueueing + running + releasing) / commands;
  state.counters["enqueue"] = enqueueing / commands;
  state.counters["run"] = running / commands;
  state.counters["release"] = releasing / commands;
  state.counters["system"] = system / commands;
  state.counters["bytes/command"] = static_cast<double>(grown) / static_cast<double>(nodes);
}

[[maybe_unused]] const Registered registered[] = {
    add("graph/random/1000", randomGraph, 1000)->Unit(benchmark::kMillisecond),
    add("graph/random/1000000", randomGraph, 1000000)->Unit(benchmark::kMillisecond)->Iterations(2),
};

}  // namespace
}  // namespace weft::bench
