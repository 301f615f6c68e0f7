// Streams: operations go to the runtime when they are submitted; a thread per stream turns what its
// marks tell into finished().
#pragma once

#include <array>
#include <memory>
#include <span>
#include <thread>

#include "backends/hip/stream_core.h"

namespace weft::hip {

class InOrderStream final : public port::Stream {
 public:
  // Throws.
  InOrderStream(std::shared_ptr<DeviceContext> context, const StreamOptions& options);
  ~InOrderStream() override;

  void submit(port::Operation& operation) noexcept override { core_->submit(operation); }
  void flush() noexcept override { core_->closeBatch(); }
  // Looks for completions on the caller's thread, which saves waking one for a short operation.
  void assist(const std::function<bool()>& done) noexcept override;
  void poll() noexcept override { core_->poll(); }

  size_t pending() const noexcept { return core_->pending(); }
  const std::shared_ptr<StreamCore>& core() const noexcept { return core_; }

  // Beyond the port. What is submitted later waits, on the device.
  Status wait(const HostWord& word, uint32_t at_least) noexcept;

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
  void poll() noexcept override;

 private:
  static constexpr size_t width = 4;
  std::array<std::unique_ptr<InOrderStream>, width> streams_;
  std::atomic<size_t> turn_{0};
};

}  // namespace weft::hip
