// The executor's spare threads.
#include "backends/cpu/executor.h"
#include "backends/cpu/stream.h"

namespace weft::cpu {
namespace {

// Streams wait that long for a worker before a spare takes one. Ordinary long operations should not
// share a PU for the sake of those that hang, so this is not short.
constexpr long patience_ns = 30'000'000;
// While a worker is at an errand, which should have been brief.
constexpr long errand_patience_ns = 200'000;

}  // namespace

Executor::Worker* Executor::postWatchman(Shared& shared) noexcept {
  // A searcher takes one stream.
  const bool served = shared.searcher && shared.first == shared.last;
  const bool needed = shared.first && shared.sleepers.empty() && !served && !lingererComes();
  if (!needed || shared.watchman || shared.spares.empty() || shared.stop) return nullptr;
  shared.watchman = shared.spares.back();
  shared.spares.pop_back();
  return shared.watchman;
}

void Executor::wakeSpare(Worker* spare) noexcept {
  if (!spare) return;
  if (spare->made) {
    spare->woken.store(1, std::memory_order_release);
    futexWake(spare->woken);
    return;
  }
  if (make(*spare)) return;
  auto shared = shared_.lock();
  shared->watchman = nullptr;
  shared->spares.push_back(spare);
}

void Executor::watch(Worker& spare) noexcept {
  auto lock = shared_.lock();
  while (!lock->stop) {
    if (lock->watchman != &spare) {
      rest(lock, spare);
      continue;
    }
    StreamCore* const stream = standWatch(lock, spare);
    if (!stream) continue;
    Worker* const next = postWatchman(*lock);
    lock.native().unlock();
    wakeSpare(next);
    drain(*stream, spare.runner, nullptr);
    setHot(spare.runner, false);
    lock.native().lock();
    // Only now: another one may have been posted meanwhile.
    spare.woken.store(0, std::memory_order_relaxed);
    lock->spares.push_back(&spare);
  }
}

// Waits until it is woken; somebody has, or will have, put the spare where it is found.
void Executor::rest(Lock& lock, Worker& spare) noexcept {
  lock.native().unlock();
  wait(spare, nullptr);
  lock.native().lock();
}

// The stream that nobody took, now taken; null when there is none, or it is too early to tell.
StreamCore* Executor::standWatch(Lock& lock, Worker& spare) noexcept {
  spare.woken.store(0, std::memory_order_relaxed);
  if (!lock->first || !lock->sleepers.empty()) {
    lock->watchman = nullptr;
    lock->spares.push_back(&spare);
    return nullptr;
  }
  const uint64_t taken = lock->taken;
  lock.native().unlock();
  const bool errands = in_errands_.load(std::memory_order_relaxed) != 0;
  const timespec patience{0, errands ? errand_patience_ns : patience_ns};
  wait(spare, &patience);
  lock.native().lock();
  StreamCore* const stream = lock->first;
  if (lock->stop || !stream || !lock->sleepers.empty() || lock->taken != taken) return nullptr;
  remove(*lock, *stream);
  ++lock->taken;
  lock->watchman = nullptr;
  return stream;
}

}  // namespace weft::cpu
