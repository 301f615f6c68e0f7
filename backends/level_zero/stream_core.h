// What an in-order stream consists of: operations on the device, the events that tell how far it
// has got with them, and operations that wait for the host. What an operation is behind in other
// streams, of any device of the driver, becomes a wait of the device's for such an event, which is
// not given back before that wait has ended, and never where nothing tells that it has. Outlives
// port::Stream when that is destroyed from within finished().
//
// Whoever submits appends to the command list, as long as nothing before needs the host. What does
// (a large copy of the host's memory, a kernel that prints, a call) is done by the stream's thread
// when the device has come that far, and what comes behind waits for it, in other streams, too. Of
// a small copy to the host's memory the last part is the host's: it stands behind the event, so
// what other streams have behind such a copy waits for the host, even what is the device's alone,
// for a copy from the same memory may stand behind that in turn.
#pragma once

#include <condition_variable>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/level_zero/transfer.h"

namespace weft::level_zero {

class StreamCore : public std::enable_shared_from_this<StreamCore> {
 public:
  // Throws.
  StreamCore(std::shared_ptr<DeviceContext> shared, const QueueGroup& group);
  ~StreamCore();
  StreamCore(const StreamCore&) = delete;
  StreamCore& operator=(const StreamCore&) = delete;

  void submit(port::Operation& operation) noexcept;
  // Has the end told of everything submitted so far.
  void flush() noexcept;
  // Completes the oldest operation on the device if it has ended and nobody else is at it.
  bool completeOldest() noexcept;
  // The stream's thread, until stop().
  void run() noexcept;
  void stop() noexcept;

  // Is the operation the last that was submitted here?
  bool endsWith(const port::Operation::Place& place) const noexcept {
    return place.lane == this && place.number == sequence_.load(std::memory_order_relaxed);
  }
  size_t pending() const noexcept { return pending_.load(std::memory_order_relaxed); }

  const std::shared_ptr<DeviceContext> context;
  const Api& api;

 private:
  // How long the thread looks before it sleeps.
  static constexpr port::Nanoseconds spin_ns = 30'000;

  // What an operation is behind in another stream.
  struct Before {
    std::shared_ptr<StreamCore> core;
    uint64_t sequence = 0;
    std::shared_ptr<SharedEvent> event;  // nullptr: the host waits
    bool needsHost() const noexcept { return !event && !core->hasEnded(sequence); }
  };
  using Befores = std::vector<Before>;

  // An operation that waits for the host's part in it, or in one before.
  struct Waiting {
    port::Operation* operation = nullptr;
    Befores before;
  };

  // An operation on the device.
  struct Flight {
    port::Operation* operation = nullptr;
    uint64_t sequence = 0;
    ze_result_t result = ZE_RESULT_SUCCESS;  // of appending it; what came before has to end first
    port::Nanoseconds submitted = 0;
    uint64_t* times = nullptr;  // where the device writes when it began and ended
    bool has_times = false;     // both
    ClockBase base;
    ze_event_handle_t began = nullptr;
    port::Nanoseconds told_start = 0;
    Borrowed borrowed;
    Befores before;
  };

  // Behind the flights up to `sequence`.
  struct Mark {
    uint64_t sequence = 0;
    ze_event_handle_t event = nullptr;
    // NOT_READY: the event will tell. Else the device is lost, or the driver has told already.
    ze_result_t result = ZE_RESULT_NOT_READY;
    std::shared_ptr<SharedEvent> shared;  // who owns the event, once others wait for it
  };

  struct Queue {
    std::deque<Flight> flights;
    std::deque<Mark> marks;
    std::deque<Waiting> waiting;  // for the host's part in the first of them
    std::deque<uint64_t> reads;   // flights whose last part is the host's, until it is done
    ze_result_t ended_result = ZE_RESULT_SUCCESS;
    bool sleeping = false;
    bool stop = false;
  };

  bool needsHost(const port::Operation::Work& work) const noexcept;
  // The host's part in it too, and in those before.
  bool hasEnded(uint64_t sequence) const noexcept {
    return ended_.load(std::memory_order_acquire) >= sequence && !readsUpTo(sequence);
  }
  bool readsUpTo(uint64_t sequence) const noexcept {
    return oldest_read_.load(std::memory_order_acquire) <= sequence;
  }
  Befores ahead(const port::Operation& operation) noexcept;
  Before lend(uint64_t sequence) noexcept;
  ze_result_t waitFor(const Befores& before) noexcept;
  bool hold(port::Operation& operation, Befores& before) noexcept;
  void append(port::Operation& operation, Befores before) noexcept;
  void beginTimes(Flight& flight) noexcept;
  ze_result_t appendWork(Flight& flight) noexcept;
  ze_result_t barrier(ze_event_handle_t event) noexcept;
  bool makeMark(Mark& mark, uint64_t* times) noexcept;
  void closeBatch() noexcept;
  void addMark() noexcept;
  void push(Flight&& flight, const Mark* mark) noexcept;
  void finishRead(const Flight& flight) noexcept;
  void settle(const Mark& mark, ze_result_t result) noexcept;
  bool reached(const Mark& mark, ze_result_t& result) noexcept;
  bool take(Flight& flight, ze_result_t& result) noexcept;
  port::Nanoseconds startOf(const Flight& flight, port::Nanoseconds told,
                            port::Nanoseconds latest) const noexcept;
  void giveBack(const Mark& mark, ze_result_t ended) noexcept;
  void giveBack(Flight& flight, ze_result_t ended) noexcept;
  void complete(Flight& flight, ze_result_t result) noexcept;
  void tellStartOfOldest() noexcept;
  bool waitForWork() noexcept;
  void awaitOldest(unsigned& tries) noexcept;
  void markOpen(unsigned& tries) noexcept;
  void performWaiting() noexcept;
  void awaitEnd(uint64_t sequence) const noexcept;
  void performFirst(port::Operation& operation) noexcept;
  port::OperationStatus perform(const port::Operation::Work& work) noexcept;
  bool canAppend(const Waiting& waiting) const noexcept;
  void appendWaiting() noexcept;

  // What the list may still wait for. Under `completing_`.
  std::vector<std::shared_ptr<SharedEvent>> stranded_;
  Transfers transfers_;
  std::mutex submitting_;  // the order on the device is the order in the queue
  // Changed under `submitting_`: the last sequence, the last that is on the device or needs it no
  // more, and the last of these that has a mark.
  std::atomic<uint64_t> sequence_{0};
  uint64_t appended_ = 0;
  uint64_t marked_ = 0;
  bool unordered_ = false;  // what is appended next may overlap with what was before: no barrier
  // Whoever sets it completes operations: one at a time, in their order.
  std::atomic<bool> completing_{false};
  Guarded<Queue> queue_;
  std::condition_variable changed_;
  std::atomic<uint64_t> ended_{0};  // on the device: the operations up to this one
  std::atomic<size_t> pending_{0};  // submitted and not finished
  std::atomic<size_t> queued_{0};   // of those, the ones in `queue_`
  std::atomic<size_t> marks_{0};    // in `queue_`
  static constexpr uint64_t no_read = std::numeric_limits<uint64_t>::max();
  std::atomic<uint64_t> oldest_read_{no_read};  // of Queue::reads
  port::Nanoseconds last_end_ = 0;              // that is known; under `completing_`
};

}  // namespace weft::level_zero
