#include "backends/hip/copy_crew.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

namespace weft::hip {
namespace {

// Less than that is done by one before another has woken up.
constexpr size_t worth_sharing = size_t(512) << 10;
constexpr size_t granule_bytes = size_t(256) << 10;
constexpr unsigned most_threads = 3;
// The pieces of a copy follow each other.
constexpr auto awake = std::chrono::microseconds(200);

}  // namespace

void HostMove::run() const noexcept {
  for (size_t row = 0; row < rows; ++row)
    std::memmove(destination + row * destination_pitch, source + row * source_pitch, width);
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
    : thread_count_(std::min(most_threads, std::thread::hardware_concurrency() / 4)) {}

CopyCrew::~CopyCrew() {
  std::vector<std::thread> threads;
  state_.with([&](State& state) {
    state.stop = true;
    threads.swap(state.threads);
  });
  jobs_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void CopyCrew::copy(const HostMove& move) noexcept {
  if (move.width * move.rows < worth_sharing || thread_count_ == 0) return move.run();
  std::shared_ptr<Job> job;
  try {
    job = std::make_shared<Job>(move);
    start();
  } catch (const std::exception&) {  // without memory or threads it is done here
    return move.run();
  }
  state_.lock()->job = job;
  jobs_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
  job->work();
  while (job->done.load(std::memory_order_acquire) != job->granules) std::this_thread::yield();
}

void CopyCrew::start() {
  const auto state = state_.lock();
  if (state->started) return;
  state->started = true;
  for (unsigned i = 0; i < thread_count_; ++i) state->threads.emplace_back([this] { serve(); });
}

void CopyCrew::serve() noexcept {
  std::shared_ptr<Job> job;
  while ((job = next(job))) job->work();
}

std::shared_ptr<CopyCrew::Job> CopyCrew::next(const std::shared_ptr<Job>& last) noexcept {
  const unsigned seen = jobs_.load(std::memory_order_acquire);
  const auto give_up = std::chrono::steady_clock::now() + awake;
  auto state = state_.lock();
  const auto there = [&] { return state->stop || (state->job && state->job != last); };
  if (!there()) {
    state.native().unlock();
    while (jobs_.load(std::memory_order_acquire) == seen &&
           std::chrono::steady_clock::now() < give_up)
      __builtin_ia32_pause();
    state.native().lock();
    changed_.wait(state.native(), there);
  }
  return state->stop ? nullptr : state->job;
}

}  // namespace weft::hip
