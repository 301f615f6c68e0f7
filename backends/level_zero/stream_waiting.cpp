// What a stream has that waits for the host's part in it, or in what was before.
#include <algorithm>
#include <chrono>
#include <thread>

#include "backends/level_zero/stream_core.h"
#include "core/reaper.h"

namespace weft::level_zero {

// Nothing is on the device, and nothing gets there while somebody waits.
void StreamCore::performWaiting() noexcept {
  while (completing_.exchange(true)) std::this_thread::yield();
  port::Operation* operation = nullptr;
  Befores before;
  {
    auto locked = queue_.lock();
    if (locked->flights.empty() && !locked->waiting.empty()) {
      operation = locked->waiting.front().operation;
      before = locked->waiting.front().before;
    }
  }
  if (operation) {
    for (const Before& each : before) each.core->awaitEnd(each.sequence);
    if (needsHost(operation->work))
      performFirst(*operation);
    else
      appendWaiting();
  }
  completing_.store(false);
}

// Its thread tells of its ends.
void StreamCore::awaitEnd(uint64_t sequence) const noexcept {
  const port::Nanoseconds since = hostNow();
  while (!hasEnded(sequence)) {
    if (hostNow() < since + spin_ns)
      __builtin_ia32_pause();
    else
      std::this_thread::sleep_for(std::chrono::nanoseconds(spin_ns));
  }
}

void StreamCore::performFirst(port::Operation& operation) noexcept {
  const port::Nanoseconds start = hostNow();
  if (operation.wants_start) operation.started(start);
  const bool noted = context->driver->native_images;
  if (noted) noteWritesBegin(operation.work, transfers_.writer());
  const port::OperationStatus status = perform(operation.work);
  if (noted) noteWritesEnd(operation.work, transfers_.writer());
  const port::Nanoseconds end = last_end_ = hostNow();
  {
    const std::lock_guard ordered(submitting_);
    queue_.lock()->waiting.pop_front();
    queued_.fetch_sub(1, std::memory_order_relaxed);
    appended_ = marked_ = operation.place.number;
    ended_.store(operation.place.number, std::memory_order_release);
  }
  appendWaiting();
  pending_.fetch_sub(1, std::memory_order_relaxed);
  operation.finished(status, start, end);
}

port::OperationStatus StreamCore::perform(const port::Operation::Work& work) noexcept {
  try {
    if (const auto* call = std::get_if<port::HostCall>(&work)) {
      const RuntimeScope scope;
      call->function(call->user);
      return 0;
    }
    check(context->usable(), "the device");
    if (const auto* copy = std::get_if<port::Copy>(&work))
      transfers_.perform(*copy);
    else if (const auto* fill = std::get_if<port::Fill>(&work))
      transfers_.perform(*fill);
    else
      transfers_.perform(std::get<port::Launch>(work));
  } catch (const Error& error) {
    return error.code();
  } catch (const std::exception&) {
    return CL_OUT_OF_HOST_MEMORY;
  }
  return 0;
}

bool StreamCore::canAppend(const Waiting& waiting) const noexcept {
  return !needsHost(waiting.operation->work) &&
         std::ranges::none_of(waiting.before, &Before::needsHost);
}

// Those that wait for nobody any more.
void StreamCore::appendWaiting() noexcept {
  const std::lock_guard ordered(submitting_);
  for (;;) {
    Waiting next;
    {
      auto locked = queue_.lock();
      if (locked->waiting.empty() || !canAppend(locked->waiting.front())) break;
      next = std::move(locked->waiting.front());
      locked->waiting.pop_front();
    }
    append(*next.operation, std::move(next.before));
    queued_.fetch_sub(1, std::memory_order_relaxed);
  }
  closeBatch();
}

}  // namespace weft::level_zero
