// Streams: immediate command lists, and threads that turn the events behind operations into
// finished().
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "backends/level_zero/stream_core.h"

namespace weft::level_zero {

class InOrderStream final : public port::Stream {
 public:
  // Throws.
  InOrderStream(std::shared_ptr<DeviceContext> context, const QueueGroup& group);
  ~InOrderStream() override;

  void submit(port::Operation& operation) noexcept override { core_->submit(operation); }
  void flush() noexcept override { core_->flush(); }
  void assist(const std::function<bool()>& done) noexcept override;
  void poll() noexcept override;
  size_t pending() const noexcept { return core_->pending(); }
  const std::shared_ptr<StreamCore>& core() const { return core_; }

 private:
  std::shared_ptr<StreamCore> core_;
  std::atomic<port::Nanoseconds> polled_{0};
  std::thread thread_;
};

// Overlaps its operations by dealing them out to a few in-order streams: copies to one of their
// own, where the device has queues that do nothing else.
class UnorderedStream final : public port::Stream {
 public:
  explicit UnorderedStream(const std::shared_ptr<DeviceContext>& context);
  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override;
  void assist(const std::function<bool()>& done) noexcept override;
  void poll() noexcept override;

 private:
  std::vector<std::unique_ptr<InOrderStream>> streams_;
  std::unique_ptr<InOrderStream> copies_;
  std::atomic<size_t> turn_{0};
};

}  // namespace weft::level_zero
