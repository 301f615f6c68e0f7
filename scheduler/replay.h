// One execution of a recording: an operation per recorded command, made once and submitted again
// each time the recording is enqueued.
#pragma once

#include <atomic>
#include <memory>

#include "core/ports/device.h"
#include "scheduler/recording.h"

namespace weft {

// Used by one command at a time.
class Replay {
 public:
  // `recording` outlives it.
  explicit Replay(const Recording& recording);
  ~Replay();

  // Makes the operations for `device`, whose objects lost their memory there so often so far; those
  // made before are still good if that has not happened since. Throws Error. False: there is
  // nothing to run.
  bool prepare(Device& device, uint64_t evictions);
  // Before each run: has the launches bring what they touch of managed memory and the host has.
  void noteMoves(const Device& device);
  // Runs the operations; `whole`, which is that command's, is told as if it were the one operation.
  // The replay may be used again, or be gone, when that is called.
  void run(const Event& command, port::Operation& whole, port::Stream& stream,
           bool in_order) noexcept;
  // Once it has run: did all of it run, and fail only because some of what its kernels enqueued had
  // to be given up?
  bool wasOnlyGivenUp() const noexcept;

 private:
  struct Node;

  void submitAll() noexcept;
  void submitRoots() noexcept;
  void started(port::Nanoseconds when) noexcept;
  void finished(Node& node, port::OperationStatus status, port::Nanoseconds start,
                port::Nanoseconds end) noexcept;
  void noteFailure(port::OperationStatus status) noexcept;
  void end(Node& first) noexcept;
  void arrive(uint32_t count) noexcept;
  void record(const Node& node, port::OperationStatus status, port::Nanoseconds start,
              port::Nanoseconds ended) const noexcept;

  const Recording& recording_;
  std::unique_ptr<Node[]> nodes_;
  uint32_t operations_ = 0;         // nodes that have something to run
  const Device* device_ = nullptr;  // for which they were made
  bool prepared_ = false;
  uint64_t evictions_ = 0;

  // --- while it runs ---
  const Event* command_ = nullptr;
  port::Operation* whole_ = nullptr;
  port::Stream* stream_ = nullptr;
  bool in_order_ = false;
  std::atomic<bool> begun_{false};
  std::atomic<port::OperationStatus> failure_{0};
  std::atomic<bool> skipped_{false};  // something did not run because of that
  std::atomic<port::Nanoseconds> first_start_{0}, last_end_{0};
  std::atomic<uint32_t> remaining_{0};  // nodes, or operations if the stream is in order
};

}  // namespace weft
