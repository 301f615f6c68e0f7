// The two primitives under the executor: a futex word and a mutex that spins before it sleeps.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <mutex>

namespace weft::cpu {

inline void pause() noexcept { __builtin_ia32_pause(); }

// Sleeps while `word` holds `expected`, at most `limit` (nullptr: for ever). May return early.
inline void futexWait(std::atomic<uint32_t>& word, uint32_t expected,
                      const timespec* limit) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0);
}

inline void futexWake(std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// A plain mutex sleeps as soon as it meets an owner; the sections it guards here take less time
// than the system call.
class SpinMutex {
 public:
  void lock() noexcept {
    for (int i = 0; i < 200; ++i) {
      if (mutex_.try_lock()) return;
      pause();
    }
    mutex_.lock();
  }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace weft::cpu
