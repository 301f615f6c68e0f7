#include "backends/cpu/job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/stream.h"

namespace weft::cpu {
namespace {

constexpr double step_ns = 200'000;
constexpr uint64_t transfer_step_units = 16;

// First entries into oneTBB, one at a time and never once exit() has begun. Never destroyed.
class Doorway {
 public:
  static Doorway& get() {
    static auto* doorway = new Doorway;
    return *doorway;
  }

  // Runs `enter` unless the process is ending.
  template <class F>
  bool pass(F&& enter) {
    const std::lock_guard lock(mutex_);
    if (ending_.load(std::memory_order_relaxed)) return false;
    enter();
    return true;
  }

 private:
  // Handlers run last come first: this one before the destructors of oneTBB, which was loaded
  // earlier.
  Doorway() : process_(getpid()) {
    std::atexit([] { get().close(); });
  }

  void close() {
    ending_.store(true, std::memory_order_relaxed);
    // Waits for whoever is inside. In a forked child nobody is, and the lock may never be free.
    if (getpid() == process_) const std::lock_guard lock(mutex_);
  }

  const pid_t process_;
  std::mutex mutex_;
  std::atomic<bool> ending_{false};
};

}  // namespace

Job::Job(Executor& executor, unsigned slots, size_t nodes)
    : pools(nodes), executor_(executor), arena_(int(slots), slots), gates_(slots) {}

bool Job::admit(Runner& runner) {
  if (runner.admitted && arena_.is_active()) return true;
  const bool passed = Doorway::get().pass([&] { arena_.execute([] {}); });
  runner.admitted = runner.admitted || passed;
  return passed;
}

void Job::begin(bool launch, StreamCore& stream, port::Operation& operation,
                port::Nanoseconds start, const Cut& cut) noexcept {
  launch_ = launch;
  stream_ = &stream;
  in_order_ = stream.order == port::Order::in_order;
  operation_ = &operation;
  start_ = start;
  cut_ = cut;
  status_.store(0, std::memory_order_relaxed);
  unfinished_.store(cut.end - cut.begin, std::memory_order_relaxed);
  unstarted_.store(cut.end - cut.begin, std::memory_order_seq_cst);
}

std::atomic<Runner*>& Job::closeGate(Runner& runner) noexcept {
  runner.ticket = runner.gate.defer([] {});
  runner.gate_opened.store(false, std::memory_order_relaxed);
  // There are as many gates as participants, so this ends.
  for (;;)
    for (auto& gate : gates_) {
      Runner* empty = nullptr;
      if (gate.compare_exchange_strong(empty, &runner, std::memory_order_seq_cst)) return gate;
    }
}

void Job::openGate(std::atomic<Runner*>& gate) noexcept {
  Runner* runner = gate.exchange(nullptr, std::memory_order_seq_cst);
  if (!runner) return;
  tbb::task_handle ticket = std::move(runner->ticket);
  runner->gate_opened.store(true, std::memory_order_release);
  // The ticket goes out of scope: the participant may leave, and its runner be used again.
}

void Job::openAll() noexcept {
  for (auto& gate : gates_) openGate(gate);
}

void Job::takePart(Runner& runner, bool owner) noexcept {
  arena_.execute([&] {
    auto& gate = closeGate(runner);
    if (owner) spawn(cut_.begin, cut_.end);
    // Either whoever starts the last piece sees the gate, or the gate's owner sees that it was the
    // last.
    if (unstarted() == 0) openGate(gate);
    runner.gate.wait();
  });
  // Pairs with openGate(): what the opener did to the runner happened before this.
  while (!runner.gate_opened.load(std::memory_order_acquire)) pause();
}

// A task. ThreadSanitizer cannot see how oneTBB, which is not compiled for it, hands a task to
// another thread, so it is kept from looking at the members; piece() synchronises in its sight.
struct Job::Piece {
  Job* job;
  uint64_t begin;
  uint64_t end;
  [[gnu::no_sanitize("thread")]] void operator()() const noexcept { job->piece(begin, end); }
};

void Job::spawn(uint64_t begin, uint64_t end) { group_.run(Piece{this, begin, end}); }

void Job::piece(uint64_t begin, uint64_t end) noexcept {
  (void)unstarted();  // what begin() stored happened before this
  Runner& runner = Runner::current();
  // Right halves are left for others, nearest last: neighbours stay together.
  while (end - begin > cut_.piece) {
    const uint64_t middle = begin + (end - begin) / 2;
    spawn(middle, end);
    end = middle;
  }
  if (unstarted_.fetch_sub(end - begin, std::memory_order_seq_cst) == end - begin) {
    executor_.updateListing(*this);
    openAll();
  }
  setKernelFloatState();
  uint64_t at = begin;
  bool wanted = false;
  while (at < end && !wanted) {
    const uint64_t next = std::min(at + step(), end);
    run(at, next, runner);
    at = next;
    wanted = at < end && runner.executor && executor_.wantsBack(*this);
  }
  if (wanted) {
    unstarted_.fetch_add(end - at, std::memory_order_seq_cst);
    spawn(at, end);
    executor_.updateListing(*this);
  }
  if (unfinished_.fetch_sub(at - begin, std::memory_order_acq_rel) == at - begin) finish();
  if (!wanted) return;
  for (auto& gate : gates_) {
    Runner* own = gate.load(std::memory_order_relaxed);
    if (own == &runner) openGate(gate);
  }
}

// What runs between looks at whether the thread is wanted elsewhere. Asked for each time: the first
// groups of a launch touch new memory and seem slower than they are.
uint64_t Job::step() const noexcept {
  if (!launch_) return transfer_step_units;
  const double per_group = std::max(frame.timing().estimate(frame.itemsPerGroup()), 1e-3);
  return std::max<uint64_t>(1, uint64_t(std::min(step_ns / per_group, double(cut_.piece))));
}

void Job::run(uint64_t begin, uint64_t end, Runner& runner) noexcept {
  if (!launch_) {
    transfer.run(begin, end);
    return;
  }
  const port::Nanoseconds start = now();
  port::OperationStatus status = 0;
  const auto run = [&](uint64_t from, uint64_t to) {
    if (status == 0) status = frame.run(from, to, runner.scratch);
  };
  if (pools.filled())
    pools.take(runner.node, end - begin, run);
  else
    run(begin, end);
  frame.timing().record(now() - start, (end - begin) * frame.itemsPerGroup());
  if (status != 0) status_.store(status, std::memory_order_relaxed);
}

void Job::finish() noexcept {
  operation_->finished(status_.load(std::memory_order_relaxed), start_, now());
  executor_.jobDone(*this);
}

}  // namespace weft::cpu
