#include "backends/hip/stream.h"

#include <algorithm>

#include "backends/hip/errors.h"

namespace weft::hip {
namespace {

constexpr size_t unordered_width = 4;
// A query of an event takes the runtime's locks; so often and no oftener.
constexpr port::Nanoseconds query_interval = 2'000;
// How long a caller looks for completions before it had better sleep.
constexpr port::Nanoseconds assist_patience = 200'000;

void relax() {
  for (int i = 0; i < 16; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

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
  options.word = wanted.word && wanted.timestamps == Timestamps::none && api.streamWriteValue32;
  if (options.word) progress = context->runtime->words.take();
  // The first base now, while nothing of this stream waits for anything.
  if (options.timestamps != Timestamps::none) context->clock.base(hostNow());
}

InOrderStream::Core::~Core() {
  const Current current(api, context->device);
  api.streamDestroy(handle);
  if (options.word) context->runtime->words.give(progress);
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
  flight.sequence = ++sequence;
  if (flight.status != success) return;
  const bool timed = options.timestamps != Timestamps::none;
  if (timed) flight.base = context->clock.base(flight.submitted);
  if (options.timestamps == Timestamps::both) {
    flight.start = events.take();
    if (flight.start) api.eventRecord(flight.start, handle);
  }
  flight.status = encode(*context, handle, flight.operation->work, flight.borrowed);
  // Marked after a failure, too: what came before it has to end before this flight does.
  const Status marked = mark(flight);
  if (flight.status == success) flight.status = marked;
}

// The flight's end as an event, and as a number in the stream's word.
Status InOrderStream::Core::mark(Flight& flight) noexcept {
  flight.end = events.take();
  Status status = flight.end ? api.eventRecord(flight.end, handle) : out_of_memory;
  if (status == success && options.word)
    status = api.streamWriteValue32(handle, progress.device, flight.sequence, 0);
  if (status == success) return success;
  events.give(flight.end);
  flight.end = nullptr;
  return status;
}

void InOrderStream::Core::push(Flight&& flight) {
  bool sleeping = false;
  {
    auto locked = queue.lock();
    locked->flights.push_back(std::move(flight));
    queued.fetch_add(1, std::memory_order_relaxed);
    sleeping = locked->sleeping;
  }
  if (sleeping) changed.notify_one();
}

bool InOrderStream::Core::next(Oldest& oldest) {
  // A stream in use gets its next operation soon; waking this thread would cost its submitter more.
  const port::Nanoseconds give_up = hostNow() + options.spin_ns;
  while (queued.load(std::memory_order_relaxed) == 0 && hostNow() < give_up) relax();
  auto locked = queue.lock();
  while (locked->flights.empty() && !locked->stop) {
    locked->sleeping = true;
    changed.wait(locked.native());
    locked->sleeping = false;
  }
  if (locked->flights.empty()) return false;
  const Flight& front = locked->flights.front();
  oldest = {front.end, front.sequence};
  locked->watched = front.end;
  return true;
}

Status InOrderStream::Core::reached(const Oldest& oldest) const noexcept {
  if (!oldest.end) return success;  // it failed when it was submitted, and has no end to wait for
  if (!options.word) return api.eventQuery(oldest.end);
  const auto ahead = static_cast<int32_t>(progress.value() - oldest.sequence);
  return ahead >= 0 ? success : not_ready;
}

void InOrderStream::Core::tellStart(Flight& flight, port::Nanoseconds when) noexcept {
  if (flight.told_start) return;
  flight.told_start = true;
  flight.operation->started(when);
}

void InOrderStream::Core::tellStartOfOldest() noexcept {
  if (options.timestamps != Timestamps::both || completing.exchange(true)) return;
  Flight* flight = nullptr;
  {
    auto locked = queue.lock();
    // Elements of a deque stay where they are while others are pushed, and only who holds
    // `completing` takes one out.
    if (!locked->flights.empty()) flight = &locked->flights.front();
  }
  if (flight && flight->base && flight->start && api.eventQuery(flight->start) == success)
    tellStart(*flight,
              std::max(context->clock.time(*flight->base, flight->start), flight->submitted));
  completing.store(false);
}

void InOrderStream::Core::await(const Oldest& oldest) noexcept {
  const port::Nanoseconds give_up = hostNow() + options.spin_ns;
  port::Nanoseconds now = 0;
  do {
    if (reached(oldest) != not_ready) return;
    const port::Nanoseconds again = hostNow() + (options.word ? 0 : query_interval);
    do relax();
    while ((now = hostNow()) < again);
  } while (now < give_up);
  tellStartOfOldest();
  api.eventSynchronize(oldest.end);
}

void InOrderStream::Core::unwatch() noexcept {
  auto locked = queue.lock();
  if (locked->orphaned) events.give(locked->watched);
  locked->orphaned = false;
  locked->watched = nullptr;
}

bool InOrderStream::Core::completeOldest(bool ask) noexcept {
  if (completing.exchange(true)) return false;
  Flight flight;
  Status status = not_ready;
  {
    auto locked = queue.lock();
    if (!locked->flights.empty()) {
      Flight& front = locked->flights.front();
      status = reached({front.end, front.sequence});
      if (status == not_ready && ask && options.word) status = api.eventQuery(front.end);
      if (status != not_ready) {
        flight = std::move(front);
        locked->flights.pop_front();
        queued.fetch_sub(1, std::memory_order_relaxed);
        flight.watched = flight.end && flight.end == locked->watched;
        locked->orphaned |= flight.watched;
      }
    }
  }
  if (flight.operation) {
    pending.fetch_sub(1, std::memory_order_relaxed);
    complete(flight, status);
  }
  completing.store(false);
  return flight.operation != nullptr;
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
  if (!flight.watched) events.give(flight.end);
  giveBack(*context, flight.borrowed);
  tellStart(flight, start);
  flight.operation->finished(operationStatus(flight.status), start, end);
}

void InOrderStream::Core::run() noexcept {
  const Current current(api, context->device);
  Oldest oldest;
  while (next(oldest)) {
    await(oldest);
    unwatch();
    completeOldest(true);
  }
}

void InOrderStream::assist(const std::function<bool()>& done) noexcept {
  const std::shared_ptr<Core> core = core_;  // finished() may destroy the stream
  const Current current(core->api, core->context->device);
  port::Nanoseconds give_up = hostNow() + assist_patience;
  while (!done() && hostNow() < give_up) {
    if (core->completeOldest(false))
      give_up = hostNow() + assist_patience;
    else
      relax();
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
