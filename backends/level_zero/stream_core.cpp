#include "backends/level_zero/stream_core.h"

#include <algorithm>

#include "backends/level_zero/module.h"

namespace weft::level_zero {
namespace {

// Operations that nobody observes hold memory until their end is told.
constexpr uint64_t most_unmarked = 64;

}  // namespace

StreamCore::StreamCore(std::shared_ptr<DeviceContext> shared, const QueueGroup& group)
    : context(std::move(shared)), api(context->api), transfers_(context, group) {}

StreamCore::~StreamCore() {
  for (const Mark& mark : queue_.lock()->marks)
    if (!mark.shared) context->events.give(mark.event);
}

bool StreamCore::needsHost(const port::Operation::Work& work) const noexcept {
  if (const auto* launch = std::get_if<port::Launch>(&work))
    return static_cast<const Module*>(launch->module)->prints(launch->kernel);
  if (const auto* copy = std::get_if<port::Copy>(&work)) {
    if (!transfers_.needsHost(*copy)) return false;
    // Bytes on their way into host memory must be there before anything is read from it.
    const bool reads_first = transfers_.isFromHost(*copy) && readsUpTo(no_read - 1);
    return !transfers_.isSmall(*copy) || reads_first;
  }
  if (const auto* fill = std::get_if<port::Fill>(&work)) return transfers_.needsHost(*fill);
  return std::holds_alternative<port::HostCall>(work);
}

void StreamCore::submit(port::Operation& operation) noexcept {
  pending_.fetch_add(1, std::memory_order_relaxed);
  Befores before = ahead(operation);
  const std::lock_guard ordered(submitting_);
  const uint64_t sequence = sequence_.load(std::memory_order_relaxed) + 1;
  operation.place = {this, sequence};
  sequence_.store(sequence, std::memory_order_relaxed);
  if (!hold(operation, before)) return append(operation, std::move(before));
  closeBatch();
}

// One stream's lock at a time.
StreamCore::Befores StreamCore::ahead(const port::Operation& operation) noexcept {
  Befores before;
  for (const port::Operation* each : operation.behind) {
    auto* const core = static_cast<StreamCore*>(each->place.lane);
    const uint64_t number = each->place.number;
    if (core != this && !core->hasEnded(number)) before.push_back(core->lend(number));
  }
  return before;
}

// What to wait for to be behind that operation.
StreamCore::Before StreamCore::lend(uint64_t sequence) noexcept {
  Before before{shared_from_this(), sequence, nullptr};
  const std::lock_guard ordered(submitting_);
  if (appended_ < sequence) return before;
  if (marked_ < sequence) closeBatch();
  const auto locked = queue_.lock();
  if (readsUpTo(sequence)) return before;
  const auto mark = std::ranges::find_if(
      locked->marks, [&](const Mark& other) { return other.sequence >= sequence; });
  if (mark == locked->marks.end() || mark->result != ZE_RESULT_NOT_READY) return before;
  if (!mark->shared) mark->shared = std::make_shared<SharedEvent>(context, mark->event);
  before.event = mark->shared;
  return before;
}

ze_result_t StreamCore::waitFor(const Befores& before) noexcept {
  if (unordered_) {
    const ze_result_t result = barrier(nullptr);
    if (result != ZE_RESULT_SUCCESS) return result;
    unordered_ = false;
  }
  std::vector<ze_event_handle_t> events;
  for (const Before& each : before)
    if (each.event) events.push_back(each.event->get());
  if (events.empty()) return ZE_RESULT_SUCCESS;
  return api.commandListAppendBarrier(transfers_.list(), nullptr,
                                      static_cast<uint32_t>(events.size()), events.data());
}

// True when the operation has to wait for the host's part in it, or in one before.
bool StreamCore::hold(port::Operation& operation, Befores& before) noexcept {
  bool sleeping = false;
  {
    auto locked = queue_.lock();
    if (locked->waiting.empty() && !needsHost(operation.work) &&
        std::ranges::none_of(before, &Before::needsHost))
      return false;
    locked->waiting.push_back({&operation, std::move(before)});
    queued_.fetch_add(1, std::memory_order_release);
    sleeping = locked->sleeping;
  }
  if (sleeping) changed_.notify_one();
  return true;
}

void StreamCore::append(port::Operation& operation, Befores before) noexcept {
  Flight flight;
  flight.operation = &operation;
  flight.submitted = hostNow();
  flight.sequence = appended_ = operation.place.number;
  flight.before = std::move(before);
  flight.result = context->usable();
  if (flight.result == ZE_RESULT_SUCCESS) flight.result = context->note(waitFor(flight.before));
  const bool timed = operation.timed || operation.wants_start;
  if (flight.result == ZE_RESULT_SUCCESS) {
    if (timed) beginTimes(flight);
    flight.result = context->note(appendWork(flight));
  }
  operation.refused.store(flight.result != ZE_RESULT_SUCCESS, std::memory_order_relaxed);
  if (context->driver->native_images) noteWritesBegin(operation.work, transfers_.writer());
  const bool recent = appended_ - marked_ < most_unmarked;
  const bool told = operation.observed || operation.awaited || timed;
  if (recent && !told && flight.result == ZE_RESULT_SUCCESS) {
    flight.result = context->note(barrier(nullptr));
    unordered_ = flight.result != ZE_RESULT_SUCCESS;
    return push(std::move(flight), nullptr);
  }
  Mark mark;
  const bool made = makeMark(mark, flight.times);
  flight.has_times = made && flight.times;
  push(std::move(flight), made ? &mark : nullptr);
}

// Without a place for its times it gets those of the host.
void StreamCore::beginTimes(Flight& flight) noexcept {
  flight.base = context->clock.base(flight.submitted);
  flight.times = reinterpret_cast<uint64_t*>(context->times.take());
  if (!flight.times) return;
  if (flight.operation->wants_start) flight.began = context->events.take();
  const ze_result_t result = context->note(api.commandListAppendWriteGlobalTimestamp(
      transfers_.list(), flight.times, flight.began, 0, nullptr));
  if (result == ZE_RESULT_SUCCESS) return;
  context->times.give(reinterpret_cast<std::byte*>(std::exchange(flight.times, nullptr)));
  context->events.give(std::exchange(flight.began, nullptr));
}

ze_result_t StreamCore::appendWork(Flight& flight) noexcept {
  const port::Operation::Work& work = flight.operation->work;
  if (const auto* launch = std::get_if<port::Launch>(&work))
    return transfers_.append(*launch, flight.borrowed);
  if (const auto* copy = std::get_if<port::Copy>(&work))
    return transfers_.needsHost(*copy) ? transfers_.append(*copy, flight.borrowed)
                                       : transfers_.append(*copy);
  if (const auto* fill = std::get_if<port::Fill>(&work)) return transfers_.append(*fill);
  return ZE_RESULT_SUCCESS;
}

// Commands of a list may overlap where it does not promise otherwise; the barrier behind each
// operation keeps it from that.
ze_result_t StreamCore::barrier(ze_event_handle_t event) noexcept {
  if (!event && transfers_.inOrder()) return ZE_RESULT_SUCCESS;
  return api.commandListAppendBarrier(transfers_.list(), event, 0, nullptr);
}

// Made after a failure, too: what came before has to end before this flight does. Of a lost device
// it says so. False: for now there is nothing that could tell, while the device goes on.
bool StreamCore::makeMark(Mark& mark, uint64_t* times) noexcept {
  mark.sequence = appended_;
  ze_result_t result = context->usable();
  if (result == ZE_RESULT_SUCCESS) mark.event = context->events.take();
  if (result == ZE_RESULT_SUCCESS && !mark.event) result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  if (result == ZE_RESULT_SUCCESS) result = barrier(times ? nullptr : mark.event);
  if (times && result == ZE_RESULT_SUCCESS)
    result = api.commandListAppendWriteGlobalTimestamp(transfers_.list(), times + 1, mark.event, 0,
                                                       nullptr);
  if (context->note(result) != ZE_RESULT_SUCCESS) {
    unordered_ = true;
    mark.result = context->usable();
    if (mark.result == ZE_RESULT_SUCCESS) {
      context->events.give(mark.event);
      return false;
    }
  }
  marked_ = appended_;
  return true;
}

void StreamCore::push(Flight&& flight, const Mark* mark) noexcept {
  bool sleeping = false;
  {
    auto locked = queue_.lock();
    if (flight.borrowed.to_host) {
      locked->reads.push_back(flight.sequence);
      oldest_read_.store(locked->reads.front(), std::memory_order_release);
    }
    locked->flights.push_back(std::move(flight));
    queued_.fetch_add(1, std::memory_order_release);
    if (mark) {
      locked->marks.push_back(*mark);
      marks_.fetch_add(1, std::memory_order_release);
    }
    sleeping = locked->sleeping;
  }
  if (sleeping) changed_.notify_one();
}

void StreamCore::flush() noexcept {
  const std::lock_guard ordered(submitting_);
  closeBatch();
}

void StreamCore::closeBatch() noexcept {
  if (marked_ != appended_) addMark();
}

void StreamCore::addMark() noexcept {
  Mark mark;
  if (!makeMark(mark, nullptr)) return;
  auto locked = queue_.lock();
  locked->marks.push_back(mark);
  marks_.fetch_add(1, std::memory_order_release);
}

bool StreamCore::reached(const Mark& mark, ze_result_t& result) noexcept {
  result = mark.result == ZE_RESULT_NOT_READY ? context->look(mark.event) : mark.result;
  return result != ZE_RESULT_NOT_READY;
}

bool StreamCore::take(Flight& flight, ze_result_t& result) noexcept {
  auto locked = queue_.lock();
  if (locked->flights.empty()) return false;
  Flight& front = locked->flights.front();
  while (ended_.load(std::memory_order_relaxed) < front.sequence) {
    if (locked->marks.empty()) return false;
    const Mark mark = locked->marks.front();
    if (!reached(mark, locked->ended_result)) return false;
    ended_.store(mark.sequence, std::memory_order_release);
    locked->marks.pop_front();
    marks_.fetch_sub(1, std::memory_order_relaxed);
    giveBack(mark, locked->ended_result);
  }
  result = locked->ended_result;
  flight = std::move(front);
  locked->flights.pop_front();
  queued_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool StreamCore::completeOldest() noexcept {
  if (completing_.exchange(true)) return false;
  Flight flight;
  ze_result_t result = ZE_RESULT_SUCCESS;
  const bool taken = take(flight, result);
  if (taken) complete(flight, result);
  completing_.store(false);
  return taken;
}

// Two clocks compared to within some microseconds, on a busy machine milliseconds, and anew every
// second; the order of things is known better. `told` by the device's clock.
port::Nanoseconds StreamCore::startOf(const Flight& flight, port::Nanoseconds told,
                                      port::Nanoseconds latest) const noexcept {
  if (flight.told_start != 0) return flight.told_start;
  const port::Nanoseconds earliest = std::max(flight.submitted, last_end_);
  return std::clamp(told, earliest, std::max(earliest, latest));
}

void StreamCore::finishRead(const Flight& flight) noexcept {
  if (flight.result == ZE_RESULT_SUCCESS) flight.borrowed.finish();
  auto locked = queue_.lock();
  locked->reads.pop_front();
  oldest_read_.store(locked->reads.empty() ? no_read : locked->reads.front(),
                     std::memory_order_release);
}

// An event that has not fired may do so later, when it would be another's. Where others wait for it
// it has to: a device that is lost must not hold up the rest.
void StreamCore::giveBack(const Mark& mark, ze_result_t ended) noexcept {
  if (mark.shared) {
    if (ended != ZE_RESULT_SUCCESS) mark.shared->abandon();
  } else if (ended == ZE_RESULT_SUCCESS) {
    context->events.give(mark.event);
  }
}

// Without an event that tells so, the flight need not have ended on the device: what that may still
// wait for stays as long as its list does, and what it may write as long as the context.
void StreamCore::giveBack(Flight& flight, ze_result_t ended) noexcept {
  if (ended == ZE_RESULT_SUCCESS) {
    flight.borrowed.giveBack(*context);
    context->events.give(flight.began);
    context->times.give(reinterpret_cast<std::byte*>(flight.times));
  } else {
    for (Before& before : flight.before) {
      if (!before.event) continue;
      before.event->keep();
      stranded_.push_back(std::move(before.event));
    }
  }
  flight.before.clear();
}

void StreamCore::complete(Flight& flight, ze_result_t result) noexcept {
  const port::Nanoseconds now = hostNow();
  port::Nanoseconds begun = 0, ended = 0;
  if (flight.has_times && result == ZE_RESULT_SUCCESS) {
    begun = context->clock.time(flight.base, flight.times[0]);
    ended = context->clock.time(flight.base, flight.times[1]);
  }
  const bool known = begun != 0 && ended >= begun && ended - begun < now;
  // One clock says that, whatever the other one says of where it was.
  const port::Nanoseconds length = known ? ended - begun : 0;
  const port::Nanoseconds start = startOf(flight, begun, now - length);
  const port::Nanoseconds end = known ? std::min(start + length, now) : now;
  // The host may have noticed long after it.
  if (known) last_end_ = end;
  if (flight.result == ZE_RESULT_SUCCESS) flight.result = result;
  if (flight.borrowed.to_host) finishRead(flight);
  giveBack(flight, result);
  pending_.fetch_sub(1, std::memory_order_relaxed);
  port::Operation& operation = *flight.operation;
  if (operation.wants_start && flight.told_start == 0) operation.started(start);
  if (context->driver->native_images) noteWritesEnd(operation.work, transfers_.writer());
  operation.finished(operationStatus(flight.result), start, end);
}

void StreamCore::tellStartOfOldest() noexcept {
  if (completing_.exchange(true)) return;
  Flight* flight = nullptr;
  {
    auto locked = queue_.lock();
    // Elements of a deque stay where they are while others are pushed, and only who holds
    // `completing_` takes one out.
    if (!locked->flights.empty()) flight = &locked->flights.front();
  }
  if (flight && flight->began && flight->told_start == 0 &&
      context->look(flight->began) == ZE_RESULT_SUCCESS) {
    flight->told_start =
        startOf(*flight, context->clock.time(flight->base, flight->times[0]), hostNow());
    flight->operation->started(flight->told_start);
  }
  completing_.store(false);
}

bool StreamCore::waitForWork() noexcept {
  // A stream in use gets its next operation soon; waking this thread would cost its submitter more.
  const port::Nanoseconds give_up = hostNow() + spin_ns;
  while (queued_.load(std::memory_order_acquire) == 0 && hostNow() < give_up)
    __builtin_ia32_pause();
  auto locked = queue_.lock();
  const auto idle = [&] { return locked->flights.empty() && locked->waiting.empty(); };
  while (idle() && !locked->stop) {
    locked->sleeping = true;
    changed_.wait(locked.native());
    locked->sleeping = false;
  }
  return !idle();
}

// Returns when it has ended, at the latest.
void StreamCore::awaitOldest(unsigned& tries) noexcept {
  // There will be a flush soon, or an operation that has a mark.
  const port::Nanoseconds since = hostNow();
  while (marks_.load(std::memory_order_acquire) == 0 && queued_.load() != 0 &&
         hostNow() < since + spin_ns)
    __builtin_ia32_pause();
  Mark mark;
  {
    const auto locked = queue_.lock();
    if (!locked->marks.empty()) mark = locked->marks.front();
  }
  if (mark.sequence == 0) return markOpen(tries);
  tries = 0;
  ze_result_t result = ZE_RESULT_SUCCESS;
  // Who assists may complete it meanwhile, and then the event is another's.
  while (ended_.load(std::memory_order_acquire) < mark.sequence && !reached(mark, result)) {
    if (hostNow() < since + spin_ns) {
      __builtin_ia32_pause();
      continue;
    }
    tellStartOfOldest();
    result = context->pause(mark.event, since);
    if (result != ZE_RESULT_NOT_READY) return settle(mark, result);
  }
}

// Nobody has made a mark yet, or it was refused. What the device may still be at must not end.
void StreamCore::markOpen(unsigned& tries) noexcept {
  {
    const std::lock_guard ordered(submitting_);
    closeBatch();
    if (marked_ == appended_) return;
  }
  context->rest(tries);
}

void StreamCore::settle(const Mark& mark, ze_result_t result) noexcept {
  const auto locked = queue_.lock();
  if (!locked->marks.empty() && locked->marks.front().sequence == mark.sequence)
    locked->marks.front().result = result;
}

void StreamCore::run() noexcept {
  unsigned tries = 0;
  while (waitForWork()) {
    const bool on_device = queue_.with([](const Queue& queue) { return !queue.flights.empty(); });
    if (!on_device) {
      performWaiting();
      continue;
    }
    awaitOldest(tries);
    while (completeOldest()) {
    }
  }
}

void StreamCore::stop() noexcept {
  queue_.lock()->stop = true;
  changed_.notify_one();
}

}  // namespace weft::level_zero
