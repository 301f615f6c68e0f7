// One operation that several threads share: a big launch or transfer, cut into pieces.
//
// Nobody waits for the job. A participant leaves as soon as no piece is left that nobody started,
// and whoever is the last to have run pieces finishes the operation. So a work-group that never
// ends keeps the one thread that runs it. Joining is one atomic operation, so that many threads may
// do it at once.
#pragma once

#include <atomic>
#include <span>

#include "backends/cpu/launch.h"
#include "backends/cpu/runner.h"
#include "backends/cpu/shares.h"
#include "backends/cpu/transfer.h"
#include "core/ports/device.h"

namespace weft::cpu {

class StreamCore;

class Job {
 public:
  // How the work is cut, in groups of a launch or units of a transfer.
  struct Cut {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t piece = 1;
    double piece_ns = 0;  // what one is expected to take
  };

  Job(Executor& executor, std::span<const Seat> seats)
      : executor_(executor), slots_(uint32_t(seats.size())), shares_(seats) {}

  // What to run; set one before begin().
  LaunchFrame frame;
  Transfer transfer;

  // The caller has joined, others may. `owned` are work-groups that belong to NUMA nodes; without
  // them it does not throw.
  void begin(bool launch, StreamCore& stream, port::Operation& operation, port::Nanoseconds start,
             const Cut& cut, std::span<const NodeGroups> owned);
  // Any job may be asked at any time. False when there is nothing to start, or somebody on every
  // seat.
  bool join() noexcept;
  // Runs pieces on the calling thread, which has joined and sits at `seat`, until none is left to
  // start.
  void takePart(Runner& runner, size_t seat) noexcept;
  // True for the last one: the job may begin something else.
  bool leave() noexcept { return entry_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // Pieces that nobody started, and how long they will take one thread.
  uint64_t unstarted() const noexcept { return unstarted_.load(std::memory_order_relaxed); }
  double expected() const noexcept { return double(unstarted()) * cut_.piece_ns; }
  unsigned participants() const noexcept { return unsigned(entry_.load() & ~open_bit); }
  // The stream, which may be gone unless it is in-order and the operation unfinished.
  StreamCore* stream() const noexcept { return stream_; }
  bool inOrder() const noexcept { return in_order_; }

 private:
  static constexpr uint32_t open_bit = uint32_t{1} << 31;

  void run(const Shares::Piece& piece, Runner& runner) noexcept;
  void finish() noexcept;

  Executor& executor_;
  const uint32_t slots_;
  Shares shares_;
  // Participants, and whether others may join: while there is something to start.
  std::atomic<uint32_t> entry_{0};
  alignas(128) std::atomic<uint64_t> unstarted_{0};
  alignas(128) std::atomic<uint64_t> unfinished_{0};  // groups or units

  bool launch_ = false;
  bool in_order_ = false;
  StreamCore* stream_ = nullptr;
  port::Operation* operation_ = nullptr;
  port::Nanoseconds start_ = 0;
  Cut cut_;
  std::atomic<port::OperationStatus> status_{0};
};

}  // namespace weft::cpu
