// One operation that several threads share: a big launch or transfer, cut into pieces that oneTBB
// spreads over those inside the job's arena.
//
// Nobody waits for the job. A participant leaves as soon as no piece is left that nobody started,
// and whoever runs the last piece finishes the operation. So a work-group that never ends keeps the
// one thread that runs it. TBB has no such wait of its own: each participant waits in the arena for
// a task group of its own, its *gate*, which is opened when the participant is to leave; waiting,
// it runs what it can steal. Every job has an arena to itself, so that a participant gets pieces of
// this operation only, which an application thread may run, and of no other.
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <memory>
#include <vector>

#include "backends/cpu/group_pools.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/runner.h"
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
    uint64_t piece = 1;  // what is stolen at a time
  };

  // At most `slots` threads take part at once, on that many NUMA nodes.
  Job(Executor& executor, unsigned slots, size_t nodes);

  // Makes oneTBB know the calling thread; once before it takes part in anything. False when the
  // process is ending: oneTBB's own globals may be gone, and nobody may enter it for the first
  // time.
  bool admit(Runner& runner);

  // What to run; set one before begin().
  LaunchFrame frame;
  Transfer transfer;
  // Where filled, what says which groups a thread gets: then a piece is a number of groups, and not
  // those that it is made of.
  GroupPools pools;

  void begin(bool launch, StreamCore& stream, port::Operation& operation, port::Nanoseconds start,
             const Cut& cut) noexcept;
  // Runs pieces on the calling thread until none is left to start. The owner, which called begin(),
  // brings the first one.
  void takePart(Runner& runner, bool owner) noexcept;

  uint64_t unstarted() const noexcept { return unstarted_.load(std::memory_order_seq_cst); }
  unsigned slots() const noexcept { return unsigned(gates_.size()); }
  // The stream, which may be gone unless it is in-order and the operation unfinished.
  StreamCore* stream() const noexcept { return stream_; }
  bool inOrder() const noexcept { return in_order_; }
  uint64_t pieces() const noexcept { return (unstarted() + cut_.piece - 1) / cut_.piece; }

  // The executor's, under its lock; the count may be read at any time.
  std::atomic<unsigned> participants{0};
  bool listed = false;
  bool done = false;

 private:
  struct Piece;
  void piece(uint64_t begin, uint64_t end) noexcept;
  void spawn(uint64_t begin, uint64_t end);
  uint64_t step() const noexcept;
  void run(uint64_t begin, uint64_t end, Runner& runner) noexcept;
  void finish() noexcept;
  std::atomic<Runner*>& closeGate(Runner& runner) noexcept;
  static void openGate(std::atomic<Runner*>& gate) noexcept;
  void openAll() noexcept;

  Executor& executor_;
  tbb::task_arena arena_;
  tbb::task_group group_;
  std::vector<std::atomic<Runner*>> gates_;

  bool launch_ = false;
  bool in_order_ = false;
  StreamCore* stream_ = nullptr;
  port::Operation* operation_ = nullptr;
  port::Nanoseconds start_ = 0;
  Cut cut_;
  std::atomic<uint64_t> unstarted_{0};
  std::atomic<uint64_t> unfinished_{0};
  std::atomic<port::OperationStatus> status_{0};
};

}  // namespace weft::cpu
