// What the measuring program shares: one GPU, raw handles, a table of results.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "tests/backends/hip/hip_test.h"

namespace weft::test {

// The device under measurement and a raw module of kernels.cl beside the backend's own.
struct Bench {
  std::shared_ptr<hip::Device> device;
  std::vector<std::shared_ptr<hip::Device>> devices;
  std::unique_ptr<port::Module> module;
  const hip::Api& api;
  hip::Runtime& runtime;
};

inline double micros(port::Nanoseconds ns) { return static_cast<double>(ns) * 1e-3; }

inline void row(const char* what, double value, const char* unit) {
  std::printf("%-64s %10.2f %s\n", what, value, unit);
  std::fflush(stdout);
}

inline void must(const Bench& bench, hip::Status status, const char* what) {
  if (status != hip::success)
    std::printf("%s: %s\n", what, hip::describe(bench.api, status).c_str());
}

template <class Run>
double medianMicros(int times, Run&& run) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    const port::Nanoseconds begin = hip::hostNow();
    run();
    took.push_back(micros(hip::hostNow() - begin));
  }
  std::ranges::sort(took);
  return took[took.size() / 2];
}

// An operation that says when it finished without waking anyone.
class PlainOperation final : public port::Operation {
 public:
  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus status, port::Nanoseconds start,
                port::Nanoseconds end) noexcept override {
    begun = start;
    ended = end;
    result = status;
    if (then) then();
    seen.store(hip::hostNow(), std::memory_order_release);
  }
  void wait() const {
    while (seen.load(std::memory_order_acquire) == 0) {
    }
  }
  std::function<void()> then;
  std::atomic<port::Nanoseconds> seen{0};
  port::Nanoseconds begun = 0, ended = 0;
  port::OperationStatus result = 0;
};

struct RawStream {
  explicit RawStream(const Bench& bench) : api(bench.api) {
    must(bench, api.streamCreateWithFlags(&handle, hip::stream_non_blocking), "stream");
  }
  ~RawStream() { api.streamDestroy(handle); }
  const hip::Api& api;
  hip::StreamHandle handle = nullptr;
};

void measureCalls(Bench& bench);       // what each call of the runtime costs
void measureOperations(Bench& bench);  // submit, completion, chains
void measureWaiting(Bench& bench);     // words and events
void measureMemory(Bench& bench);      // copies, pinning, allocation
void measureHazards(Bench& bench);     // which calls wait for a stream that waits

}  // namespace weft::test
