#include "backends/cpu/job.h"

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/stream.h"

namespace weft::cpu {

void Job::begin(bool launch, StreamCore& stream, port::Operation& operation,
                port::Nanoseconds start, const Cut& cut, std::span<const NodeGroups> owned) {
  unstarted_.store(shares_.fill(cut.begin, cut.end, cut.piece, owned), std::memory_order_relaxed);
  unfinished_.store(cut.end - cut.begin, std::memory_order_relaxed);
  status_.store(0, std::memory_order_relaxed);
  launch_ = launch;
  stream_ = &stream;
  in_order_ = stream.order == port::Order::in_order;
  operation_ = &operation;
  start_ = start;
  cut_ = cut;
  entry_.store(open_bit | 1, std::memory_order_release);
}

bool Job::join() noexcept {
  uint32_t entry = entry_.load(std::memory_order_relaxed);
  while ((entry & open_bit) && (entry & ~open_bit) < slots_)
    if (entry_.compare_exchange_weak(entry, entry + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed))
      return true;
  return false;
}

void Job::takePart(Runner& runner, size_t seat) noexcept {
  setKernelFloatState();
  Shares::Helped helped;
  uint64_t done = 0;
  bool wanted = false;
  while (!wanted && unstarted() != 0) {
    const auto piece = shares_.take(seat, helped);
    if (!piece) break;
    if (unstarted_.fetch_sub(1, std::memory_order_relaxed) == 1) {
      entry_.fetch_and(~open_bit, std::memory_order_relaxed);
      executor_.withdraw(*this);
    }
    run(*piece, runner);
    done += piece->size();
    wanted = runner.executor && executor_.wantsBack(*this);
  }
  if (done != 0 && unfinished_.fetch_sub(done, std::memory_order_acq_rel) == done) finish();
}

void Job::run(const Shares::Piece& piece, Runner& runner) noexcept {
  if (!launch_) {
    shares_.forEachRun(piece, [&](uint64_t from, uint64_t to) { transfer.run(from, to); });
    return;
  }
  const port::Nanoseconds start = now();
  port::OperationStatus status = 0;
  shares_.forEachRun(piece, [&](uint64_t from, uint64_t to) {
    if (status == 0) status = frame.run(from, to, runner.scratch);
  });
  frame.timing().record(now() - start, piece.size() * frame.itemsPerGroup());
  if (status != 0) status_.store(status, std::memory_order_relaxed);
}

void Job::finish() noexcept {
  operation_->finished(status_.load(std::memory_order_relaxed), start_, now());
  // The stream of an unordered operation may be gone by now.
  if (in_order_) executor_.resume(*stream_);
}

}  // namespace weft::cpu
