// A copy of stale bytes of one object between two memory spaces, added by residency.
#pragma once

#include "scheduler/command.h"
#include "scheduler/residency.h"

namespace weft {

class TransferCommand final : public Command {
 public:
  // Runs on `executor`. Starts when its guard is released with launch().
  TransferCommand(Context& context, Device& executor, MemObject& object, size_t begin, size_t end,
                  port::MemorySpace source, port::MemorySpace target);

  // Takes in the bytes up to `end` as well, if they follow those it moves already.
  bool extend(MemObject& object, size_t begin, size_t end, port::MemorySpace source,
              port::MemorySpace target);
  void after(TransferCommand& first) { runBehind(first); }
  // Behind who makes the bytes that it moves; it fails with them.
  using Command::runBehind;
  // It runs in a stream of that queue's, in which who waits for it follows.
  void joinQueue(Queue& queue) { queue_of_stream_ = Ref<Queue>(&queue); }
  void launch() noexcept { releaseGuard(); }

  port::MemorySpace source() const { return source_; }
  size_t bytes() const { return end_ - begin_; }
  port::MemorySpace target() const { return target_; }
  const Claim& claim() const { return claim_; }

 private:
  bool isDeviceWork() const override { return true; }
  void prepare() override;
  bool isMeasured() const override;
  bool isAwaited() const override { return !queue_of_stream_; }
  void enter() noexcept override;
  void settle(cl_int status) noexcept override;
  void finalize(cl_int) noexcept override { object_ = nullptr; }
  std::string what() const override;
  std::string traceName() const override { return "transfer"; }
  void describe(profiling::trace::CommandRecord& record) const noexcept override;
  void count() noexcept;
  void measure() noexcept;

  Ref<MemObject> object_;
  // Not the device's own for transfers. Who runs behind this one asks that stream about it, ended
  // or not.
  Ref<Queue> queue_of_stream_;
  size_t begin_;
  size_t end_;
  port::MemorySpace source_;
  port::MemorySpace target_;
  Claim claim_;
};

}  // namespace weft
