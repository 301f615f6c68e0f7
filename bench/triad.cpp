// The bandwidth of sub-devices that each work on arrays of their own, beside that of the whole
// device on arrays as large as theirs together.
#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr const char* source = R"(
kernel void fill(global float* a, global float* b, global float* c) {
  const size_t i = get_global_id(0);
  a[i] = 0.0f;
  b[i] = i % 1024;
  c[i] = 2.0f;
}
kernel void triad(global float* a, global const float* b, global const float* c) {
  const size_t i = get_global_id(0);
  a[i] = b[i] + 3.0f * c[i];
}
)";

constexpr size_t items = 48 * mebibyte;  // of each array, over all devices: 576 MiB in all
constexpr size_t local_size = 256;
// Launches per device on average, in each of the benchmark's rounds, and how many of them a thread
// of the host, one for each device, enqueues before it waits.
constexpr size_t launches = 160, batch = 2;

// One device's share. Its kernel is the first to touch its arrays.
struct Share {
  Share(const cl::Context& context, const cl::Program& program, const cl::Device& device,
        size_t count)
      : items(count / local_size * local_size),
        queue(context, device),
        fill(program, "fill"),
        triad(program, "triad") {
    for (cl_uint i = 0; i < 3; ++i) {
      arrays.emplace_back(context, CL_MEM_READ_WRITE, items * sizeof(float));
      fill.setArg(i, arrays.back());
      triad.setArg(i, arrays.back());
    }
    launch(queue, fill, items, local_size);
    queue.finish();
  }
  bool isRight() const {
    float last = 0;
    queue.enqueueReadBuffer(arrays[0], CL_TRUE, (items - 1) * sizeof last, sizeof last, &last);
    return last == static_cast<float>((items - 1) % 1024) + 6.0f;
  }

  size_t items;
  cl::CommandQueue queue;
  cl::Kernel fill, triad;
  std::vector<cl::Buffer> arrays;
};

void onDevices(benchmark::State& state, const std::vector<cl::Device>& devices) {
  const cl::Context context(devices);
  cl::Program program(context, std::string(source));
  program.build(devices);
  std::vector<Share> shares;
  for (const cl::Device& device : devices)
    shares.emplace_back(context, program, device, items / devices.size());
  size_t bytes = 0;
  for (const Share& share : shares) bytes += 3 * sizeof(float) * share.items;
  for (auto _ : state) {
    // Devices do not wait for each other: who is faster does more.
    std::atomic<size_t> begun{0};
    std::vector<std::future<void>> threads;
    for (const Share& share : shares)
      threads.push_back(std::async(std::launch::async, [&] {
        while (begun.fetch_add(batch) < launches * shares.size()) {
          for (size_t i = 0; i < batch; ++i)
            launch(share.queue, share.triad, share.items, local_size);
          share.queue.finish();
        }
      }));
    for (std::future<void>& thread : threads) thread.get();
  }
  for (const Share& share : shares)
    if (!share.isRight()) reportWrong(state);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * launches * bytes));
  state.counters["devices"] = static_cast<double>(devices.size());
}

void whole(benchmark::State& state) { onDevices(state, {runtime().device}); }

// As many equal sub-devices; one per compute unit at the most.
void equally(benchmark::State& state, cl_uint parts) {
  cl::Device device = runtime().device;
  const auto units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  const cl_uint each = std::max(1u, units / std::min(parts, units));
  const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_EQUALLY,
                                                     static_cast<intptr_t>(each), 0};
  std::vector<cl::Device> devices;
  device.createSubDevices(properties, &devices);
  onDevices(state, devices);
}

// Along the first domain that divides the device: NUMA nodes where there are several.
void byDomain(benchmark::State& state) {
  cl::Device device = runtime().device;
  const cl_device_partition_property properties[] = {
      CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, 0};
  std::vector<cl::Device> devices;
  device.createSubDevices(properties, &devices);
  onDevices(state, devices);
}

[[maybe_unused]] const Registered registered[] = {
    add("triad/whole", whole)->Unit(benchmark::kMillisecond),
    add("triad/parts/2", equally, 2u)->Unit(benchmark::kMillisecond),
    add("triad/parts/4", equally, 4u)->Unit(benchmark::kMillisecond),
    add("triad/parts/each_unit", equally, ~0u)->Unit(benchmark::kMillisecond),
    add("triad/parts/next_domain", byDomain)->Unit(benchmark::kMillisecond),
};

}  // namespace
}  // namespace weft::bench
