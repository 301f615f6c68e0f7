// A thread that runs operations: one of the executor's workers, or an application thread that
// waits for something.
#pragma once

#include <sched.h>

#include <vector>

#include "backends/cpu/launch.h"
#include "backends/cpu/scratch.h"
#include "core/errand.h"

namespace weft {
struct EnqueuedCommand;
}

namespace weft::cpu {

class Executor;
class StreamCore;

// Used by its thread alone.
struct Runner {
  Executor* executor = nullptr;  // a worker's; nullptr on an application thread
  bool hot = false;              // a worker in the middle of tiny operations
  bool lingers = false;          // a worker that has just taken part in a job
  bool lingering = false;        // one that is counted as awake for the next job
  bool spare = false;            // see Executor
  bool loose = false;            // a worker that is not bound to its PU now
  bool ends = false;             // a worker that tells the end of an operation
  StreamCore* kept = nullptr;    // what that has made ready, with its token
  unsigned kept_count = 0;       // how many were kept
  unsigned brief_pieces = 0;     // how many it has run of jobs
  size_t seat = 0;               // a worker's
  Scratch scratch;
  LaunchFrame frame;
  Errands errands;                  // what was left to a worker at the end of an operation
  EnqueuedCommand* held = nullptr;  // children that wait for the groups that the thread is running

  // The calling thread's; an application thread's is made on first use.
  static Runner& current();
  // Makes `runner` the calling thread's, for a worker's lifetime.
  static void adopt(Runner& runner) noexcept;
  // Is the calling thread one of an application that waits, and runs things meanwhile?
  static bool& assists() noexcept;
  // A worker's, or nullptr.
  static Runner* worker() noexcept;
  // The executor that the calling thread is a worker of, or nullptr.
  static Executor* workerOf() noexcept;
};

// Does the calling thread run on these PUs only? Its affinity is cached.
bool isBoundWithin(const cpu_set_t& pus) noexcept;
// May an application thread run kernels that take so much of its stack?
bool isForGuests(size_t stack_bytes) noexcept;

}  // namespace weft::cpu
