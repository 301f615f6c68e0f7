// The thread that runs the application's callbacks, so that no call of theirs, however slow, holds
// up the graph. Completing threads only push to its queue.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace weft {

// Thread-safe. The thread starts with the first callback. Destruction runs what is queued, then
// joins; from within a callback it detaches instead, and the thread ends by itself.
class CallbackThread {
 public:
  CallbackThread();
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  void post(std::function<void()> call);

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> calls;
    bool stop = false;
  };
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;  // under shared_->mutex until destruction
};

}  // namespace weft
