#include "backends/hip/copy_crew.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include <emmintrin.h>

namespace weft::hip {
namespace {

// Less than that is done by one before another has woken up.
constexpr size_t worth_sharing = size_t(512) << 10;
constexpr size_t granule_bytes = size_t(128) << 10;
constexpr unsigned most_threads = 7;
// The pieces of a copy follow each other.
constexpr auto awake = std::chrono::microseconds(200);

// As memcpy does, but the destination does not come into the caches.
void copyPastCaches(std::byte* to, const std::byte* from, size_t bytes) noexcept {
  constexpr size_t line = 64;
  const size_t before = std::min(bytes, -reinterpret_cast<uintptr_t>(to) % line);
  std::memcpy(to, from, before);
  to += before, from += before, bytes -= before;
  for (; bytes >= line; to += line, from += line, bytes -= line) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* destination = reinterpret_cast<__m128i*>(to);
    const __m128i parts[] = {_mm_loadu_si128(source), _mm_loadu_si128(source + 1),
                             _mm_loadu_si128(source + 2), _mm_loadu_si128(source + 3)};
    for (int i = 0; i < 4; ++i) _mm_stream_si128(destination + i, parts[i]);
  }
  std::memcpy(to, from, bytes);
  _mm_sfence();  // what is written past the caches is in no order else
}

}  // namespace

void HostMove::run() const noexcept {
  constexpr size_t worth_it = 1024;  // bytes of a row
  const bool past_caches = for_device && width >= worth_it;
  for (size_t row = 0; row < rows; ++row) {
    std::byte* const to = destination + row * destination_pitch;
    const std::byte* const from = source + row * source_pitch;
    if (past_caches)
      copyPastCaches(to, from, width);
    else
      std::memmove(to, from, width);
  }
}

// Granules are taken one after the other by whoever is there: nobody waits for a thread that has
// not begun.
struct CopyCrew::Job {
  explicit Job(const HostMove& given)
      : move(given),
        step(move.rows == 1 ? granule_bytes : std::max<size_t>(1, granule_bytes / move.width)),
        granules(((move.rows == 1 ? move.width : move.rows) + step - 1) / step) {}

  void work() noexcept {
    for (size_t i = taken.fetch_add(1); i < granules; i = taken.fetch_add(1)) {
      part(i).run();
      done.fetch_add(1, std::memory_order_release);
    }
  }

  HostMove part(size_t i) const noexcept {
    HostMove some = move;
    const size_t first = i * step;
    if (move.rows == 1) {
      some.destination += first;
      some.source += first;
      some.width = std::min(step, move.width - first);
    } else {
      some.destination += first * move.destination_pitch;
      some.source += first * move.source_pitch;
      some.rows = std::min(step, move.rows - first);
    }
    return some;
  }

  const HostMove move;
  const size_t step, granules;  // bytes of the only row, or rows
  std::atomic<size_t> taken{0}, done{0};
};

CopyCrew::CopyCrew()
    : thread_count_(
          std::min(most_threads, std::max(2u, std::thread::hardware_concurrency()) / 2 - 1)) {}

CopyCrew::~CopyCrew() {
  stop_.store(true);
  jobs_.fetch_add(1);
  wakeSleepers();
  for (std::thread& thread : threads_) thread.join();
}

void CopyCrew::copy(const HostMove& move) noexcept {
  if (move.width * move.rows < worth_sharing || thread_count_ == 0) return move.run();
  std::shared_ptr<Job> job;
  try {
    job = std::make_shared<Job>(move);
    std::call_once(started_, [this] { start(); });
  } catch (const std::exception&) {  // without memory or threads it is done here
    return move.run();
  }
  post(job);
  job->work();
  while (job->done.load(std::memory_order_acquire) != job->granules) std::this_thread::yield();
}

void CopyCrew::start() {
  for (unsigned i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { serve(); });
}

void CopyCrew::post(const std::shared_ptr<Job>& job) noexcept {
  *job_.lock() = job;
  jobs_.fetch_add(1);
  wakeSleepers();
}

// A thread that falls asleep says so before it looks for the last time: either it sees what came,
// or it is seen here.
void CopyCrew::wakeSleepers() noexcept {
  if (sleepers_.load() == 0) return;
  {
    const std::lock_guard lock(sleep_);
  }
  changed_.notify_all();
}

void CopyCrew::serve() noexcept {
  for (unsigned seen = 0; await(seen);) {
    const std::shared_ptr<Job> job = *job_.lock();
    if (job) job->work();
  }
}

bool CopyCrew::await(unsigned& seen) noexcept {
  const auto give_up = std::chrono::steady_clock::now() + awake;
  while (jobs_.load(std::memory_order_acquire) == seen &&
         std::chrono::steady_clock::now() < give_up)
    __builtin_ia32_pause();
  if (jobs_.load(std::memory_order_acquire) == seen) {
    std::unique_lock lock(sleep_);
    sleepers_.fetch_add(1);
    changed_.wait(lock, [&] { return jobs_.load() != seen; });
    sleepers_.fetch_sub(1);
  }
  seen = jobs_.load();
  return !stop_.load();
}

}  // namespace weft::hip
