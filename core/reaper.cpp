#include "core/reaper.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace weft {
namespace {

thread_local int depth = 0;

struct Doomed {
  Object* object;
  void (*destroy)(Object* object);
};

// Started with the first object and never stopped: it ends with the process, as what it waits for
// may come from a static destructor.
class Reaper {
 public:
  static Reaper& instance() {
    static auto* const reaper = new Reaper;
    return *reaper;
  }

  void add(Doomed doomed) {
    {
      const std::lock_guard lock(mutex_);
      doomed_.push_back(doomed);
      if (!started_) std::thread([this] { run(); }).detach();
      started_ = true;
    }
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !doomed_.empty(); });
      const Doomed next = doomed_.front();
      doomed_.pop_front();
      lock.unlock();
      next.destroy(next.object);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Doomed> doomed_;
  bool started_ = false;
};

}  // namespace

RuntimeScope::RuntimeScope() noexcept { ++depth; }
RuntimeScope::~RuntimeScope() { --depth; }

void reap(Object* object, void (*destroy)(Object* object)) noexcept {
  if (depth == 0)
    destroy(object);
  else
    Reaper::instance().add({object, destroy});
}

}  // namespace weft
