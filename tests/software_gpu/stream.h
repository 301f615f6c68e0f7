// Streams that really are asynchronous, and events with times.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace weft::software {

class Device;

using Nanoseconds = uint64_t;
Nanoseconds now();

// A thread that does one thing after the other.
class Stream {
 public:
  explicit Stream(Device& device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();  // after all that was given to it

  void push(std::function<void()> work);
  void drain();  // waits for all that was given to it before
  Device& device() const { return device_; }
  // Of its launches; -1 when the processor has ended. On the stream's own thread.
  int socket();

 private:
  void run();

  Device& device_;
  int socket_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;
};

// Shared with the streams it is recorded on: it may be destroyed before they get there.
class Event {
 public:
  Event(Device& device, bool timed) : device_(device), timed_(timed) {}

  uint64_t issue();
  void reach(uint64_t turn);
  void await(uint64_t turn);  // returns, too, when the device is lost
  uint64_t issued();
  bool reached();
  Nanoseconds when();
  bool timed() const { return timed_; }
  Device& device() const { return device_; }

 private:
  Device& device_;
  const bool timed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t issued_ = 0, reached_ = 0;
  Nanoseconds when_ = 0;
};

}  // namespace weft::software
