// The application's callbacks, one after the other. A thread of their own runs them, so that no
// call of theirs, however slow, holds up the graph; completing threads only push to its queue. As
// long as they are brief, a worker that completes a command and has nothing else to do makes the
// call itself: waking that thread takes ten times as long as the rest of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace weft {

// Thread-safe. Destruction runs what is queued, then joins the thread; from within a callback it
// detaches it instead, and the thread ends by itself.
class Callbacks {
 public:
  Callbacks();
  ~Callbacks();
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  // Makes the thread, unless there is one: throws CL_OUT_OF_RESOURCES where the system refuses it.
  void start();
  // Where is the calling thread that posts a call?
  enum class At : uint8_t {
    command_end,  // where a command has ended: if it is a worker's, it has little more to do
    elsewhere,
  };
  // Once it was started.
  void post(std::function<void()> call, At at);

 private:
  class Queue;

  const std::shared_ptr<Queue> queue_;
  std::thread thread_;  // under the queue's mutex until destruction
};

}  // namespace weft
