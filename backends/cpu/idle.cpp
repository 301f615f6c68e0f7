// The executor's threads that have nothing to do: how they wait, and who wakes them.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "core/release_batch.h"

namespace weft::cpu {
namespace {

// How long threads stay awake after a job: at least, and where the next one used to come later.
constexpr port::Nanoseconds least_linger = 100'000;
constexpr port::Nanoseconds most_linger = 1'000'000;
// A thread that enqueues something small and waits for it at once runs it itself, faster than it
// could be handed over: so long it is left to that thread.
constexpr port::Nanoseconds head_start = 1'000;
// How many a participant calls while nobody knows how long pieces take. If they are short, all is
// done before those are up.
constexpr double untimed_calls = 2;
constexpr long tick_ns = 1'000'000;

}  // namespace

void Executor::spin(port::Nanoseconds time) noexcept {
  const port::Nanoseconds until = now() + time;
  do {
    for (int i = 0; i < 16; ++i) {
      if (open_jobs_.load(std::memory_order_relaxed) != 0 || isForUs()) return;
      pause();
    }
  } while (now() < until);
}

// Is there a stream that nobody else takes?
bool Executor::isForUs() const noexcept {
  const auto ready = [this] { return ready_streams_.load(std::memory_order_relaxed) != 0; };
  if (!ready()) return false;
  const port::Nanoseconds until = now() + head_start;
  while (ready() && ready_by_caller_.load(std::memory_order_relaxed) && now() < until) pause();
  return ready();
}

// A job; none when there is a stream to fetch, or for a while there was nothing.
Executor::Task Executor::linger(Worker& worker) noexcept {
  ReleaseBatch::flush();
  if (!worker.runner.lingering) {
    lingering_.fetch_add(1, std::memory_order_relaxed);
    awake_.insert(worker.runner.seat);
    worker.runner.lingering = true;
  }
  const auto sent = [&] { return guest_.load(std::memory_order_relaxed) == worker.runner.seat; };
  // Nobody else may leave for that reason.
  const auto isOneTooMany = [&] {
    unsigned all = unsigned(width());
    if (lingering_.load(std::memory_order_relaxed) != all ||
        !lingering_.compare_exchange_strong(all, all - 1, std::memory_order_relaxed))
      return false;
    awake_.erase(worker.runner.seat);
    worker.runner.lingering = false;
    return true;
  };
  // Who has no share of its own in a brief job would only look where others are at work: unless
  // they do not get there.
  std::optional<uint32_t> passed;
  bool fetches = false;
  const port::Nanoseconds start = now(), time = linger_ns_.load(std::memory_order_relaxed);
  // Not all at once, since they meet at the lock then.
  const port::Nanoseconds stagger = time / 2 * port::Nanoseconds(worker.runner.seat) / width();
  const port::Nanoseconds until = start + time + stagger;
  port::Nanoseconds looked = start;
  do {
    // An application that computes between its launches may need the PU.
    if (looked - start > least_linger) sched_yield();
    for (int i = 0; i < 16 && !fetches; ++i) {
      fetches = ready_streams_.load(std::memory_order_relaxed) != 0 &&
                !fetching_.load(std::memory_order_relaxed) &&
                !fetching_.exchange(true, std::memory_order_relaxed);
      if (fetches) break;
      Job* const job = offered_.load(std::memory_order_acquire);
      const auto turn = job ? job->turn() : std::nullopt;
      if (turn && (job->isFor(worker.runner.seat) || (i == 0 && turn == passed)))
        return {.job = job, .turn = *turn};
      if (i == 0) passed = turn;
      pause();
    }
    looked = now();
  } while (!fetches && !sent() && looked < until && !isOneTooMany());
  // Who makes a stream ready under the lock and counts on this thread does so before it gets there.
  stopLingering(worker.runner);
  return {};
}

// The pause before a job: the next one may be as long.
void Executor::learnPause(port::Nanoseconds pause) noexcept {
  const port::Nanoseconds before = linger_ns_.load(std::memory_order_relaxed);
  const bool worth_it = pause < most_linger;
  port::Nanoseconds next =
      worth_it ? std::clamp(pause + pause / 2, least_linger, most_linger) : least_linger;
  if (next < before) next = before - (before - next) / 4;
  if (next != before) linger_ns_.store(next, std::memory_order_relaxed);
}

void Executor::stopLingering(Runner& runner) noexcept {
  if (!std::exchange(runner.lingering, false)) return;
  lingering_.fetch_sub(1, std::memory_order_seq_cst);
  awake_.erase(runner.seat);
}

// True when another thread woke the worker, false when its time was up. Without the lock when it is
// called.
bool Executor::sleep(Lock& lock, Worker& worker) noexcept {
  const bool others_awake = lock->sleepers.size() + 1 < width();
  const bool timed = others_awake && !lock->ticker;
  if (timed) lock->ticker = &worker;
  worker.woken.store(0, std::memory_order_relaxed);
  lock->sleepers.push_back(&worker);
  countIdle(*lock);
  lock.native().unlock();
  const timespec tick{0, tick_ns};
  bool woken = wait(worker, timed ? &tick : nullptr);
  if (timed && !woken) ReleaseBatch::flushAll();
  // Who is called is no sleeper any more. Many are, at the same time.
  if (worker.called_for.load(std::memory_order_acquire)) return true;
  lock.native().lock();
  // Who picked it when its time was up anyway may wake it later, and then out of its next sleep.
  auto& sleepers = lock->sleepers;
  const auto place = std::find(sleepers.begin(), sleepers.end(), &worker);
  if (place == sleepers.end())
    woken = true;
  else
    sleepers.erase(place);
  if (lock->ticker == &worker) lock->ticker = nullptr;
  countIdle(*lock);
  if (worker.called_for.load(std::memory_order_relaxed)) lock.native().unlock();
  return woken;
}

bool Executor::wait(Worker& worker, const timespec* limit) noexcept {
  while (worker.woken.load(std::memory_order_acquire) == 0) {
    futexWait(worker.woken, 0, limit);
    if (limit) break;
  }
  return worker.woken.load(std::memory_order_acquire) != 0;
}

void Executor::countIdle(Shared& shared) noexcept {
  idle_workers_.store(unsigned(shared.sleepers.size()) + (shared.searcher ? 1 : 0),
                      std::memory_order_relaxed);
  ticking_.store(shared.ticker != nullptr, std::memory_order_relaxed);
}

Executor::Worker* Executor::pickSleeper(Shared& shared) noexcept {
  Worker* const worker = takeSleeper(shared);
  if (worker) countIdle(shared);
  return worker;
}

// The one that slept last is the warmest, unless it would share its PU with the guest. Not counted.
Executor::Worker* Executor::takeSleeper(Shared& shared) noexcept {
  auto& sleepers = shared.sleepers;
  if (sleepers.empty()) return nullptr;
  auto place = sleepers.end() - 1;
  if (sleepers.size() > 1 && (*place)->runner.seat == guest_.load(std::memory_order_relaxed))
    --place;
  Worker* worker = *place;
  sleepers.erase(place);
  if (shared.ticker == worker) shared.ticker = nullptr;
  return worker;
}

void Executor::wakeForMore(double expected_ns) noexcept {
  if (expected_ns == 0 || idle_workers_.load(std::memory_order_relaxed) == 0) return;
  const double useful = std::min(expected_ns / brief_piece_ns, double(width() - 1));
  if (lingering_.load(std::memory_order_relaxed) + 1 >= useful) return;
  wake(shared_.with([&](Shared& shared) -> Worker* {
    Worker* const worker = pickSleeper(shared);
    if (!worker) return nullptr;
    if (worker->runner.seat == guest_.load(std::memory_order_relaxed)) {
      shared.sleepers.push_back(worker);
      countIdle(shared);
      return nullptr;
    }
    worker->runner.lingers = true;
    return worker;
  }));
}

void Executor::wake(Worker* worker) noexcept {
  while (worker) {
    if (worker->made) {
      worker->woken.store(1, std::memory_order_release);
      futexWake(worker->woken);
      return;
    }
    if (make(*worker)) return;
    // The system refuses another thread: the device goes on with those that it has.
    if (worker->called_for.exchange(nullptr, std::memory_order_relaxed))
      called_.fetch_sub(1, std::memory_order_relaxed);
    auto shared = shared_.lock();
    const bool searcher = shared->searcher == worker;
    if (searcher) shared->searcher = nullptr;
    worker = pickSleeper(*shared);
    if (searcher) shared->searcher = worker;
    countIdle(*shared);
  }
}

bool Executor::isAnyIdle() const noexcept {
  return idle_workers_.load(std::memory_order_relaxed) != 0 || lingererComes();
}

// For a participant. Those who linger come by themselves.
void Executor::callHelpers(Job& job, uint32_t turn) noexcept {
  if (idle_workers_.load(std::memory_order_relaxed) == 0) return;
  const unsigned there = job.participants() - 1 + lingering_.load(std::memory_order_relaxed) +
                         called_.load(std::memory_order_relaxed);
  const double piece_ns = job.pieceNs();
  // Counting what nobody started means to ask all threads.
  if (piece_ns >= 0 && job.expectedNs() != 0 && job.expectedNs() <= there * worth_waking_ns) return;
  const auto unstarted = double(job.unstarted());
  const double worth = piece_ns >= 0 ? std::min(unstarted * piece_ns / worth_waking_ns, unstarted)
                                     : there + std::min(untimed_calls, unstarted);
  if (worth <= there) return;
  shared_.with([&](Shared& shared) {
    for (unsigned count = there; count < worth; ++count) {
      Worker* const worker = takeSleeper(shared);
      if (!worker) break;
      // An application thread works in its place.
      if (worker->runner.seat == helping_guest_.load(std::memory_order_relaxed)) {
        shared.sleepers.push_back(worker);
        break;
      }
      called_.fetch_add(1, std::memory_order_relaxed);
      worker->called_for_turn = turn;
      worker->called_for.store(&job, std::memory_order_release);
      to_wake_.push(worker->runner.seat);
    }
    countIdle(shared);
  });
  wakeCalled();
}

void Executor::wakeCalled() noexcept {
  while (const auto seat = to_wake_.pop()) wake(workers_[*seat].get());
}

// For a worker: the job that it is called for, if it is.
Executor::Task Executor::answer(Worker& worker) noexcept {
  Job* const job = worker.called_for.load(std::memory_order_acquire);
  if (!job) return {};
  const Task task{.job = job, .turn = worker.called_for_turn};
  worker.called_for.store(nullptr, std::memory_order_relaxed);
  called_.fetch_sub(1, std::memory_order_relaxed);
  wakeCalled();
  return task;
}

}  // namespace weft::cpu
