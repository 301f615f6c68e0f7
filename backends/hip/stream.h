// Streams: operations go to the runtime when they are submitted; a thread per stream turns their
// events into finished().
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/hip/encoder.h"

namespace weft::hip {

// What is recorded around each operation. Fewer events are cheaper.
enum class Timestamps : uint8_t {
  none,  // times are the host's, taken when the completion is seen
  end,   // an operation is said to start when the one before it ended
  both,
};

struct StreamOptions {
  Timestamps timestamps = Timestamps::both;
  // How long the completion thread looks before it sleeps.
  port::Nanoseconds spin_ns = 30'000;
  // Have the device write a number after each operation, so that looking is a load and not a call
  // of the runtime: 5 us less for a caller that assists. Only without timestamps: beside events
  // that are timed the number costs more than it saves.
  bool word = true;
};

// A point in a stream that other streams can wait for.
class Fence {
 public:
  explicit Fence(std::shared_ptr<DeviceContext> context);
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence() { context_->plain_events.give(event_); }
  EventHandle event() const { return event_; }

 private:
  std::shared_ptr<DeviceContext> context_;
  EventHandle event_;
};

class InOrderStream final : public port::Stream {
 public:
  // Throws.
  InOrderStream(std::shared_ptr<DeviceContext> context, const StreamOptions& options);
  ~InOrderStream() override;

  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override {}  // submit() hands over at once
  // Looks for completions on the caller's thread, which saves waking one for a short operation.
  void assist(const std::function<bool()>& done) noexcept override;

  size_t pending() const noexcept { return core_->pending.load(std::memory_order_relaxed); }

  // Beyond the port, which has no fences yet. What is submitted later waits, on the device.
  Status wait(const HostWord& word, uint32_t at_least) noexcept;
  Status wait(const Fence& fence) noexcept;
  // A fence behind what was submitted so far; nullptr on failure.
  std::unique_ptr<Fence> record();

 private:
  struct Flight {
    port::Operation* operation = nullptr;
    EventHandle start = nullptr;
    EventHandle end = nullptr;
    std::shared_ptr<const TimeBase> base;
    port::Nanoseconds submitted = 0;
    Status status = success;
    uint32_t sequence = 0;
    bool told_start = false;
    bool watched = false;  // `end` is for the completion thread to give back
    Borrowed borrowed;
  };

  struct Queue {
    std::deque<Flight> flights;
    EventHandle watched = nullptr;  // the one that the completion thread may be sleeping on
    bool orphaned = false;          // its flight has gone; the completion thread gives it back
    bool sleeping = false;
    bool stop = false;
  };

  // What there is to know of the oldest flight without holding on to it.
  struct Oldest {
    EventHandle end = nullptr;
    uint32_t sequence = 0;
  };

  // Outlives the stream when that is destroyed from within finished().
  struct Core {
    Core(std::shared_ptr<DeviceContext> shared, const StreamOptions& wanted);
    ~Core();

    void enqueue(Flight& flight) noexcept;
    Status mark(Flight& flight) noexcept;
    void push(Flight&& flight);
    // Waits for a flight; false when the stream ends.
    bool next(Oldest& oldest);
    // Returns when the flight may have ended.
    void await(const Oldest& oldest) noexcept;
    // Returns not_ready while the device is not done with it.
    Status reached(const Oldest& oldest) const noexcept;
    // Completes the oldest flight if it has ended and nobody else is at it. `ask`: if the word says
    // no, ask the runtime: a lost device writes no more words, but its events say so.
    bool completeOldest(bool ask) noexcept;
    void unwatch() noexcept;
    void complete(Flight& flight, Status status) noexcept;
    void tellStartOfOldest() noexcept;
    void tellStart(Flight& flight, port::Nanoseconds when) noexcept;
    void run() noexcept;

    const std::shared_ptr<DeviceContext> context;
    const Api& api;
    StreamOptions options;
    EventPool& events;
    StreamHandle handle = nullptr;
    HostWord progress;      // the sequence of the last finished flight, when options.word
    uint32_t sequence = 0;  // under `submitting`
    std::mutex submitting;  // the order on the device is the order in the queue
    // Whoever sets it completes flights: one at a time, in their order.
    std::atomic<bool> completing{false};
    Guarded<Queue> queue;
    std::condition_variable changed;
    std::atomic<size_t> pending{0};  // submitted and not finished
    std::atomic<size_t> queued{0};   // of those, the ones in `queue`
    port::Nanoseconds last_end = 0;  // under `completing`
  };

  std::shared_ptr<Core> core_;
  std::thread thread_;
};

// Overlaps its operations by dealing them out to a few in-order streams.
class UnorderedStream final : public port::Stream {
 public:
  UnorderedStream(const std::shared_ptr<DeviceContext>& context, const StreamOptions& options);
  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override {}

 private:
  std::vector<std::unique_ptr<InOrderStream>> streams_;
  std::atomic<size_t> turn_{0};
};

}  // namespace weft::hip
