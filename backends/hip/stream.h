// Streams: operations go to the runtime when they are submitted; a thread per stream turns what its
// marks tell into finished().
#pragma once

#include <array>
#include <memory>
#include <span>
#include <thread>

#include "backends/hip/stream_core.h"

namespace weft::hip {

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
  EventHandle event_ = nullptr;
};

class InOrderStream final : public port::Stream {
 public:
  // Throws.
  InOrderStream(std::shared_ptr<DeviceContext> context, const StreamOptions& options);
  ~InOrderStream() override;

  void submit(port::Operation& operation) noexcept override { core_->submit(operation); }
  void flush() noexcept override { core_->closeBatch(StreamCore::Tell::by_event); }
  // Looks for completions on the caller's thread, which saves waking one for a short operation.
  void assist(const std::function<bool()>& done) noexcept override;

  size_t pending() const noexcept { return core_->pending(); }
  const std::shared_ptr<StreamCore>& core() const noexcept { return core_; }

  // Beyond the port, which has no fences yet. What is submitted later waits, on the device.
  Status wait(const HostWord& word, uint32_t at_least) noexcept;
  Status wait(const Fence& fence) noexcept;
  // A fence behind what was submitted so far, of the device's part: what the host has to do for a
  // small read may still be to come. nullptr on failure.
  std::unique_ptr<Fence> record();

 private:
  std::shared_ptr<StreamCore> core_;
  std::thread thread_;
};

// Overlaps its operations by dealing them out to a few in-order streams.
class UnorderedStream final : public port::Stream {
 public:
  UnorderedStream(const std::shared_ptr<DeviceContext>& context, const StreamOptions& options);
  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override;
  void assist(const std::function<bool()>& done) noexcept override;

 private:
  static constexpr size_t width = 4;
  std::array<std::unique_ptr<InOrderStream>, width> streams_;
  std::atomic<size_t> turn_{0};
};

}  // namespace weft::hip
