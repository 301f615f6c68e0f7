// A queue of operations of one device.
//
// A stream with something to run is in the executor's ready list, or one thread holds it (its
// *token*, which comes with a reference). Only the holder takes operations out, and of an unordered
// stream in the list, under the executor's lock, whoever leaves one there. The holder of an
// in-order stream keeps the token until the operation has finished; that of an unordered one gives
// it back once it has taken one.
#pragma once

#include <atomic>

#include "backends/cpu/executor.h"
#include "core/pool.h"
#include "core/ports/device.h"
#include "core/ref.h"

namespace weft::cpu {

// What outlives port::Stream: it may be destroyed as soon as the last finished() has been called,
// while the thread that called it is still on its way out.
class StreamCore final : public Object {
 public:
  StreamCore(Executor& executor, port::Order order) : executor(executor), order(order) {}

  // True when the caller has to make the stream ready.
  bool push(port::Operation& operation) noexcept;

  // For the holder of the token, while there is an operation: at first, and when drop() says so.
  port::Operation& front() noexcept;
  void pop() noexcept;
  // Without the token, of an unordered stream in the ready list, under the executor's lock: an
  // operation, if that leaves another one for who takes the token.
  port::Operation* popSurplus() noexcept;
  // Begins to bring what front() will be into this core's caches, if it is known already.
  void fetchNext() const noexcept;
  // What was popped has been dealt with. False: none is left, and the token is gone.
  bool drop() noexcept;

  Executor& executor;  // ends its workers, and with them every token, before it goes
  const port::Order order;

  // The executor's, under its lock; `queued` may be read at any time.
  StreamCore* previous = nullptr;
  StreamCore* next = nullptr;
  std::atomic<bool> queued{false};

 private:
  port::Operation* outbox_ = nullptr;  // oldest first; the holder's
  // Newest first, and at the end nullptr or a mark that says that the token is out. In a line of
  // its own, which the holder comes by once for all that it finds there.
  alignas(pool::line_bytes) std::atomic<port::Operation*> inbox_{nullptr};
};

class Stream final : public port::Stream {
 public:
  Stream(Ref<Executor> executor, port::Order order)
      : executor_(std::move(executor)),
        core_(Ref<StreamCore>::adopt(new StreamCore(*executor_, order))) {}

  void submit(port::Operation& operation) noexcept override;
  void flush() noexcept override {}  // submit() hands over at once
  void assist(const std::function<bool()>& done) noexcept override;
  void poll() noexcept override { leave(); }
  void leave() noexcept override { executor_->leaveToWorkers(); }

 private:
  const Ref<Executor> executor_;
  const Ref<StreamCore> core_;
};

}  // namespace weft::cpu
