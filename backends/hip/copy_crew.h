// Threads that copy host memory together: one alone does not keep up with a GPU's link.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/guarded.h"
#include "core/spin_lock.h"

namespace weft::hip {

// Rows of bytes from one place of the host's memory to another.
struct HostMove {
  std::byte* destination;
  size_t destination_pitch;
  const std::byte* source;
  size_t source_pitch;
  size_t width;
  size_t rows;
  // The destination is read by a device next, and by no processor: it is written past the caches.
  // What lies in them changed reaches the device at a third to two thirds of the link's rate.
  bool for_device = false;

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
  void start();
  void serve() noexcept;
  // Until there are more jobs than were `seen`; false in the end.
  bool await(unsigned& seen) noexcept;
  void post(const std::shared_ptr<Job>& job) noexcept;
  void wakeSleepers() noexcept;

  const unsigned thread_count_;
  std::once_flag started_;
  std::vector<std::thread> threads_;
  Guarded<std::shared_ptr<Job>, SpinLock> job_;  // the newest one
  std::atomic<unsigned> jobs_{0};                // so far, to look at without a lock
  std::atomic<bool> stop_{false};
  std::mutex sleep_;
  std::condition_variable changed_;
  std::atomic<unsigned> sleepers_{0};
};

}  // namespace weft::hip
