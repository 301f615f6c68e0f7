#include "backends/hip/stream_core.h"

#include <algorithm>
#include <functional>

#include "backends/hip/errors.h"

namespace weft::hip {
namespace {

// Operations that nobody observes hold memory until their end is told.
constexpr uint64_t most_unmarked = 64;
// How many marks are passed at once.
constexpr size_t most_reach = 64;
// What an operation takes where the host need not hurry, and may be interrupted for each.
constexpr int64_t long_time = 50'000;
// Of how many operations the usual time is, roughly: it may be told of 64 at once.
constexpr int64_t remembered_times = 128;

uint64_t nextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

StreamCore::StreamCore(std::shared_ptr<DeviceContext> shared, const StreamOptions& options)
    : context(std::move(shared)),
      api(context->api),
      options_(options),
      has_word_(options.word && api.streamWriteValue32),
      id_(nextId()) {
  const Current current(api, context->device);
  check(api, context->usable(current.status()), "making the device current");
  // The first base now, while nothing of this stream waits for anything.
  context->clock.base(hostNow());
  if (has_word_) word_ = context->runtime->words.take();
  const Status status = api.streamCreateWithFlags(&handle_, stream_non_blocking);
  if (status != success && has_word_) context->runtime->words.give(word_, 0);
  check(api, status, "creating a stream");
}

StreamCore::~StreamCore() {
  const Current current(api, context->device);
  for (const Mark& mark : queue_.lock()->marks)
    if (!mark.timed) poolOf(mark).give(mark.event);
  api.streamDestroy(handle_);
  station_.close(*context);
  // An event may have told of the end, and the device be yet to write.
  if (has_word_) context->runtime->words.give(word_, static_cast<uint32_t>(word_written_.load()));
}

void StreamCore::submit(port::Operation& operation) noexcept {
  Flight flight;
  flight.operation = &operation;
  flight.submitted = hostNow();
  context->last_submission.store(flight.submitted, std::memory_order_relaxed);
  // One stream's lock at a time.
  HostParts left;
  for (const port::Operation* before : operation.behind)
    if (before->place.lane != this)
      static_cast<StreamCore*>(before->place.lane)->makeAwaitable(before->place.number, left);
  const std::lock_guard ordered(submitting_);
  const Current current(api, context->device);
  flight.status = context->usable(current.status());
  if (told_ == last() && takeLong()) letSleep();
  enqueue(flight, left);
  operation.refused.store(flight.status != success, std::memory_order_relaxed);
  const uint64_t marked = has_word_ ? word_written_.load(std::memory_order_relaxed) : fenced_;
  const bool due = last() - marked >= most_unmarked, asked = isAsked(flight);
  if (!due && !asked && !operation.awaited) {
    push(std::move(flight), nullptr);
    return;
  }
  Mark mark{flight.sequence, flight.end};
  mark.timed = flight.end != nullptr;
  const bool made = makeMark(mark, howToTell(flight, due));
  if (asked) told_ = flight.sequence;
  // What was not recorded has the time of something else.
  if (!mark.timed) context->timed_events.give(std::exchange(flight.end, nullptr));
  push(std::move(flight), made ? &mark : nullptr);
}

bool StreamCore::isAsked(const Flight& flight) const noexcept {
  return flight.status != success || flight.operation->observed || flight.end;
}

// At a word everybody can look without the runtime, and the device gets to it sooner: what is alone
// here has one, and others now and then.
StreamCore::Tell StreamCore::howToTell(const Flight& flight, bool due) const noexcept {
  const bool asked = isAsked(flight);
  if (flight.end || (flight.operation->awaited && !asked)) return Tell::by_fence;
  if (asked && queued_.load(std::memory_order_relaxed) > 0 && takeLong())
    return Tell::by_sleep_event;
  if (flight.operation->awaited) return Tell::by_fence;
  return due || queued_.load(std::memory_order_relaxed) == 0 ? Tell::by_word : Tell::by_fence;
}

bool StreamCore::takeLong() const noexcept {
  return usual_time_.load(std::memory_order_relaxed) >= long_time;
}

// Until what is last here has ended, and not what is to come behind it.
void StreamCore::letSleep() noexcept {
  if (last() <= completed_.load(std::memory_order_relaxed)) return;
  if (!has_word_ || progress() < last()) closeAll(Tell::by_sleep_event);
}

void StreamCore::makeAwaitable(uint64_t number, HostParts& left) noexcept {
  const std::lock_guard ordered(submitting_);
  // Of an operation that has ended, too: what it follows in other streams may be left undone yet.
  order_.addLeft(number, left);
  if (completed_.load(std::memory_order_acquire) < number && fenced_ < number)
    closeAll(Tell::by_fence);
}

Status StreamCore::hold(StreamHandle other, uint64_t number, uint64_t& until) noexcept {
  EventHandle event = nullptr;
  {
    auto locked = queue_.lock();
    if (locked->ended >= number) return success;
    const auto& marks = locked->marks;
    const auto first = std::ranges::lower_bound(marks, number, {}, &Mark::sequence);
    const auto mark = std::find_if(first, marks.end(), std::mem_fn(&Mark::canBeAsked));
    if (mark == marks.end()) return out_of_memory;
    event = mark->event;
    until = mark->sequence;
    ++locked->readers;
  }
  const Status status = api.streamWaitEvent(other, event, 0);
  endReading(*queue_.lock());
  return status;
}

// Of what an operation is behind: the last one in each other stream, unless this one has waited for
// as much already.
bool StreamCore::hasToWait(const port::Operation& operation,
                           const port::Operation& before) const noexcept {
  const auto& [lane, number] = before.place;
  const auto is_later = [&](const port::Operation* other) {
    return other->place.lane == lane && other->place.number > number;
  };
  if (lane == this || std::ranges::any_of(operation.behind, is_later)) return false;
  const uint64_t id = static_cast<const StreamCore*>(lane)->id_;
  return std::ranges::none_of(
      waited_, [&](const Waited& other) { return other.id == id && other.number >= number; });
}

void StreamCore::noteWait(uint64_t id, uint64_t number) noexcept {
  auto known = std::ranges::find(waited_, id, &Waited::id);
  if (known == waited_.end()) known = waited_.begin() + next_waited_++ % waited_.size();
  *known = {id, number};
}

// A failure is the flight's: it would not be in order. It does not say that this device is lost.
Status StreamCore::runBehind(const Flight& flight, const HostParts& left) noexcept {
  for (const port::Operation* before : flight.operation->behind) {
    if (!hasToWait(*flight.operation, *before)) continue;
    auto* const lane = static_cast<StreamCore*>(before->place.lane);
    uint64_t until = 0;
    const Status status = lane->hold(handle_, before->place.number, until);
    if (until != 0) held_ = flight.sequence;
    if (status != success) return status;
    if (until != 0) noteWait(lane->id_, until);
  }
  order_.follow(left);
  return success;
}

// With the device current.
void StreamCore::enqueue(Flight& flight, const HostParts& left) noexcept {
  flight.sequence = last() + 1;
  sequence_.store(flight.sequence, std::memory_order_relaxed);
  flight.operation->place = {this, flight.sequence};
  order_.begin(flight.sequence);
  if (flight.status == success) flight.status = runBehind(flight, left);
  if (flight.status != success) return;
  const port::Operation& operation = *flight.operation;
  const bool timed = operation.timed || operation.wants_start;
  if (timed) {
    flight.base = context->clock.base(flight.submitted);
    Status status = success;
    EventPool& pool = startPool(operation);
    flight.start = pool.take(status);
    if (flight.start && context->note(api.eventRecord(flight.start, handle_)) != success)
      pool.give(std::exchange(flight.start, nullptr));
  }
  const bool held = held_ > completed_.load(std::memory_order_acquire);
  flight.status = context->note(
      encode(*context, {handle_, station_, order_, held}, operation.work, flight.borrowed));
  if (timed) {
    Status status = success;
    flight.end = context->timed_events.take(status);
    context->note(status);
  }
}

EventPool& StreamCore::startPool(const port::Operation& operation) const noexcept {
  return operation.wants_start ? context->timed_sleep_events : context->timed_events;
}

// Made after a failure, too: what came before has to end before this flight does. Of a lost device
// it says so. False: for now there is nothing that could tell, while the device goes on. With the
// device current.
bool StreamCore::makeMark(Mark& mark, Tell tell) noexcept {
  mark.status = context->usable(success);
  if (mark.status != success || tellBy(tell, mark)) return true;
  mark.status = context->usable(success);
  return mark.status != success;
}

// One way or the other.
bool StreamCore::tellBy(Tell tell, Mark& mark) noexcept {
  mark.sleep = tell == Tell::by_sleep_event;
  if (tell == Tell::by_word && writeWord(mark)) return true;
  return recordEvent(mark) || (tell != Tell::by_word && writeWord(mark));
}

bool StreamCore::recordEvent(Mark& mark) noexcept {
  Status status = success;
  if (!mark.event) mark.event = poolOf(mark).take(status);
  if (mark.event) status = api.eventRecord(mark.event, handle_);
  if (context->note(status) == success) {
    fenced_ = mark.sequence;
    if (mark.sleep) sleep_recorded_ = mark.sequence;
    return true;
  }
  if (!mark.timed) poolOf(mark).give(mark.event);
  mark.event = nullptr;
  mark.sleep = mark.timed = false;
  return false;
}

bool StreamCore::writeWord(const Mark& mark) noexcept {
  if (!has_word_ || word_written_.load(std::memory_order_relaxed) == mark.sequence) return false;
  const Status status = context->note(
      api.streamWriteValue32(handle_, word_.device, static_cast<uint32_t>(mark.sequence), 0));
  if (status == success) word_written_.store(mark.sequence, std::memory_order_release);
  return status == success;
}

void StreamCore::closeBatch() noexcept {
  if (queued_.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard ordered(submitting_);
  if (told_ != last()) closeAll(howToTellAll());
}

bool StreamCore::tryCloseBatch(Tell tell) noexcept {
  if (queued_.load(std::memory_order_acquire) == 0) return true;
  const std::unique_lock ordered(submitting_, std::try_to_lock);
  if (ordered) closeAll(tell);
  return ordered.owns_lock();
}

// Under `submitting_`. False: no mark could be made.
bool StreamCore::closeAll(Tell tell) noexcept {
  if (tell == Tell::by_word && !has_word_) tell = Tell::by_fence;
  const uint64_t word = word_written_.load(std::memory_order_relaxed);
  const uint64_t made = tell == Tell::by_word          ? word
                        : tell == Tell::by_sleep_event ? sleep_recorded_
                                                       : fenced_;
  if (made == last()) return true;
  const Current current(api, context->device);
  const Status status = context->usable(context->note(current.status()));
  Mark mark{last()};
  if (status != success && status != device_lost) return false;
  if (!makeMark(mark, tell)) return false;
  told_ = last();
  auto locked = queue_.lock();
  locked->marks.push_back(mark);
  marks_.store(locked->marks.size(), std::memory_order_release);
  return true;
}

void StreamCore::push(Flight&& flight, const Mark* mark) {
  bool sleeping = false;
  {
    auto locked = queue_.lock();
    locked->flights.push_back(std::move(flight));
    queued_.store(locked->flights.size(), std::memory_order_release);
    if (mark) {
      locked->marks.push_back(*mark);
      marks_.store(locked->marks.size(), std::memory_order_release);
    }
    sleeping = locked->sleeping;
  }
  if (sleeping) changed_.notify_one();
}

// The last sequence that the device has written.
uint64_t StreamCore::progress() const noexcept {
  const uint64_t written = word_written_.load(std::memory_order_acquire);
  return written - static_cast<int32_t>(static_cast<uint32_t>(written) - word_.value());
}

Status StreamCore::reached(const Mark& mark, Ask ask) noexcept {
  if (mark.status != success) return mark.status;
  // The word may be a later mark's: then the device has passed this one, too.
  if (has_word_ && progress() >= mark.sequence) return success;
  if (seen_.load(std::memory_order_acquire) >= mark.sequence) return success;
  const bool word_tells = has_word_ && word_written_.load() == mark.sequence;
  // A lost device writes no more words. Its events say so, while it takes any.
  if (ask == Ask::no || !mark.event || (ask == Ask::where_no_word && word_tells))
    return context->usable(not_ready);
  const Status status = context->note(api.eventQuery(mark.event));
  if (status == success) noteSeen(mark.sequence);
  return context->usable(status);
}

// Another thread may have seen a later one: then this one's is asked for again, no more.
void StreamCore::noteSeen(uint64_t sequence) noexcept {
  if (seen_.load(std::memory_order_relaxed) < sequence)
    seen_.store(sequence, std::memory_order_release);
}

// Moves `ended` on if the oldest mark has been reached, or to one further on as long as such were,
// so that the runtime is not asked for each.
bool StreamCore::look(Ask ask) noexcept {
  if (reach_ > 1 && pass(reach_, ask)) {
    reach_ = std::min(2 * reach_, most_reach);
    return true;
  }
  const bool passed = pass(1, ask);
  if (ask == Ask::always) reach_ = passed ? 2 : 1;
  return passed;
}

// Moves `ended` on to the mark that is `reach` from the oldest, or the last. Only who completes
// takes marks away, so the runtime is asked without holding up those who submit.
bool StreamCore::pass(size_t reach, Ask ask) noexcept {
  Mark mark, later;
  size_t count = 0;
  {
    const auto queue = queue_.lock();
    // There may be thousands, and those who submit wait for the lock.
    const auto& marks = queue->marks;
    const size_t most = std::min(reach, marks.size());
    while (count < most && marks[count].status == success) ++count;
    count = std::min(std::max<size_t>(count, 1), most);
    if (count == 0 || (count == 1 && reach > 1)) return false;
    mark = marks[count - 1];
    if (ask == Ask::always && !mark.event) {
      const auto behind = marks.begin() + static_cast<ptrdiff_t>(count);
      const auto asked = std::ranges::find_if(behind, marks.end(), &Mark::canBeAsked);
      if (asked != marks.end()) later = *asked;
    }
  }
  Status status = reached(mark, ask);
  // That the device is lost, and will not write the word, only an event says.
  if (status == not_ready && later.event) status = reached(later, ask);
  // Where a failure is told of several, some may have ended before it.
  if (status == not_ready || (status != success && count > 1)) return false;
  const auto queue = queue_.lock();
  queue->ended = mark.sequence;
  queue->ended_status = status;
  for (; count > 0; --count) {
    const Mark& passed = queue->marks.front();
    if (!passed.timed) giveBack(*queue, passed.event, poolOf(passed));
    queue->marks.pop_front();
  }
  marks_.store(queue->marks.size(), std::memory_order_relaxed);
  return true;
}

bool StreamCore::popEnded(Flight& flight, Status& status) noexcept {
  const auto queue = queue_.lock();
  if (queue->flights.empty() || queue->ended < queue->flights.front().sequence) return false;
  status = queue->ended_status;
  flight = std::move(queue->flights.front());
  queue->flights.pop_front();
  queued_.store(queue->flights.size(), std::memory_order_relaxed);
  return true;
}

bool StreamCore::take(Flight& flight, Status& status, Ask ask) noexcept {
  if (queued_.load(std::memory_order_relaxed) == 0) return false;
  do
    if (popEnded(flight, status)) return true;
  while (look(ask));
  return false;
}

bool StreamCore::completeOldest(Ask ask) noexcept {
  if (completing_.exchange(true)) return false;
  Flight flight;
  Status status = success;
  const bool taken = take(flight, status, ask);
  if (taken) complete(flight, status);
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

void StreamCore::noteTime(const Flight& flight, port::Nanoseconds now) noexcept {
  const auto begin = std::max(flight.submitted, std::exchange(last_told_, now));
  const auto time = static_cast<int64_t>(now - begin);
  const int64_t usual = usual_time_.load(std::memory_order_relaxed);
  usual_time_.store(usual == 0 ? time : usual + (time - usual) / remembered_times,
                    std::memory_order_relaxed);
}

void StreamCore::complete(Flight& flight, Status status) noexcept {
  const port::Nanoseconds now = hostNow();
  noteTime(flight, now);
  port::Nanoseconds begun = 0, ended = 0;
  if (flight.base && flight.start && flight.end && status == success) {
    begun = context->clock.time(*flight.base, flight.start);
    ended = context->clock.time(*flight.base, flight.end);
  }
  const bool known = begun != 0 && ended >= begun && ended - begun < now;
  // One clock says that, whatever the other one says of where it was.
  const port::Nanoseconds length = known ? ended - begun : 0;
  const port::Nanoseconds start = startOf(flight, begun, now - length);
  const port::Nanoseconds end = known ? std::min(start + length, now) : now;
  // The host may have noticed long after it.
  if (known) last_end_ = end;
  if (flight.status == success) flight.status = status;
  if (flight.borrowed.last_part && flight.status == success) flight.borrowed.last_part->run();
  completed_.store(flight.sequence, std::memory_order_release);
  if (flight.start) giveBack(*queue_.lock(), flight.start, startPool(*flight.operation));
  if (flight.end) giveBack(*queue_.lock(), flight.end, context->timed_events);
  // Of a lost device the runtime may call them yet, until the stream is destroyed.
  const HostParts& parts = flight.borrowed.parts;
  if (status != success) abandoned_.insert(abandoned_.end(), parts.begin(), parts.end());
  hip::giveBack(*context, flight.borrowed);
  if (flight.operation->wants_start && flight.told_start == 0) flight.operation->started(start);
  flight.operation->finished(operationStatus(flight.status), start, end);
}

// Recorded anew, it would say something else to who uses it now.
void StreamCore::giveBack(Queue& queue, EventHandle event, EventPool& pool) noexcept {
  if (queue.readers > 0 && event)
    queue.retired.emplace_back(event, &pool);
  else
    pool.give(event);
}

void StreamCore::endReading(Queue& queue) noexcept {
  if (--queue.readers > 0) return;
  for (const auto& [event, pool] : queue.retired) pool->give(event);
  queue.retired.clear();
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
  if (flight && flight->startIsOpen() && api.eventQuery(flight->start) == success) {
    flight->told_start =
        startOf(*flight, context->clock.time(*flight->base, flight->start), hostNow());
    flight->operation->started(flight->told_start);
  }
  completing_.store(false);
}

}  // namespace weft::hip
