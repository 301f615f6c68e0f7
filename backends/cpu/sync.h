// What threads of the executor wait with.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

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

}  // namespace weft::cpu
