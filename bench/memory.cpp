// Reading, writing, copying and mapping buffers: 64 MiB for the bandwidth, 4 bytes for the latency.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr size_t bytes = 64 * mebibyte;

std::vector<cl_uchar> pattern() {
  std::vector<cl_uchar> host(bytes);
  for (size_t i = 0; i < bytes; ++i) host[i] = static_cast<cl_uchar>(i * 131 >> 7);
  return host;
}

void writeBuffer(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Buffer buffer = runtime().buffer(bytes);
  const std::vector<cl_uchar> host = pattern();
  queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, host.data());
  for (auto _ : state) queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, host.data());
  std::vector<cl_uchar> result(bytes);
  queue.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, result.data());
  if (result != host) reportWrong(state);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

// Each iteration writes a buffer that was never touched, and gives it back.
void writeFirstTouch(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const std::vector<cl_uchar> host = pattern();
  for (auto _ : state) {
    const cl::Buffer buffer = runtime().buffer(bytes);
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, host.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

// A new buffer with contents, which a command then copies.
void createWithContents(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  std::vector<cl_uchar> host = pattern();
  const cl::Buffer target = runtime().buffer(bytes);
  for (auto _ : state) {
    const cl::Buffer buffer(runtime().context, CL_MEM_COPY_HOST_PTR, bytes, host.data());
    queue.enqueueCopyBuffer(buffer, target, 0, 0, bytes);
    queue.finish();
  }
  std::vector<cl_uchar> result(bytes);
  queue.enqueueReadBuffer(target, CL_TRUE, 0, bytes, result.data());
  if (result != host) reportWrong(state);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void readBuffer(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Buffer buffer = runtime().buffer(bytes);
  const std::vector<cl_uchar> host = pattern();
  std::vector<cl_uchar> result(bytes);
  queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, host.data());
  for (auto _ : state) queue.enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, result.data());
  if (result != host) reportWrong(state);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void copyBuffer(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Buffer from = runtime().buffer(bytes), to = runtime().buffer(bytes);
  const std::vector<cl_uchar> host = pattern();
  queue.enqueueWriteBuffer(from, CL_TRUE, 0, bytes, host.data());
  queue.enqueueCopyBuffer(from, to, 0, 0, bytes);
  queue.finish();
  for (auto _ : state) {
    queue.enqueueCopyBuffer(from, to, 0, 0, bytes);
    queue.finish();
  }
  std::vector<cl_uchar> result(bytes);
  queue.enqueueReadBuffer(to, CL_TRUE, 0, bytes, result.data());
  if (result != host) reportWrong(state);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

// The program reads every byte through the pointer that it gets.
// The same without OpenCL: memcpy of one thread, or of one for each processor with its share.
void hostCopy(benchmark::State& state, bool all) {
  const std::vector<cl_uchar> from = pattern();
  std::vector<cl_uchar> to(bytes);
  const size_t threads = all ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  const size_t share = bytes / threads;
  std::barrier<> turn(static_cast<std::ptrdiff_t>(threads + 1));
  std::atomic<bool> stop{false};
  std::vector<std::jthread> copiers;
  for (size_t i = 0; i < threads; ++i)
    copiers.emplace_back([&, begin = i * share, end = i + 1 == threads ? bytes : (i + 1) * share] {
      for (turn.arrive_and_wait(); !stop; turn.arrive_and_wait()) {
        std::memcpy(to.data() + begin, from.data() + begin, end - begin);
        turn.arrive_and_wait();
      }
    });
  for (auto _ : state) {
    turn.arrive_and_wait();
    turn.arrive_and_wait();
  }
  stop = true;
  turn.arrive_and_wait();
  copiers.clear();
  if (to != from) reportWrong(state);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void mapBuffer(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Buffer buffer = runtime().buffer(bytes);
  const std::vector<cl_uchar> host = pattern();
  queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes, host.data());
  for (auto _ : state) {
    void* mapped = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ, 0, bytes);
    if (std::memcmp(mapped, host.data(), bytes) != 0) reportWrong(state);
    queue.enqueueUnmapMemObject(buffer, mapped);
    queue.finish();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void readFourBytes(benchmark::State& state) {
  const cl::CommandQueue queue = runtime().queue();
  const cl::Buffer buffer = runtime().buffer(4096);
  const cl_uint value = 0x12345678;
  queue.enqueueWriteBuffer(buffer, CL_TRUE, 64, sizeof value, &value);
  cl_uint result = 0;
  for (auto _ : state) {
    queue.enqueueReadBuffer(buffer, CL_TRUE, 64, sizeof result, &result);
    benchmark::DoNotOptimize(result);
  }
  if (result != value) reportWrong(state);
}

[[maybe_unused]] const Registered registered[] = {
    add("memory/write", writeBuffer)->Unit(benchmark::kMillisecond),
    add("memory/write_first_touch", writeFirstTouch)->Unit(benchmark::kMillisecond),
    add("memory/create_with_contents", createWithContents)->Unit(benchmark::kMillisecond),
    add("memory/read", readBuffer)->Unit(benchmark::kMillisecond),
    add("memory/copy", copyBuffer)->Unit(benchmark::kMillisecond),
    add("memory/host/copy", hostCopy, false)->Unit(benchmark::kMillisecond),
    add("memory/host/copy_by_all", hostCopy, true)->Unit(benchmark::kMillisecond),
    add("memory/map", mapBuffer)->Unit(benchmark::kMillisecond),
    add("memory/read_4_bytes", readFourBytes),
};

}  // namespace
}  // namespace weft::bench
