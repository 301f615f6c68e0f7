// Figures of the backend on this machine's first GPU. Not a test: it asserts nothing.
#include "tests/backends/hip/measure.h"

#include "hip_test_kernels.h"

namespace weft::test {

namespace {

// Times calls on a stream of its own.
class Calls {
 public:
  explicit Calls(Bench& bench) : api(bench.api), stream(bench) {
    for (auto& event : timed) api.eventCreateWithFlags(&event, hip::event_blocking_sync);
    api.eventCreateWithFlags(&plain, hip::event_blocking_sync | hip::event_disable_timing);
  }
  void drain() const {
    api.eventRecord(plain, stream.handle);
    api.eventSynchronize(plain);
  }
  // The mean of many calls in a row on an empty stream, then with the stream drained.
  template <class Call>
  void mean(const char* what, Call&& call) const {
    constexpr int n = 2000;
    call();
    drain();
    const port::Nanoseconds begin = hip::hostNow();
    for (int i = 0; i < n; ++i) call();
    const double took = micros(hip::hostNow() - begin) / n;
    drain();
    const double all = micros(hip::hostNow() - begin) / n;
    std::printf("%-64s %10.2f us (%.2f with the device's part)\n", what, took, all);
  }

  const hip::Api& api;
  RawStream stream;
  hip::EventHandle timed[2] = {}, plain = nullptr;
};

void eventCalls(const Calls& c) {
  const hip::Api& api = c.api;
  c.mean("enter + leave (context current)", [&] { const hip::Current current(api, 0); });
  c.mean("host clock", [&] { hip::hostNow(); });
  c.mean("event record, timed", [&] { api.eventRecord(c.timed[0], c.stream.handle); });
  c.mean("event record, no timing", [&] { api.eventRecord(c.plain, c.stream.handle); });
  c.mean("event query, done", [&] { api.eventQuery(c.plain); });
  api.eventRecord(c.timed[0], c.stream.handle);
  api.eventRecord(c.timed[1], c.stream.handle);
  c.drain();
  float ms = 0;
  c.mean("event elapsed time", [&] { api.eventElapsedTime(&ms, c.timed[0], c.timed[1]); });
  api.eventElapsedTime(&ms, c.timed[1], c.timed[0]);
  row("elapsed time of two events, backwards", ms * 1e3, "us");
}

void launchCalls(Bench& bench, const Calls& c) {
  const hip::Api& api = c.api;
  hip::ModuleHandle module = nullptr;
  port::Nanoseconds begin = hip::hostNow();
  must(bench, api.moduleLoadDataEx(&module, hip_test_kernels, 0, nullptr, nullptr), "load");
  row("module load, PTX already seen by this process", micros(hip::hostNow() - begin), "us");
  hip::FunctionHandle bare = nullptr, hidden = nullptr;
  api.moduleGetFunction(&bare, module, "empty_bare");
  api.moduleGetFunction(&hidden, module, "empty");
  port::GpuLaunch launch;
  void* parameters[] = {&launch};
  c.mean("launch of an empty kernel, no parameter", [&] {
    api.moduleLaunchKernel(bare, 1, 1, 1, 1, 1, 1, 0, c.stream.handle, nullptr, nullptr);
  });
  c.mean("launch of an empty kernel, 160 bytes of launch structure", [&] {
    api.moduleLaunchKernel(hidden, 1, 1, 1, 1, 1, 1, 0, c.stream.handle, parameters, nullptr);
  });
  const hip::HostWord word = bench.runtime.words.take();
  c.mean("stream write value", [&] { api.streamWriteValue32(c.stream.handle, word.device, 7, 0); });
  c.mean("stream wait value, fulfilled",
         [&] { api.streamWaitValue32(c.stream.handle, word.device, 0, hip::wait_value_gte, ~0u); });
  c.mean("host function", [&] { api.launchHostFunc(c.stream.handle, [](void*) {}, nullptr); });
  c.mean("launch, event without timing", [&] {
    api.moduleLaunchKernel(hidden, 1, 1, 1, 1, 1, 1, 0, c.stream.handle, parameters, nullptr);
    api.eventRecord(c.plain, c.stream.handle);
  });
  c.mean("launch, event without timing, word", [&] {
    api.moduleLaunchKernel(hidden, 1, 1, 1, 1, 1, 1, 0, c.stream.handle, parameters, nullptr);
    api.eventRecord(c.plain, c.stream.handle);
    api.streamWriteValue32(c.stream.handle, word.device, 7, 0);
  });
  c.mean("event with timing, launch, event with timing", [&] {
    api.eventRecord(c.timed[0], c.stream.handle);
    api.moduleLaunchKernel(hidden, 1, 1, 1, 1, 1, 1, 0, c.stream.handle, parameters, nullptr);
    api.eventRecord(c.timed[1], c.stream.handle);
  });
  const auto chunk = bench.runtime.staging.take(64);
  const auto memory = bench.device->allocate(4096, 8);
  auto* const address = reinterpret_cast<void*>(memory->deviceAddress());
  c.mean("copy of 4 bytes from pinned memory",
         [&] { api.memcpyAsync(address, chunk.host, 4, hip::copy_default, c.stream.handle); });
  c.mean("fill of 4 KiB", [&] { api.memsetD32Async(address, 1, 1024, c.stream.handle); });
  api.moduleUnload(module);
}

}  // namespace

void measureCalls(Bench& bench) {
  const Calls calls(bench);
  eventCalls(calls);
  launchCalls(bench, calls);
}

namespace {

enum class Asked : uint8_t { nothing, its_end, times };

const char* nameOf(Asked asked) {
  constexpr const char* names[] = {"nothing asked", "end asked", "times asked"};
  return names[static_cast<int>(asked)];
}

void ask(port::Operation& operation, Asked asked) {
  operation.timed = operation.wants_start = asked == Asked::times;
  operation.observed = asked != Asked::nothing;
}

void throughput(Bench& bench, Asked asked, bool word) {
  constexpr size_t n = 20000;
  const auto stream = bench.device->createInOrderStream({.word = word});
  GpuLaunchCase launch(*bench.module, "empty", {1, 1, 1}, {1, 1, 1});
  std::vector<PlainOperation> operations(n);
  for (auto& operation : operations) {
    operation.work = launch.whole();
    ask(operation, asked);
  }
  for (size_t i = 0; i < 100; ++i) stream->submit(operations[i]);
  stream->flush();
  operations[99].wait();
  const port::Nanoseconds begin = hip::hostNow();
  for (size_t i = 100; i < n; ++i) stream->submit(operations[i]);
  const port::Nanoseconds submitted = hip::hostNow();
  stream->flush();
  operations.back().wait();
  std::printf("operations, %-20s, %s: submit %.2f us, finished %.2f us each\n", nameOf(asked),
              word ? "word" : "query", micros(submitted - begin) / (n - 100),
              micros(hip::hostNow() - begin) / (n - 100));
}

// Submit to finished() of one operation on an idle stream, and how long after its end it was seen.
void latency(Bench& bench, port::Nanoseconds spin, std::chrono::microseconds idle,
             port::Nanoseconds kernel, bool assist, Asked asked, bool word) {
  const auto stream = bench.device->createInOrderStream({.spin_ns = spin, .word = word});
  const auto memory = bench.device->allocate(4, 4);
  GpuLaunchCase launch(*bench.module, kernel ? "spin" : "empty", {1, 1, 1}, {1, 1, 1});
  if (kernel) launch.value(uint64_t(kernel)).memory(memory.get());
  std::vector<double> whole, seen, submit;
  for (int i = 0; i < 200; ++i) {
    if (idle.count()) std::this_thread::sleep_for(idle);
    PlainOperation operation;
    operation.work = launch.whole();
    ask(operation, asked);
    const port::Nanoseconds begin = hip::hostNow();
    stream->submit(operation);
    submit.push_back(micros(hip::hostNow() - begin));
    if (assist)
      stream->assist([&] { return operation.seen != 0; });
    else
      stream->flush();
    operation.wait();
    whole.push_back(micros(operation.seen - begin));
    seen.push_back(micros(operation.seen - operation.ended));
  }
  const auto median = [](std::vector<double>& v) {
    std::ranges::sort(v);
    return v[v.size() / 2];
  };
  std::printf(
      "latency: %s, %s, %s, spin %4llu us, idle %5lld us, kernel %4llu us: submit %.1f, to "
      "finished "
      "%.1f, after its end %.1f us\n",
      assist ? "assisted" : "thread", nameOf(asked), word ? "word" : "query",
      static_cast<unsigned long long>(spin / 1000), static_cast<long long>(idle.count()),
      static_cast<unsigned long long>(kernel / 1000), median(submit), median(whole), median(seen));
}

void processorTime(Bench& bench) {
  const auto stream = bench.device->createInOrderStream({});
  const auto memory = bench.device->allocate(4, 4);
  GpuLaunchCase launch(*bench.module, "spin", {1, 1, 1}, {1, 1, 1});
  launch.value(uint64_t(300'000'000)).memory(memory.get());
  TestOperation operation(launch.whole());
  timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  stream->submit(operation);
  operation.wait();
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  row("processor time while a kernel of 300 ms runs",
      double(after.tv_sec - before.tv_sec) * 1e3 + double(after.tv_nsec - before.tv_nsec) * 1e-6,
      "ms");
}

// Links alternate between two streams.
void chains(Bench& bench, hip::StreamOptions options) {
  constexpr int n = 1000;
  std::unique_ptr<hip::InOrderStream> streams[] = {bench.device->createInOrderStream(options),
                                                   bench.device->createInOrderStream(options)};
  std::printf("chains over two streams, %s\n", options.word ? "word" : "query");
  GpuLaunchCase launch(*bench.module, "empty", {1, 1, 1}, {1, 1, 1});
  std::vector<PlainOperation> operations(n);
  for (auto& operation : operations) {
    operation.work = launch.whole();
    ask(operation, Asked::nothing);
  }
  port::Nanoseconds begin = hip::hostNow();
  for (int i = 0; i < n; ++i) {
    const port::Operation* const before = i ? &operations[i - 1] : nullptr;
    if (before) operations[i].behind = {&before, 1};
    streams[i % 2]->submit(operations[i]);
  }
  for (auto& stream : streams) stream->flush();
  operations.back().wait();
  row("  fences on the device, each link", micros(hip::hostNow() - begin) / n, "us");
  std::vector<PlainOperation> again(n);
  for (int i = 0; i < n; ++i) {
    again[i].work = launch.whole();
    ask(again[i], Asked::its_end);
    if (i + 1 < n) again[i].then = [&, i] { streams[(i + 1) % 2]->submit(again[i + 1]); };
  }
  begin = hip::hostNow();
  streams[0]->submit(again[0]);
  again.back().wait();
  row("  through finished(), each link", micros(hip::hostNow() - begin) / n, "us");
}

void clockQuality(Bench& bench) {
  auto& clock = bench.device->context()->clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const auto first = clock.base(hip::hostNow());
  row("time base, uncertainty +-", micros(first->uncertainty), "us");
  for (int second = 1; second <= 3; ++second) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    const port::Nanoseconds begin = hip::hostNow();
    const auto next = clock.base(begin);
    const double cost = micros(hip::hostNow() - begin);
    const double by_device = micros(clock.time(*first, next->event));
    std::printf("time base renewed in %.1f us; device against host after %d s: %+.2f us\n", cost,
                second, by_device - micros(next->host));
  }
}

}  // namespace

void measureOperations(Bench& bench) {
  using std::chrono::microseconds;
  for (const Asked asked : {Asked::nothing, Asked::its_end, Asked::times})
    for (const bool word : {false, true}) throughput(bench, asked, word);
  for (const bool word : {false, true})
    for (const Asked asked : {Asked::nothing, Asked::its_end, Asked::times})
      for (const bool assist : {false, true})
        for (const auto idle : {microseconds(0), microseconds(2000)})
          latency(bench, 30'000, idle, 0, assist, asked, word);
  for (const bool word : {false, true})
    for (const bool assist : {false, true})
      latency(bench, 30'000, microseconds(2000), 200'000, assist, Asked::its_end, word);
  processorTime(bench);
  for (const bool word : {false, true}) chains(bench, {.word = word});
  clockQuality(bench);
}

}  // namespace weft::test

// With an argument: only what waits for what.
int main(int argc, char**) {
  using namespace weft;
  auto devices = test::devicesOf(test::Subject::gpu);
  if (devices.empty()) return 1;
  const auto& device = devices.front();
  const hip::Current current(device->context()->api, 0);
  port::Nanoseconds begin = hip::hostNow();
  auto module = device->load(test::gpuImage(device->target()));
  std::printf("%s, %s, %u compute units, driver %s, %zu devices\n",
              device->capabilities().name.c_str(), device->target().cpu.c_str(),
              device->capabilities().compute_units, device->capabilities().driver_version.c_str(),
              devices.size());
  test::row("module load, first", test::micros(hip::hostNow() - begin), "us");
  test::Bench bench{device, devices, std::move(module), device->context()->api,
                    *device->context()->runtime};
  if (argc == 1) {
    test::measureCalls(bench);
    test::measureOperations(bench);
    test::measureWaiting(bench);
    test::measureMemory(bench);
  }
  test::measureHazards(bench);
  // Handles left by calls that were cut short are the process's to end.
  std::fflush(stdout);
  std::_Exit(0);
}
