// A mutex that is worth spinning for.
#pragma once

#include <mutex>

namespace weft {

// For what is usually held for less than it takes to put a thread to sleep and wake it: some
// microseconds.
class BriefMutex {
 public:
  void lock() {
    constexpr int tries = 100;
    for (int i = 0; i < tries; ++i) {
      if (mutex_.try_lock()) return;
      __builtin_ia32_pause();
    }
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace weft
