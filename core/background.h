// Work that the application asked to be done behind its back: builds with a callback.
#pragma once

#include <condition_variable>
#include <functional>

#include "core/guarded.h"

namespace weft {

// Thread-safe. The destructor waits for all work; the runtime's own instance is never destroyed, so
// a process may exit while work is running.
class Background {
 public:
  Background() = default;
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Runs `work`, which does not throw, on a thread of its own with all signals blocked; on the
  // calling thread when the system gives no more threads.
  void run(std::function<void()> work);

 private:
  Guarded<size_t> running_{size_t{0}};
  std::condition_variable idle_;
};

}  // namespace weft
