// One operation that several threads share: a big launch or transfer, cut into pieces.
//
// Nobody waits for the job, and nobody registers to take part. A participant leaves as soon as no
// piece is left that nobody started, and whoever is the last to have run pieces finishes the
// operation. So a work-group that never ends keeps the one thread that runs it. A job is used again
// and again, each time in another *turn*, and its executor keeps it as long as it has threads: who
// comes late finds that his turn is over.
#pragma once

#include <atomic>
#include <optional>
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
    double piece_ns = 0;  // what one is expected to take; negative: nobody knows
    // Whose shares it is cut into; nullptr: all seats'. And one more.
    const SeatSet* there = nullptr;
    size_t own = 0;
    bool chained = false;  // there was another one just before
    bool copies = false;   // each participant works on OwnCopies
  };

  Job(Executor& executor, std::span<const Seat> seats) : executor_(executor), shares_(seats) {}

  // What to run; set one before begin().
  LaunchFrame frame;
  std::vector<CombinedArgument> combined;  // the launch's, where Cut::copies is set
  Transfer transfer;

  // From now on anybody may take part. `owned` are work-groups that belong to NUMA nodes; without
  // them it does not throw. Returns the turn.
  uint32_t begin(bool launch, StreamCore& stream, port::Operation& operation,
                 port::Nanoseconds start, const Cut& cut, std::span<const NodeGroups> owned);
  // The turn, while there may be something to start. For an application thread that waits for the
  // stream: where it is of an operation of that, and the thread has the stack for it. Any job may
  // be asked at any time.
  std::optional<uint32_t> turn() const noexcept;
  std::optional<uint32_t> turnFor(const StreamCore& stream) const noexcept;
  // Is something for that seat in the present turn?
  bool isFor(size_t seat) const noexcept { return shares_.isTaker(seat); }
  // Runs pieces of that turn on the calling thread, which sits at `seat`, until none is left to
  // start.
  void takePart(uint32_t turn, Runner& runner, size_t seat) noexcept;
  // A turn ends twice: when no piece is left to start, and when the operation has finished. True at
  // the second of them: the job may begin something else.
  bool end() noexcept { return ends_left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // For a participant: pieces that nobody started, and how long one will take.
  uint64_t unstarted() const noexcept { return shares_.left(); }
  // Negative while nobody knows.
  double pieceNs() const noexcept {
    return piece_ns_ >= 0 ? piece_ns_ : frame.timing().estimate(piece_ * frame.itemsPerGroup());
  }
  // What all of the job takes one thread, if that was known when it began.
  double expectedNs() const noexcept { return expected_ns_; }
  // Those that are at it for longer than a moment.
  unsigned participants() const noexcept { return participants_.load(std::memory_order_relaxed); }
  // The stream, which may be gone unless it is in-order and the operation unfinished.
  StreamCore* stream() const noexcept { return stream_.load(std::memory_order_relaxed); }
  bool inOrder() const noexcept { return in_order_; }

 private:
  // Pieces that a participant has run and not told of.
  class Untold;

  void run(const Shares::Piece& piece, Runner& runner, const void* const* arguments) noexcept;
  double close(uint32_t turn) noexcept;
  void finish(uint32_t turn, Runner& runner) noexcept;

  Executor& executor_;
  Shares shares_;
  // Those who linger look at this line all the time: it is written where a turn begins and ends.
  // The turn and, in the lowest bit, whether it is closed: nothing is left to start.
  alignas(128) std::atomic<uint64_t> state_{1};
  std::atomic<StreamCore*> stream_{nullptr};
  std::atomic<size_t> stack_bytes_{0};
  bool launch_ = false;
  bool in_order_ = false;
  bool chained_ = false;
  bool copies_ = false;
  uint64_t piece_ = 1;
  double piece_ns_ = 0;
  double expected_ns_ = 0;
  port::Operation* operation_ = nullptr;
  port::Nanoseconds start_ = 0;
  std::atomic<port::OperationStatus> status_{0};
  alignas(128) std::atomic<unsigned> participants_{0};
  std::atomic<int> ends_left_{0};
};

}  // namespace weft::cpu
