// The host's part of a stream's copies.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/hip/copy_crew.h"
#include "core/ports/device.h"

namespace weft::hip {

// What the host does for one operation, once: a move, or a call.
class HostPart {
 public:
  HostPart(CopyCrew& crew, const HostMove& move) : crew_(&crew), move_(move) {}
  explicit HostPart(const port::HostCall& call) : call_(&call) {}

  // First what it was made to follow. A second call waits for the first, and does nothing.
  void run() noexcept;
  // The operation has ended: nothing that it lent is touched any more.
  void drop() noexcept;
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }

 private:
  friend class HostOrder;
  CopyCrew* crew_ = nullptr;
  HostMove move_{};
  const port::HostCall* call_ = nullptr;  // the operation's
  std::vector<std::shared_ptr<HostPart>> before_;
  std::mutex running_;
  std::atomic<bool> done_{false};
};

// The host's parts in the order of a stream. A call of the host in stream order costs the driver a
// thread's wake-up, so a small read leaves its part to whoever notices its end. What comes behind
// it in the stream and has a part of the host's, too, sees to it that it was done. Under the
// stream's submitting lock.
class HostOrder {
 public:
  // Is everything done that the host has a part in?
  bool idle() noexcept;
  // In stream order, behind all that was left to others.
  void add(const std::shared_ptr<HostPart>& part);
  // Left to who notices the operation's end.
  void leave(const std::shared_ptr<HostPart>& part);
  // What follows is of the stream's operation of that number.
  void begin(uint64_t number) { number_ = number; }
  // Adds to `parts` what operations up to that one have left to others and is not done yet. What
  // those behind it left is not ready to be done.
  void addLeft(uint64_t number, std::vector<std::shared_ptr<HostPart>>& parts);
  // The operation waits for another stream, and for what was left to the host there.
  void follow(const std::vector<std::shared_ptr<HostPart>>& parts);

 private:
  void forget() noexcept;

  struct Left {
    uint64_t number;
    std::shared_ptr<HostPart> part;
  };
  uint64_t number_ = 0;
  // That are not done, as far as is known.
  std::deque<std::shared_ptr<HostPart>> parts_;
  std::deque<Left> left_, followed_;
};

}  // namespace weft::hip
