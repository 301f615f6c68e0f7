// The same triad by threads of the host, one for each processor, as STREAM has it: what the memory
// gives. With plain stores, for which a processor reads each line first, as compilers make them;
// and with stores past the caches.
#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "bench/runtime.h"

namespace weft::bench {
namespace {

constexpr size_t items = 48 * mebibyte;  // of each array
constexpr size_t turns = 160;            // in each of the benchmark's rounds
constexpr size_t line = 64;

struct Free {
  void operator()(float* array) const { std::free(array); }
};
using Array = std::unique_ptr<float, Free>;

// A thread's share, which it is the first to touch.
struct Share {
  explicit Share(size_t count) : count(count / line * line) {
    for (Array* array : {&a, &b, &c})
      array->reset(static_cast<float*>(std::aligned_alloc(line, this->count * sizeof(float))));
    for (size_t i = 0; i < this->count; ++i) {
      a.get()[i] = 0;
      b.get()[i] = static_cast<float>(i % 1024);
      c.get()[i] = 2;
    }
  }
  bool isRight() const {
    return a.get()[count - 1] == static_cast<float>((count - 1) % 1024) + 6.0f;
  }

  size_t count;
  Array a, b, c;
};

void plain(const Share& share) {
  float* __restrict a = share.a.get();
  const float* __restrict b = share.b.get(), * __restrict c = share.c.get();
  for (size_t i = 0; i < share.count; ++i) a[i] = b[i] + 3.0f * c[i];
}

#ifdef __SSE2__
void pastTheCaches(const Share& share) {
  for (size_t i = 0; i < share.count; i += 4) {
    const __m128 product = _mm_mul_ps(_mm_set1_ps(3), _mm_load_ps(share.c.get() + i));
    _mm_stream_ps(share.a.get() + i, _mm_add_ps(_mm_load_ps(share.b.get() + i), product));
  }
  _mm_sfence();
}
#endif

void onThreads(benchmark::State& state, void (*triad)(const Share&)) {
  const size_t count = std::max(1u, std::thread::hardware_concurrency());
  const auto onEach = [&](auto action) {
    std::vector<std::future<void>> threads;
    threads.reserve(count);
    for (size_t i = 0; i < count; ++i)
      threads.push_back(std::async(std::launch::async, [=] { action(i); }));
    for (std::future<void>& thread : threads) thread.get();
  };
  std::vector<std::unique_ptr<Share>> shares(count);
  onEach([&](size_t i) { shares[i] = std::make_unique<Share>(items / count); });
  for (auto _ : state)
    onEach([&](size_t i) {
      for (size_t turn = 0; turn < turns; ++turn) {
        triad(*shares[i]);
        benchmark::ClobberMemory();
      }
    });
  size_t bytes = 0;
  for (const auto& share : shares) {
    bytes += 3 * sizeof(float) * share->count;
    if (!share->isRight()) reportWrong(state);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * turns * bytes));
}

[[maybe_unused]] const Registered registered[] = {
    add("triad/host/plain", onThreads, plain)->Unit(benchmark::kMillisecond),
#ifdef __SSE2__
    add("triad/host/past_the_caches", onThreads, pastTheCaches)->Unit(benchmark::kMillisecond),
#endif
};

}  // namespace
}  // namespace weft::bench
