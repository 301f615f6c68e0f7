#include "tests/software_gpu/stream.h"

#include <unistd.h>

#include <chrono>
#include <future>

#include "tests/software_gpu/device.h"

namespace weft::software {

Nanoseconds now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<Nanoseconds>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

Stream::Stream(Device& device) : device_(device), thread_([this] { run(); }) {}

Stream::~Stream() {
  push(nullptr);
  thread_.join();
  if (socket_ >= 0) close(socket_);
}

void Stream::push(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.notify_one();
}

void Stream::drain() {
  std::promise<void> reached;
  push([&] { reached.set_value(); });
  reached.get_future().wait();
}

int Stream::socket() {
  if (socket_ < 0) socket_ = device_.processor().open();
  return socket_;
}

void Stream::run() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !queue_.empty(); });
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    if (!work) return;
    work();
  }
}

uint64_t Event::issue() {
  const std::lock_guard lock(mutex_);
  return ++issued_;
}

void Event::reach(uint64_t turn) {
  const std::lock_guard lock(mutex_);
  // Recorded anew, in another stream that was faster, it says no more of the recording before.
  if (turn < reached_) return;
  reached_ = turn;
  when_ = now();
  changed_.notify_all();
}

void Event::await(uint64_t turn) {
  std::unique_lock lock(mutex_);
  while (reached_ < turn && !device_.lost()) changed_.wait_for(lock, std::chrono::milliseconds(1));
}

uint64_t Event::issued() {
  const std::lock_guard lock(mutex_);
  return issued_;
}

bool Event::reached() {
  const std::lock_guard lock(mutex_);
  return reached_ == issued_;
}

Nanoseconds Event::when() {
  const std::lock_guard lock(mutex_);
  return when_;
}

}  // namespace weft::software
