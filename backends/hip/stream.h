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
    bool told_start = false;
    Borrowed borrowed;
  };

  struct Queue {
    std::deque<Flight> flights;
    bool sleeping = false;
    bool stop = false;
  };

  // Outlives the stream when that is destroyed from within finished().
  struct Core {
    Core(std::shared_ptr<DeviceContext> shared, const StreamOptions& wanted);
    ~Core();

    void enqueue(Flight& flight) noexcept;
    void push(Flight&& flight);
    // The oldest flight; nullptr when the stream ends.
    Flight* next();
    // Returns what became of the flight's last event.
    Status await(Flight& flight) noexcept;
    void complete(Flight& flight, Status status) noexcept;
    void tellStart(Flight& flight, port::Nanoseconds when) noexcept;
    void run() noexcept;

    const std::shared_ptr<DeviceContext> context;
    const Api& api;
    const StreamOptions options;
    EventPool& events;
    StreamHandle handle = nullptr;
    std::mutex submitting;  // the order on the device is the order in the queue
    Guarded<Queue> queue;
    std::condition_variable changed;
    std::atomic<size_t> pending{0};
    port::Nanoseconds last_end = 0;  // the completion thread's
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
