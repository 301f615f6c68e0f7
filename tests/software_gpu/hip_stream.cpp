// Streams and events.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/software_gpu/hip.h"

using namespace weft::software;
using weft::hip::EventHandle;
using weft::hip::StreamHandle;

namespace {

std::atomic_ref<uint32_t> wordAt(void* address) {
  return std::atomic_ref<uint32_t>(*static_cast<uint32_t*>(address));
}

void awaitWord(const Device& device, void* address, uint32_t value) {
  constexpr int patience = 100;
  for (int i = 0; wordAt(address).load(std::memory_order_acquire) < value && !device.lost(); ++i)
    if (i < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace

WEFT_HIP hipStreamCreateWithFlags(StreamHandle* stream, unsigned) {
  if (const Status status = state(current()); status != ok) return status;
  return hand(stream, new Stream(current()));
}
WEFT_HIP hipStreamDestroy(StreamHandle stream) {
  delete &of(stream);
  --machine().faults.alive;
  return ok;
}
WEFT_HIP hipStreamWaitEvent(StreamHandle stream, EventHandle handle, unsigned) {
  const EventRef event = of(handle);
  return enqueue(stream, [event, turn = event->issued()] { event->await(turn); });
}
// As on AMD: only memory of the kind for signals, and the values are compared as unsigned numbers.
WEFT_HIP hipStreamWaitValue32(StreamHandle stream, void* address, uint32_t value, unsigned flags,
                              uint32_t mask) {
  if (!machine().host_block.holds(address) || flags != weft::hip::wait_value_gte || mask != ~0u)
    return weft::hip::invalid_value;
  return enqueue(stream, [=] { awaitWord(of(stream).device(), address, value); });
}
WEFT_HIP hipStreamWriteValue32(StreamHandle stream, void* address, uint32_t value, unsigned) {
  if (!machine().host_block.holds(address)) return weft::hip::invalid_value;
  return enqueue(stream, [=] {
    if (of(stream).device().lost()) return;
    wordAt(address).store(value, std::memory_order_release);
  });
}
WEFT_HIP hipStreamAddCallback(StreamHandle stream, void (*callback)(StreamHandle, Status, void*),
                              void* user, unsigned) {
  return enqueue(stream, [=] { callback(stream, state(of(stream).device()), user); });
}

WEFT_HIP hipEventCreateWithFlags(EventHandle* event, unsigned flags) {
  if (const Status status = state(current()); status != ok) return status;
  const bool timed = !(flags & weft::hip::event_disable_timing);
  return hand(event, new EventRef(std::make_shared<Event>(current(), timed)));
}
WEFT_HIP hipEventDestroy(EventHandle event) {
  delete &of(event);
  --machine().faults.alive;
  return ok;
}
WEFT_HIP hipEventRecord(EventHandle handle, StreamHandle stream) {
  const EventRef event = of(handle);
  if (&event->device() != &of(stream).device()) return invalid_handle;
  const Status status = state(event->device());
  if (status != ok) return status;
  return enqueue(stream, [event, turn = event->issue()] { event->reach(turn); });
}
WEFT_HIP hipEventQuery(EventHandle handle) {
  const EventRef event = of(handle);
  if (const Status status = state(event->device()); status != ok) return status;
  return event->reached() ? ok : weft::hip::not_ready;
}
WEFT_HIP hipEventSynchronize(EventHandle handle) {
  const EventRef event = of(handle);
  event->await(event->issued());
  return state(event->device());
}
WEFT_HIP hipEventElapsedTime(float* milliseconds, EventHandle begin, EventHandle end) {
  const EventRef a = of(begin), b = of(end);
  if (!a->timed() || !b->timed()) return invalid_handle;
  if (!a->reached() || !b->reached()) return weft::hip::not_ready;
  const auto ns = static_cast<double>(static_cast<int64_t>(b->when() - a->when()));
  *milliseconds = static_cast<float>(ns * 1e-6);
  return state(a->device());
}
