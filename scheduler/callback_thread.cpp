#include "scheduler/callback_thread.h"

namespace weft {

CallbackThread::CallbackThread() : shared_(std::make_shared<Shared>()) {}

CallbackThread::~CallbackThread() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->changed.notify_one();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void CallbackThread::post(std::function<void()> call) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->calls.push_back(std::move(call));
    if (!thread_.joinable()) thread_ = std::thread([shared = shared_] { run(shared); });
  }
  shared_->changed.notify_one();
}

void CallbackThread::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->stop || !shared->calls.empty(); });
    if (shared->calls.empty()) return;
    auto call = std::move(shared->calls.front());
    shared->calls.pop_front();
    lock.unlock();
    call();
    call = nullptr;  // what it held may be the last reference to the context, and so to this object
    lock.lock();
  }
}

}  // namespace weft
