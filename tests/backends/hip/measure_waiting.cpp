// Words, memory, and the calls that wait for a stream that waits.
#include <sys/mman.h>

#include <cstring>

#include "hip_test_kernels.h"
#include "tests/backends/hip/measure.h"

namespace weft::test {
namespace {

void spinUntil(const hip::HostWord& word, uint32_t value) {
  while (word.value() < value) {
  }
}

void throughFinished(Bench& bench) {
  hip::HostWord in = bench.runtime.words.take();
  uint32_t turn = 0;
  // A command that the host runs between two of the device, by the completion thread and a word.
  const auto a = bench.device->createInOrderStream({});
  GpuLaunchCase launch(*bench.module, "empty", {1, 1, 1}, {1, 1, 1});
  std::vector<double> gaps;
  for (int i = 0; i < 200; ++i) {
    PlainOperation before, after;
    before.work = after.work = launch.whole();
    ++turn;
    before.then = [&] { in.release(turn); };
    a->submit(before);
    a->wait(in, turn);
    a->submit(after);
    after.wait();
    gaps.push_back(micros(after.begun - before.ended));
  }
  std::ranges::sort(gaps);
  row("kernel, finished() on the host, word, kernel: gap on the device", gaps[100], "us");
}

}  // namespace

void measureWaiting(Bench& bench) {
  const hip::Api& api = bench.api;
  RawStream stream(bench);
  hip::HostWord in = bench.runtime.words.take();
  const hip::HostWord out = bench.runtime.words.take();
  uint32_t turn = 0;
  const auto roundTrip = [&](const char* what, bool ahead, auto&& between) {
    row(what,
        medianMicros(300,
                     [&] {
                       ++turn;
                       if (!ahead) in.release(turn);
                       api.streamWaitValue32(stream.handle, in.device, turn, hip::wait_value_gte,
                                             ~0u);
                       between();
                       api.streamWriteValue32(stream.handle, out.device, turn, 0);
                       if (ahead) in.release(turn);
                       spinUntil(out, turn);
                     }),
        "us");
  };
  // The stream waits already; the clock starts at the release.
  std::vector<double> took;
  for (int i = 0; i < 300; ++i) {
    ++turn;
    api.streamWaitValue32(stream.handle, in.device, turn, hip::wait_value_gte, ~0u);
    api.streamWriteValue32(stream.handle, out.device, turn, 0);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    const port::Nanoseconds begin = hip::hostNow();
    in.release(turn);
    spinUntil(out, turn);
    took.push_back(micros(hip::hostNow() - begin));
  }
  std::ranges::sort(took);
  row("word: host releases, stream answers with a word (median)", took[150], "us");
  row("word: the same, 99th of 100", took[297], "us");
  roundTrip("word: submitting wait and answer included", true, [] {});
  auto* const host = new std::atomic<bool>(false);
  row("host function: submit to its run",
      medianMicros(300,
                   [&] {
                     host->store(false);
                     api.launchHostFunc(
                         stream.handle,
                         [](void* user) { static_cast<std::atomic<bool>*>(user)->store(true); },
                         host);
                     while (!host->load()) {
                     }
                   }),
      "us");
  roundTrip("word: with a host function between", true,
            [&] { api.launchHostFunc(stream.handle, [](void*) {}, nullptr); });
  throughFinished(bench);
}

namespace {

void bandwidth(Bench& bench, const char* what, const port::Location& from, const port::Location& to,
               size_t bytes) {
  // As a queue would: the first such stream opens the way to peers.
  const auto stream = bench.device->createStream(port::Order::in_order);
  const double us = medianMicros(5, [&] {
    PlainOperation operation;
    operation.work = port::Copy{from, to, {bytes, 1, 1}};
    stream->submit(operation);
    operation.wait();
  });
  row(what, double(bytes) / us * 1e-3, "GB/s");
}

void copies(Bench& bench) {
  constexpr size_t bytes = size_t(256) << 20;
  std::vector<std::byte> pinned(bytes), pageable(bytes);
  std::memset(pinned.data(), 1, bytes);
  std::memset(pageable.data(), 2, bytes);
  const auto device = bench.device->allocate(bytes, 8), second = bench.device->allocate(bytes, 8);
  const auto host = bench.device->import(pinned.data(), bytes);
  if (!host) return;
  bandwidth(bench, "copy of 256 MiB, pinned to device", {host.get()}, {device.get()}, bytes);
  bandwidth(bench, "copy of 256 MiB, device to pinned", {device.get()}, {host.get()}, bytes);
  bandwidth(bench, "copy of 256 MiB, ordinary to device, staged", {nullptr, pageable.data()},
            {device.get()}, bytes);
  bandwidth(bench, "copy of 256 MiB, device to ordinary, staged", {device.get()},
            {nullptr, pageable.data()}, bytes);
  bandwidth(bench, "copy of 256 MiB on the device", {device.get()}, {second.get()}, bytes);
  const bool has_peer = bench.devices.size() > 1;
  const auto there = has_peer ? bench.devices[1]->allocate(bytes, 8) : nullptr;
  if (there) bandwidth(bench, "copy of 256 MiB to a peer", {device.get()}, {there.get()}, bytes);
  RawStream raw(bench);
  hip::EventHandle event = nullptr;
  bench.api.eventCreateWithFlags(&event, hip::event_blocking_sync);
  const auto driver = [&](const char* what, void* to, const void* from) {
    const double us = medianMicros(5, [&] {
      bench.api.memcpyAsync(to, from, bytes, hip::copy_default, raw.handle);
      bench.api.eventRecord(event, raw.handle);
      bench.api.eventSynchronize(event);
    });
    row(what, double(bytes) / us * 1e-3, "GB/s");
  };
  auto* const address = reinterpret_cast<void*>(device->deviceAddress());
  driver("copy of 256 MiB, ordinary to device, by the driver", address, pageable.data());
  driver("copy of 256 MiB, device to ordinary, by the driver", pageable.data(), address);
  driver("copy of 256 MiB, pinned to device, by the driver", address, pinned.data());
  driver("copy of 256 MiB, device to pinned, by the driver", pinned.data(), address);
  if (there)
    driver("copy of 256 MiB to a peer, by the driver",
           reinterpret_cast<void*>(there->deviceAddress()), address);
  uint32_t word = 0;
  const auto small = [&](const char* what, std::byte* to, bool with_word) {
    const auto stream = bench.device->createInOrderStream({.word = with_word});
    row(what,
        medianMicros(300,
                     [&] {
                       PlainOperation operation;
                       operation.work = copyToHost(*device, to, 4);
                       operation.timed = operation.wants_start = operation.observed = false;
                       stream->submit(operation);
                       stream->assist([&] { return operation.seen != 0; });
                       operation.wait();
                     }),
        "us");
  };
  for (const bool with_word : {false, true}) {
    std::printf("with %s:\n", with_word ? "word" : "query");
    small("  read of 4 bytes into pinned memory, to finished()", pinned.data(), with_word);
    small("  read of 4 bytes into ordinary memory, to finished()",
          reinterpret_cast<std::byte*>(&word), with_word);
  }
}

void pinning(Bench& bench) {
  for (const size_t mib : {1, 16, 256}) {
    const size_t bytes = mib << 20;
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, bytes);
    port::Nanoseconds begin = hip::hostNow();
    must(bench, bench.api.hostRegister(memory, bytes, hip::host_portable | hip::host_mapped),
         "pin");
    const double pin = micros(hip::hostNow() - begin);
    begin = hip::hostNow();
    bench.api.hostUnregister(memory);
    std::printf("pinning %zu MiB of touched memory: %.0f us, unpinning %.0f us\n", mib, pin,
                micros(hip::hostNow() - begin));
    munmap(memory, bytes);
  }
}

}  // namespace

void measureMemory(Bench& bench) {
  copies(bench);
  pinning(bench);
  const hip::Api& api = bench.api;
  RawStream stream(bench);
  row("malloc + free, 1 MiB, idle device",
      medianMicros(100,
                   [&] {
                     void* p = nullptr;
                     api.malloc(&p, 1 << 20);
                     api.free(p);
                   }),
      "us");
  row("malloc + free, 64 MiB, idle device",
      medianMicros(30,
                   [&] {
                     void* p = nullptr;
                     api.malloc(&p, 64 << 20);
                     api.free(p);
                   }),
      "us");
  row("mallocAsync + freeAsync, 1 MiB",
      medianMicros(100,
                   [&] {
                     void* p = nullptr;
                     api.mallocAsync(&p, 1 << 20, stream.handle);
                     api.freeAsync(p, stream.handle);
                   }),
      "us");
}

namespace {

// How long a call takes while a stream of the device waits for a word; the word is released after
// 300 ms whatever happens, so a call that takes as long had waited for it.
void whileWaiting(Bench& bench, const char* what, const std::function<void()>& call) {
  const hip::Api& api = bench.api;
  RawStream blocked(bench);
  hip::HostWord word = bench.runtime.words.take();
  api.streamWaitValue32(blocked.handle, word.device, 1, hip::wait_value_gte, ~0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    word.release(1);
  });
  const port::Nanoseconds begin = hip::hostNow();
  call();
  const double took = micros(hip::hostNow() - begin);
  watchdog.join();
  std::printf("while a stream waits: %-42s %10.1f us%s\n", what, took,
              took > 250e3 ? "   WAITS FOR IT" : "");
  std::fflush(stdout);
}

// So many streams wait; does one more still run?
void waitingStreams(Bench& bench) {
  const hip::Api& api = bench.api;
  hip::HostWord word = bench.runtime.words.take();
  const hip::HostWord out = bench.runtime.words.take();
  std::vector<std::unique_ptr<RawStream>> waiting;
  RawStream other(bench);
  for (int n = 1; n <= 160; ++n) {
    waiting.push_back(std::make_unique<RawStream>(bench));
    api.streamWaitValue32(waiting.back()->handle, word.device, 1, hip::wait_value_gte, ~0u);
    api.streamWriteValue32(other.handle, out.device, static_cast<uint32_t>(n), 0);
    const port::Nanoseconds give_up = hip::hostNow() + 200'000'000;
    while (out.value() < static_cast<uint32_t>(n) && hip::hostNow() < give_up) {
    }
    if (out.value() == static_cast<uint32_t>(n)) continue;
    row("streams that wait until an unrelated stream stands still", n, "");
    word.release(1);
    return;
  }
  row("streams that wait with an unrelated stream still running", 160, "");
  word.release(1);
}

// Does the driver's newer way to load code wait, too? It knows no contexts.
void libraries(Bench& bench) {
  using Load =
      hip::Status (*)(void**, const void*, void*, void**, unsigned, void*, void**, unsigned);
  using Get = hip::Status (*)(void**, void*, const char*);
  using Function = hip::Status (*)(hip::FunctionHandle*, void*);
  const std::string names[] = {"libcuda.so.1"};
  const hip::Library driver = hip::Library::open(names);
  const auto load = reinterpret_cast<Load>(driver.find("cuLibraryLoadData"));
  const auto get = reinterpret_cast<Get>(driver.find("cuLibraryGetKernel"));
  const auto function_of = reinterpret_cast<Function>(driver.find("cuKernelGetFunction"));
  if (!load || !get || !function_of) return;
  void* library = nullptr;
  void* kernel = nullptr;
  hip::FunctionHandle function = nullptr;
  RawStream stream(bench);
  port::GpuLaunch launch;
  void* parameters[] = {&launch};
  whileWaiting(bench, "library load (no context)", [&] {
    must(bench, load(&library, hip_test_kernels, nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
  });
  whileWaiting(bench, "library's kernel as a function", [&] {
    must(bench, get(&kernel, library, "empty"), "kernel");
    must(bench, function_of(&function, kernel), "function");
  });
  whileWaiting(bench, "first launch of a library's kernel", [&] {
    bench.api.moduleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream.handle, parameters, nullptr);
  });
}

}  // namespace

void measureHazards(Bench& bench) {
  const hip::Api& api = bench.api;
  RawStream stream(bench);
  void* device = nullptr;
  void* host = nullptr;
  static std::vector<std::byte> pageable(1 << 20);
  hip::ModuleHandle module = nullptr;
  hip::FunctionHandle function = nullptr;
  hip::StreamHandle made = nullptr;
  port::GpuLaunch launch;
  void* parameters[] = {&launch};
  whileWaiting(bench, "malloc 1 MiB", [&] { api.malloc(&device, 1 << 20); });
  whileWaiting(bench, "free 1 MiB", [&] { api.free(device); });
  whileWaiting(bench, "malloc 1 GiB", [&] { api.malloc(&device, 1 << 30); });
  whileWaiting(bench, "free 1 GiB", [&] { api.free(device); });
  whileWaiting(bench, "hostMalloc 16 MiB", [&] { api.hostMalloc(&host, 16 << 20, 3); });
  whileWaiting(bench, "hostFree 16 MiB", [&] { api.hostFree(host); });
  whileWaiting(bench, "hostRegister", [&] { api.hostRegister(pageable.data(), 1 << 20, 3); });
  whileWaiting(bench, "hostUnregister", [&] { api.hostUnregister(pageable.data()); });
  whileWaiting(bench, "stream create", [&] { api.streamCreateWithFlags(&made, 1); });
  whileWaiting(bench, "stream destroy", [&] { api.streamDestroy(made); });
  whileWaiting(bench, "module load",
               [&] { api.moduleLoadDataEx(&module, hip_test_kernels, 0, nullptr, nullptr); });
  whileWaiting(bench, "get function", [&] { api.moduleGetFunction(&function, module, "empty"); });
  whileWaiting(bench, "first launch of a kernel, not asked about", [&] {
    api.moduleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream.handle, parameters, nullptr);
  });
  api.moduleGetFunction(&function, module, "add_one");
  int value = 0;
  whileWaiting(bench, "get attribute of a new kernel", [&] {
    api.funcGetAttribute(&value, hip::FunctionAttribute::shared_size_bytes, function);
  });
  whileWaiting(bench, "module unload", [&] { api.moduleUnload(module); });
  api.malloc(&device, 1 << 20);
  whileWaiting(bench, "copy 4 B, ordinary to device, by the driver", [&] {
    api.memcpyAsync(device, pageable.data(), 4, hip::copy_default, stream.handle);
  });
  whileWaiting(bench, "copy 1 MiB, ordinary to device, by the driver", [&] {
    api.memcpyAsync(device, pageable.data(), 1 << 20, hip::copy_default, stream.handle);
  });
  whileWaiting(bench, "copy 4 B, device to ordinary, by the driver", [&] {
    api.memcpyAsync(pageable.data(), device, 4, hip::copy_default, stream.handle);
  });
  whileWaiting(bench, "host function to its run, other stream", [&] {
    static std::atomic<bool> ran;
    ran = false;
    api.launchHostFunc(stream.handle, [](void*) { ran = true; }, nullptr);
    const port::Nanoseconds give_up = hip::hostNow() + 290'000'000;
    while (!ran && hip::hostNow() < give_up) {
    }
  });
  whileWaiting(bench, "mallocAsync 1 MiB, other stream", [&] {
    void* p = nullptr;
    api.mallocAsync(&p, 1 << 20, stream.handle);
    api.freeAsync(p, stream.handle);
  });
  libraries(bench);
  waitingStreams(bench);
}

}  // namespace weft::test
