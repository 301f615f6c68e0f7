#include "backends/cpu/stream.h"

namespace weft::cpu {
namespace {

// The inbox of a stream whose token is out.
port::Operation* taken() noexcept {
  alignas(port::Operation) static constinit std::byte mark{};
  return reinterpret_cast<port::Operation*>(&mark);
}

// From the caches of whoever submitted it. Its end will need more than the operation: what that is
// a part of.
void fetch(const port::Operation& operation) noexcept {
  constexpr ptrdiff_t before = 192;
  constexpr size_t all = 768;
  pool::prefetch(reinterpret_cast<const std::byte*>(&operation) - before, all);
}

}  // namespace

bool StreamCore::push(port::Operation& operation) noexcept {
  port::Operation* head = inbox_.load(std::memory_order_relaxed);
  do operation.next = head;
  while (!inbox_.compare_exchange_weak(head, &operation, std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
  return head == nullptr;
}

port::Operation& StreamCore::front() noexcept {
  if (!outbox_) {
    port::Operation* newest = inbox_.exchange(taken(), std::memory_order_acquire);
    while (newest && newest != taken()) {
      port::Operation* older = newest->next;
      newest->next = outbox_;
      outbox_ = newest;
      newest = older;
    }
    fetch(*outbox_);
  }
  return *outbox_;
}

void StreamCore::pop() noexcept {
  outbox_ = outbox_->next;
  if (outbox_) fetch(*outbox_);
}

void StreamCore::fetchNext() const noexcept {
  if (outbox_) fetch(*outbox_);
}

port::Operation* StreamCore::popSurplus() noexcept {
  if (order != port::Order::unordered || !outbox_ || !outbox_->next) return nullptr;
  port::Operation* const operation = outbox_;
  pop();
  return operation;
}

bool StreamCore::drop() noexcept {
  if (outbox_) return true;
  port::Operation* nothing = taken();
  return !inbox_.compare_exchange_strong(nothing, nullptr, std::memory_order_release,
                                         std::memory_order_relaxed);
}

void Stream::submit(port::Operation& operation) noexcept { executor_->submit(*core_, operation); }

void Stream::assist(const std::function<bool()>& done) noexcept {
  // done() may become true because the stream is no longer needed.
  const Ref<Executor> executor = executor_;
  const Ref<StreamCore> core = core_;
  executor->assist(*core, done);
}

}  // namespace weft::cpu
