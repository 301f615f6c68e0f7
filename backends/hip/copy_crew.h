// Threads that copy host memory together: one alone does not keep up with a GPU's link.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "core/guarded.h"

namespace weft::hip {

// Rows of bytes from one place of the host's memory to another.
struct HostMove {
  std::byte* destination;
  size_t destination_pitch;
  const std::byte* source;
  size_t source_pitch;
  size_t width;
  size_t rows;

  void run() const noexcept;
};

// Starts its threads for the first copy that is worth it, and joins them when it goes.
class CopyCrew {
 public:
  // With as many as help on this machine, none on a small one; or with that many.
  CopyCrew();
  explicit CopyCrew(unsigned threads) : thread_count_(threads) {}
  ~CopyCrew();

  // Copies, together with the threads that are free. From any thread.
  void copy(const HostMove& move) noexcept;

 private:
  struct Job;
  struct State {
    std::shared_ptr<Job> job;
    std::vector<std::thread> threads;
    bool started = false, stop = false;
  };

  void start();
  void serve() noexcept;
  // The next one that is not `last`, or nullptr in the end.
  std::shared_ptr<Job> next(const std::shared_ptr<Job>& last) noexcept;

  const unsigned thread_count_;
  Guarded<State> state_;
  std::condition_variable changed_;
  std::atomic<unsigned> jobs_{0};  // so far, to look at without the lock
};

}  // namespace weft::hip
