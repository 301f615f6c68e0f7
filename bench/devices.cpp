// What the scheduler does with more than one thing at a time: kernels that leave half of the device
// idle, the memory of several devices, and nothing at all. Sub-devices have memory of their own
// with WEFT_CPU_PRIVATE_MEMORY=1; without it the same benchmarks run in one memory.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr const char* source = R"(
kernel void work(global uint* out, uint rounds) {
  uint x = get_global_id(0) + 1;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}
kernel void add(global const float* a, global float* b, uint rounds) {
  const size_t i = get_global_id(0);
  float x = a[i];
  for (uint k = 0; k < rounds; ++k) x = x * 0.5f + 1.0f;
  b[i] = b[i] + x;
}
// Right only when the one before it has finished: neither atomic nor commutative.
kernel void next(global uint* state, uint amount) {
  state[get_global_id(0)] = state[get_global_id(0)] * 3u + amount;
}
)";

double processSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// `count` kernels in one unordered queue, each of a group for every unit of a part of the device.
void parts(benchmark::State& state, int count, unsigned part) {
  const auto units = runtime().device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  const cl::CommandQueue queue = runtime().queue(Order::out_of_order);
  const cl::Kernel kernel = runtime().kernel(source, "work");
  const size_t groups = std::max(1u, units / part);
  std::vector<cl::Buffer> outputs;
  for (int i = 0; i < count; ++i) outputs.push_back(runtime().buffer(groups * sizeof(cl_uint)));
  setArgument(kernel, 1, 2'000'000);
  for (auto _ : state) {
    for (const cl::Buffer& output : outputs) {
      clSetKernelArg(kernel(), 0, sizeof(cl_mem), &output());
      launch(queue, kernel, groups, 1);
    }
    queue.finish();
  }
}

// Two halves of the device in a context of their own; or, where it has none, it and another.
struct Parts {
  Parts() {
    if (runtime().device.getInfo<CL_DEVICE_PARTITION_MAX_SUB_DEVICES>() < 2)
      takeTwo();
    else
      divide();
    context = cl::Context(devices);
    program = cl::Program(context, std::string(source));
    program.build(devices);
  }

  void takeTwo() {
    const cl::Platform platform(runtime().device.getInfo<CL_DEVICE_PLATFORM>());
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (devices.size() < 2) throw cl::Error(CL_DEVICE_NOT_FOUND, "a second device");
    devices.resize(2);
  }

  void divide() {
    const auto units = runtime().device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    const cl_device_partition_property half[] = {CL_DEVICE_PARTITION_EQUALLY,
                                                 static_cast<intptr_t>(std::max(1u, units / 2)), 0};
    cl::Device whole = runtime().device;
    whole.createSubDevices(half, &devices);
    devices.resize(2);
  }

  std::vector<cl::Device> devices;
  cl::Context context;
  cl::Program program;
};

constexpr size_t items = 4 * mebibyte;  // 16 MiB
constexpr int inputs = 6;

// One device works through inputs that the other wrote. The time is what it stands still between
// two kernels: with `ahead` they are all in its queue, without the host waits for each.
void inputsOfAnother(benchmark::State& state, bool ahead) {
  const Parts parts;
  const cl::CommandQueue writer(parts.context, parts.devices[0]);
  const cl::CommandQueue reader(parts.context, parts.devices[1], cl::QueueProperties::Profiling);
  cl::Kernel kernel(parts.program, "add");
  const cl::Buffer sum(parts.context, CL_MEM_READ_WRITE, items * sizeof(float));
  std::vector<cl::Buffer> buffers;
  for (int i = 0; i < inputs; ++i)
    buffers.emplace_back(parts.context, CL_MEM_READ_WRITE, items * sizeof(float));
  kernel.setArg(1, sum);
  kernel.setArg(2, cl_uint{16});
  double least = 1e30;
  for (auto _ : state) {
    for (const cl::Buffer& buffer : buffers)
      writer.enqueueFillBuffer(buffer, 1.0F, 0, items * sizeof(float));
    reader.enqueueFillBuffer(sum, 0.0F, 0, items * sizeof(float));
    writer.finish();
    reader.finish();
    std::vector<cl::Event> events(inputs);
    double idle = 0;
    for (int i = 0; i < inputs; ++i) {
      kernel.setArg(0, buffers[i]);
      reader.enqueueNDRangeKernel(kernel, cl::NullRange, items, cl::NullRange, nullptr, &events[i]);
      if (!ahead) reader.finish();
    }
    reader.finish();
    for (int i = 1; i < inputs; ++i)
      idle += static_cast<double>(events[i].getProfilingInfo<CL_PROFILING_COMMAND_START>() -
                                  events[i - 1].getProfilingInfo<CL_PROFILING_COMMAND_END>());
    least = std::min(least, idle * 1e-3 / (inputs - 1));
  }
  state.counters["idle_us"] = least;
}

// A chain of commands, each of the other device than the one before: of two buffers in turns, which
// stay where they are, or all of one.
void chainOfDevices(benchmark::State& state, size_t bytes, bool moves) {
  constexpr int links = 1000;
  const Parts parts;
  cl::Kernel kernel(parts.program, "next");
  const size_t numbers = bytes / sizeof(cl_uint);
  std::vector<cl::CommandQueue> queues;
  std::vector<cl::Buffer> buffers;
  for (const cl::Device& device : parts.devices) {
    queues.emplace_back(parts.context, device);
    buffers.emplace_back(parts.context, CL_MEM_READ_WRITE, bytes);
  }
  for (auto _ : state) {
    for (const size_t i : {0, 1}) {
      queues[i].enqueueFillBuffer(buffers[i], cl_uint{1}, 0, bytes);
      queues[i].finish();
    }
    cl_uint expected = 1;
    std::vector<cl::Event> before;
    for (int i = 0; i < links; ++i) {
      const auto at = static_cast<size_t>(i % 2);
      kernel.setArg(0, buffers[moves ? 0 : at]);
      kernel.setArg(1, cl_uint(i));
      if (moves || at == 0) expected = expected * 3u + static_cast<cl_uint>(i);
      cl::Event event;
      queues[at].enqueueNDRangeKernel(kernel, cl::NullRange, numbers, cl::NullRange,
                                      i > 0 ? &before : nullptr, &event);
      before.assign(1, event);
    }
    for (const cl::CommandQueue& queue : queues) queue.flush();
    before.front().wait();
    std::vector<cl_uint> result(numbers);
    queues[0].enqueueReadBuffer(buffers[0], CL_TRUE, 0, bytes, result.data());
    if (std::count(result.begin(), result.end(), expected) != static_cast<ptrdiff_t>(numbers))
      reportWrong(state);
  }
  state.SetItemsProcessed(state.iterations() * links);
}

// A launch with access records on one of two devices, nothing to be moved.
void launchInParts(benchmark::State& state) {
  constexpr int launches = 10000;
  const Parts parts;
  const cl::CommandQueue queue(parts.context, parts.devices[0]);
  cl::Kernel kernel(parts.program, "add");
  const cl::Buffer a(parts.context, CL_MEM_READ_WRITE, 4096), b(parts.context, 0, 4096);
  kernel.setArg(0, a);
  kernel.setArg(1, b);
  kernel.setArg(2, cl_uint{0});
  const double begin = processSeconds();
  for (auto _ : state) {
    for (int i = 0; i < launches; ++i) launch(queue, kernel, 64, 64);
    queue.finish();
  }
  state.counters["cpu_ns/command"] =
      (processSeconds() - begin) * 1e9 / (static_cast<double>(state.iterations()) * launches);
}

// A second without commands; the queues were used just before.
void idle(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Kernel kernel = runtime().kernel(source, "work");
  const cl::Buffer output = runtime().buffer(4096);
  clSetKernelArg(kernel(), 0, sizeof(cl_mem), &output());
  setArgument(kernel, 1, 1);
  double used = 0;
  for (auto _ : state) {
    launch(queue, kernel, 64, 1);
    queue.finish();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const double before = processSeconds();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    used = std::max(used, processSeconds() - before);
  }
  state.counters["cpu_us"] = used * 1e6;
}

[[maybe_unused]] const Registered registered[] = {
    add("devices/halves/one", parts, 1, 2)->Unit(benchmark::kMillisecond),
    add("devices/halves/two", parts, 2, 2)->Unit(benchmark::kMillisecond),
    add("devices/halves/whole", parts, 1, 1)->Unit(benchmark::kMillisecond),
    add("devices/input/ahead", inputsOfAnother, true)->Unit(benchmark::kMillisecond),
    add("devices/input/waited", inputsOfAnother, false)->Unit(benchmark::kMillisecond),
    add("devices/chain/in_place", chainOfDevices, size_t(4) << 10, false)
        ->Unit(benchmark::kMillisecond),
    add("devices/chain/64_KiB", chainOfDevices, size_t(64) << 10, true)
        ->Unit(benchmark::kMillisecond),
    add("devices/launch", launchInParts)->Unit(benchmark::kMillisecond),
    add("devices/idle", idle)->Iterations(2)->Unit(benchmark::kMillisecond),
};

}  // namespace
}  // namespace weft::bench
