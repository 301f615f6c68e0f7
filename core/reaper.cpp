#include "core/reaper.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/thread_local.h"

namespace weft {
namespace {

WEFT_THREAD_LOCAL constinit int depth = 0;

constexpr std::chrono::seconds longest_wait{2};

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

  void await() {
    std::unique_lock lock(mutex_);
    if (!started_ || std::this_thread::get_id() == thread_) return;
    const uint64_t all = ended_ + doomed_.size() + (busy_ ? 1 : 0);
    idle_.wait_for(lock, longest_wait, [&] { return ended_ >= all; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    thread_ = std::this_thread::get_id();
    for (;;) {
      changed_.wait(lock, [this] { return !doomed_.empty(); });
      const Doomed next = doomed_.front();
      doomed_.pop_front();
      busy_ = true;
      lock.unlock();
      next.destroy(next.object);
      lock.lock();
      busy_ = false;
      ++ended_;
      idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Doomed> doomed_;
  uint64_t ended_ = 0;
  bool busy_ = false;
  bool started_ = false;
  std::thread::id thread_;
};

}  // namespace

RuntimeScope::RuntimeScope() noexcept { ++depth; }
RuntimeScope::~RuntimeScope() { --depth; }

bool inRuntimeScope() noexcept { return depth > 0; }

void reap(Object* object, void (*destroy)(Object* object)) noexcept {
  if (depth == 0)
    destroy(object);
  else
    Reaper::instance().add({object, destroy});
}

void awaitReaper() noexcept { Reaper::instance().await(); }

}  // namespace weft
