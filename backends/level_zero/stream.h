// Streams: a thread appends operations to an immediate command list and turns the events behind
// them into finished().
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "backends/level_zero/transfer.h"

namespace weft::level_zero {

class InOrderStream final : public port::Stream {
 public:
  // Throws.
  explicit InOrderStream(std::shared_ptr<DeviceContext> context);
  ~InOrderStream() override;

  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override {}
  size_t pending() const noexcept { return core_->pending.load(std::memory_order_relaxed); }

 private:
  // An operation on the device.
  struct Flight {
    port::Operation* operation = nullptr;
    ze_event_handle_t end = nullptr;
    ze_result_t result = ZE_RESULT_SUCCESS;  // of appending it; what came before has to end first
    port::Nanoseconds start = 0;
  };
  struct Queue {
    std::deque<port::Operation*> operations;
    bool stop = false;
  };

  // Outlives the stream when that is destroyed from within finished().
  struct Core {
    explicit Core(std::shared_ptr<DeviceContext> shared);

    void run() noexcept;
    // The next operation; nullptr when there is none, or when the stream ends and `wait` is set.
    port::Operation* next(bool wait);
    void perform(port::Operation& operation) noexcept;
    ze_result_t append(const port::Operation::Work& work) noexcept;
    void begin(Flight& flight) noexcept;
    void onHost(port::Operation& operation) noexcept;
    // Waits for the oldest flight; false when something else came up before it ended.
    bool awaitOldest(bool until_it_ends) noexcept;
    void completeOldest(ze_result_t result) noexcept;
    void drain() noexcept;
    void finish(port::Operation& operation, port::OperationStatus status,
                port::Nanoseconds start) noexcept;
    void refuse(port::Operation& operation, ze_result_t result) noexcept;

    const std::shared_ptr<DeviceContext> context;
    const Api& api;
    Transfers transfers;
    Guarded<Queue> queue;
    std::condition_variable changed;
    std::atomic<size_t> pending{0};  // submitted and not finished
    std::atomic<size_t> queued{0};   // of those, the ones in `queue`
    std::deque<Flight> flights;      // the thread's
  };

  std::shared_ptr<Core> core_;
  std::thread thread_;
};

// Overlaps its operations by dealing them out to a few in-order streams.
class UnorderedStream final : public port::Stream {
 public:
  explicit UnorderedStream(const std::shared_ptr<DeviceContext>& context);
  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override {}

 private:
  std::vector<std::unique_ptr<InOrderStream>> streams_;
  std::atomic<size_t> turn_{0};
};

}  // namespace weft::level_zero
