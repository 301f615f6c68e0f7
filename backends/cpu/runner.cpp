#include "backends/cpu/runner.h"

#include <pthread.h>
#include <sched.h>

#include <memory>

#include "core/thread_local.h"

namespace weft::cpu {
namespace {

WEFT_THREAD_LOCAL constinit Runner* adopted = nullptr;

// Affinity and stack bounds of an application thread.
class Fitness {
 public:
  static Fitness& current() noexcept {
    WEFT_THREAD_LOCAL static constinit std::unique_ptr<Fitness> own;
    if (!own) own.reset(new Fitness);
    return *own;
  }

  bool isWithin(const cpu_set_t& pus) const noexcept {
    cpu_set_t common;
    CPU_AND(&common, &affinity_, &pus);
    return affinity_known_ && CPU_EQUAL(&common, &affinity_);
  }

  // Threads may be bound anew at any time; reading the mask is a system call.
  void refresh() noexcept {
    constexpr unsigned calls_between_reads = 256;
    if (calls_++ % calls_between_reads == 0)
      affinity_known_ = sched_getaffinity(0, sizeof affinity_, &affinity_) == 0;
  }

  // False outside the thread's own stack: a coroutine or a signal's stack, of unknown size.
  bool stackHolds(size_t bytes) const noexcept {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return here >= stack_low_ && here < stack_high_ && here - stack_low_ >= bytes;
  }

 private:
  Fitness() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* low = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
      stack_low_ = reinterpret_cast<uintptr_t>(low);
      stack_high_ = stack_low_ + size;
    }
    pthread_attr_destroy(&attributes);
  }

  cpu_set_t affinity_;
  bool affinity_known_ = false;
  unsigned calls_ = 0;
  uintptr_t stack_low_ = 0;
  uintptr_t stack_high_ = 0;
};

}  // namespace

bool& Runner::assists() noexcept {
  WEFT_THREAD_LOCAL static constinit bool assists = false;
  return assists;
}

Runner& Runner::current() {
  if (adopted) return *adopted;
  WEFT_THREAD_LOCAL static constinit std::unique_ptr<Runner> own;
  if (!own) own = std::make_unique<Runner>();
  return *own;
}

void Runner::adopt(Runner& runner) noexcept { adopted = &runner; }

Runner* Runner::worker() noexcept { return adopted; }

Executor* Runner::workerOf() noexcept { return adopted ? adopted->executor : nullptr; }

bool isBoundWithin(const cpu_set_t& pus) noexcept {
  Fitness& fitness = Fitness::current();
  fitness.refresh();
  return fitness.isWithin(pus);
}

bool isForGuests(size_t stack_bytes) noexcept {
  // And so much for all else.
  constexpr size_t own_bytes = size_t(256) << 10;
  return stack_bytes < own_bytes && Fitness::current().stackHolds(stack_bytes + own_bytes);
}

}  // namespace weft::cpu
