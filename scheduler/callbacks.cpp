#include "scheduler/callbacks.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>

#include "core/errand.h"
#include "core/error.h"
#include "core/reaper.h"
#include "profiling/clock.h"

namespace weft {
namespace {

// A brief call earns one credit, one that wakes a thread, too. A longer one costs some, and a long
// one, such as one that waits, all of them.
constexpr uint64_t brief_ns = 20'000, long_ns = 200'000;
constexpr unsigned most_credits = 16, needed_credits = 8, cost_of_longer = 8;

}  // namespace

class Callbacks::Queue final : public Errand, public std::enable_shared_from_this<Queue> {
 public:
  std::mutex mutex;
  bool stop = false;  // under it; not while there are calls, each of which keeps the context

  // Under the mutex: true when the thread is to be told.
  bool push(std::function<void()> call, At at) {
    calls_.push_back(std::move(call));
    if (caller_ != Caller::none) return false;
    if (at != At::command_end || credits_ < needed_credits || !Errands::leave(*this)) return true;
    caller_ = Caller::worker;
    return false;
  }
  void tellThread() { changed_.notify_one(); }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed_.wait(lock, [&] { return stop || (caller_ == Caller::none && !calls_.empty()); });
      if (calls_.empty()) return;
      caller_ = Caller::thread;
      callNext(lock, [](auto& call) { call = nullptr; });
      caller_ = Caller::none;
    }
  }

  void run() noexcept override {
    const auto alive = shared_from_this();
    std::unique_lock lock(mutex);
    for (size_t left = calls_.size(); left != 0 && credits_ >= needed_credits; --left)
      callNext(lock, [](auto& call) {
        const RuntimeScope scope;  // what ends may have to wait for this worker
        call = nullptr;
      });
    handOver(lock);
  }

  void decline() noexcept override {
    const auto alive = shared_from_this();
    std::unique_lock lock(mutex);
    handOver(lock);
  }

 private:
  // Who makes calls, or is about to, and will look for more.
  enum class Caller : uint8_t { none, thread, worker };

  // What a call holds may be the last reference to the context, and so to all of this.
  template <class End>
  void callNext(std::unique_lock<std::mutex>& lock, const End& end) {
    auto call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    const uint64_t begin = profiling::now();
    call();
    const uint64_t taken = profiling::now() - begin;
    end(call);
    lock.lock();
    if (taken < brief_ns)
      credits_ = std::min(credits_ + 1, most_credits);
    else
      credits_ -= taken < long_ns ? std::min(credits_, cost_of_longer) : credits_;
  }

  void handOver(std::unique_lock<std::mutex>& lock) {
    caller_ = Caller::none;
    const bool any = !calls_.empty();
    lock.unlock();
    if (any) tellThread();
  }

  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;
  Caller caller_ = Caller::none;
  unsigned credits_ = 0;
};

Callbacks::Callbacks() : queue_(std::make_shared<Queue>()) {}

Callbacks::~Callbacks() {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->stop = true;
  }
  queue_->tellThread();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void Callbacks::start() try {
  const std::lock_guard lock(queue_->mutex);
  if (!thread_.joinable()) thread_ = std::thread([queue = queue_] { queue->serve(); });
} catch (const std::system_error&) {
  throw Error(CL_OUT_OF_RESOURCES, "the system refuses another thread");
}

void Callbacks::post(std::function<void()> call, At at) {
  bool tell = false;
  {
    const std::lock_guard lock(queue_->mutex);
    tell = queue_->push(std::move(call), at);
  }
  if (tell) queue_->tellThread();
}

}  // namespace weft
