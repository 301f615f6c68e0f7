#include "backends/hip/stream.h"

#include <algorithm>

#include "backends/hip/errors.h"

namespace weft::hip {
namespace {

constexpr size_t unordered_width = 4;

}  // namespace

Fence::Fence(std::shared_ptr<DeviceContext> context)
    : context_(std::move(context)), event_(context_->plain_events.take()) {}

InOrderStream::Core::Core(std::shared_ptr<DeviceContext> shared, const StreamOptions& wanted)
    : context(std::move(shared)),
      api(context->api),
      options(wanted),
      events(wanted.timestamps == Timestamps::none ? context->plain_events
                                                   : context->timed_events) {
  const Current current(api, context->device);
  check(api, current.status(), "making the device current");
  check(api, api.streamCreateWithFlags(&handle, stream_non_blocking), "creating a stream");
  // The first base now, while nothing of this stream waits for anything.
  if (options.timestamps != Timestamps::none) context->clock.base(hostNow());
}

InOrderStream::Core::~Core() {
  const Current current(api, context->device);
  api.streamDestroy(handle);
}

InOrderStream::InOrderStream(std::shared_ptr<DeviceContext> context, const StreamOptions& options)
    : core_(std::make_shared<Core>(std::move(context), options)),
      thread_([core = core_] { core->run(); }) {}

InOrderStream::~InOrderStream() {
  core_->queue.lock()->stop = true;
  core_->changed.notify_one();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void InOrderStream::submit(port::Operation& operation) noexcept {
  Flight flight;
  flight.operation = &operation;
  flight.submitted = hostNow();
  core_->pending.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard ordered(core_->submitting);
  core_->enqueue(flight);
  core_->push(std::move(flight));
}

Status InOrderStream::wait(const HostWord& word, uint32_t at_least) noexcept {
  if (!core_->api.streamWaitValue32) return not_supported;
  const std::lock_guard ordered(core_->submitting);
  const Current current(core_->api, core_->context->device);
  if (current.status() != success) return current.status();
  return core_->api.streamWaitValue32(core_->handle, word.device, at_least, wait_value_gte, ~0u);
}

Status InOrderStream::wait(const Fence& fence) noexcept {
  const std::lock_guard ordered(core_->submitting);
  const Current current(core_->api, core_->context->device);
  if (current.status() != success) return current.status();
  return core_->api.streamWaitEvent(core_->handle, fence.event(), 0);
}

std::unique_ptr<Fence> InOrderStream::record() {
  const std::lock_guard ordered(core_->submitting);
  const Current current(core_->api, core_->context->device);
  auto fence = std::make_unique<Fence>(core_->context);
  if (!fence->event() || core_->api.eventRecord(fence->event(), core_->handle) != success)
    return nullptr;
  return fence;
}

void InOrderStream::Core::enqueue(Flight& flight) noexcept {
  const Current current(api, context->device);
  flight.status = current.status();
  if (flight.status != success) return;
  const bool timed = options.timestamps != Timestamps::none;
  if (timed) flight.base = context->clock.base(flight.submitted);
  if (options.timestamps == Timestamps::both) {
    flight.start = events.take();
    if (flight.start) api.eventRecord(flight.start, handle);
  }
  flight.status = encode(*context, handle, flight.operation->work, flight.borrowed);
  // Recorded after a failure, too: what came before it has to end before this flight does.
  flight.end = events.take();
  const Status recorded = flight.end ? api.eventRecord(flight.end, handle) : out_of_memory;
  if (recorded == success) return;
  events.give(flight.end);
  flight.end = nullptr;
  if (flight.status == success) flight.status = recorded;
}

void InOrderStream::Core::push(Flight&& flight) {
  bool sleeping = false;
  {
    auto locked = queue.lock();
    locked->flights.push_back(std::move(flight));
    sleeping = locked->sleeping;
  }
  if (sleeping) changed.notify_one();
}

InOrderStream::Flight* InOrderStream::Core::next() {
  // A stream in use gets its next operation soon; waking this thread would cost its submitter more.
  const port::Nanoseconds give_up = hostNow() + options.spin_ns;
  while (pending.load(std::memory_order_relaxed) == 0 && hostNow() < give_up) {
  }
  auto locked = queue.lock();
  while (locked->flights.empty() && !locked->stop) {
    locked->sleeping = true;
    changed.wait(locked.native());
    locked->sleeping = false;
  }
  // Elements of a deque stay where they are while others are pushed.
  return locked->flights.empty() ? nullptr : &locked->flights.front();
}

void InOrderStream::Core::tellStart(Flight& flight, port::Nanoseconds when) noexcept {
  if (flight.told_start) return;
  flight.told_start = true;
  flight.operation->started(when);
}

Status InOrderStream::Core::await(Flight& flight) noexcept {
  if (!flight.end) return flight.status;
  const port::Nanoseconds give_up = hostNow() + options.spin_ns;
  for (;;) {
    const Status status = api.eventQuery(flight.end);
    if (status != not_ready) return status;
    if (flight.base && flight.start && !flight.told_start &&
        api.eventQuery(flight.start) == success)
      tellStart(flight,
                std::max(context->clock.time(*flight.base, flight.start), flight.submitted));
    if (hostNow() >= give_up) break;
  }
  return api.eventSynchronize(flight.end);
}

void InOrderStream::Core::complete(Flight& flight, Status status) noexcept {
  const port::Nanoseconds now = hostNow();
  port::Nanoseconds start = std::max(last_end, flight.submitted);
  port::Nanoseconds end = now;
  if (flight.base && flight.end && status == success) {
    end = std::min(context->clock.time(*flight.base, flight.end), now);
    if (flight.start) start = context->clock.time(*flight.base, flight.start);
  }
  // Two clocks compared to within some microseconds; the order of things is known better.
  start = std::clamp(start, flight.submitted, now);
  end = std::clamp(end, start, now);
  last_end = end;
  if (flight.status == success) flight.status = status;
  events.give(flight.start);
  events.give(flight.end);
  giveBack(*context, flight.borrowed);
  tellStart(flight, start);
  flight.operation->finished(operationStatus(flight.status), start, end);
}

void InOrderStream::Core::run() noexcept {
  const Current current(api, context->device);
  while (Flight* oldest = next()) {
    const Status status = await(*oldest);
    Flight flight;
    {
      auto locked = queue.lock();
      flight = std::move(*oldest);
      locked->flights.pop_front();
    }
    pending.fetch_sub(1, std::memory_order_relaxed);
    complete(flight, status);
  }
}

UnorderedStream::UnorderedStream(const std::shared_ptr<DeviceContext>& context,
                                 const StreamOptions& options) {
  for (size_t i = 0; i < unordered_width; ++i)
    streams_.push_back(std::make_unique<InOrderStream>(context, options));
}

void UnorderedStream::submit(port::Operation& operation) noexcept {
  // The one with least to do; among equals, the next in turn.
  const size_t first = turn_.fetch_add(1, std::memory_order_relaxed);
  InOrderStream* best = nullptr;
  for (size_t i = 0; i < streams_.size(); ++i) {
    InOrderStream* const stream = streams_[(first + i) % streams_.size()].get();
    if (!best || stream->pending() < best->pending()) best = stream;
  }
  best->submit(operation);
}

}  // namespace weft::hip
