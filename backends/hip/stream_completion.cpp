// A stream's completion thread: it looks for the ends that nobody else has found.
#include <algorithm>
#include <chrono>
#include <thread>

#include "backends/hip/stream_core.h"

namespace weft::hip {
namespace {

// A query of an event takes the runtime's locks: so often and no oftener, and while somebody is
// submitting, who needs them, hardly ever.
constexpr port::Nanoseconds query_interval = 2'000, busy_query_interval = 60'000;
// How often somebody who polls asks the runtime, and the most ends told at once.
constexpr port::Nanoseconds poll_interval = 1'000;
constexpr unsigned most_polled = 16;
// How long a submission may take.
constexpr port::Nanoseconds submission_time = 10'000;
// How soon who polls comes again.
constexpr port::Nanoseconds polling_pause = 10'000;
// How long the completion thread leaves it to those who submit to make a mark, and stays awake for
// one: what it asks of the runtime would cost them a wait for the runtime's locks.
constexpr port::Nanoseconds longest_open = 1'000'000;
constexpr port::Nanoseconds shortest_nap = 50'000, longest_nap = 1'000'000;
// Of the time that an operation has taken yet: so much later its end may be found.
constexpr port::Nanoseconds nap_share = 8;
// How often the runtime may refuse to make a mark, for want of memory, until the device is taken
// for lost: some seconds.
constexpr unsigned most_tries = 3000;

// Between looks at what others write: each look takes the line away from them.
void pauseBriefly() {
  for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
}

}  // namespace

bool StreamCore::waitForFlights() noexcept {
  // A stream in use gets its next operation soon; waking this thread would cost its submitter more.
  // The one that came may have been completed by others meanwhile.
  const port::Nanoseconds give_up = hostNow() + options_.spin_ns;
  for (bool empty = true; empty;) {
    while (queued_.load(std::memory_order_relaxed) == 0 && !stopping_ && hostNow() < give_up)
      pauseBriefly();
    auto locked = queue_.lock();
    while (locked->flights.empty() && !locked->stop && hostNow() >= give_up) {
      locked->sleeping = true;
      changed_.wait(locked.native());
      locked->sleeping = false;
    }
    empty = locked->flights.empty();
    if (empty && locked->stop) return false;
  }
  // And soon a flush, or an operation that has a mark.
  const port::Nanoseconds begin = hostNow(), close = begin + options_.spin_ns;
  port::Nanoseconds now = begin;
  while (marks_.load(std::memory_order_acquire) == 0 && queued_.load() != 0 && !stopping_ &&
         (now < close || (now < begin + longest_open && somebodySubmits(now)))) {
    pauseBriefly();
    now = hostNow();
  }
  return true;
}

bool StreamCore::somebodySubmits(port::Nanoseconds now) const noexcept {
  return now < context->last_submission.load(std::memory_order_relaxed) + submission_time;
}

bool StreamCore::somebodyPolls(port::Nanoseconds now) const noexcept {
  return now < polled_.load(std::memory_order_relaxed) + polling_pause;
}

void StreamCore::poll() noexcept {
  if (queued_.load(std::memory_order_relaxed) == 0) return;
  const bool told = has_word_ && progress() > completed_.load(std::memory_order_relaxed);
  const port::Nanoseconds now = hostNow();
  if (!told && now < polled_.load(std::memory_order_relaxed) + poll_interval) return;
  polled_.store(now, std::memory_order_relaxed);
  const Current current(api, context->device);
  if (current.status() != success) return;
  const Ask ask = told ? Ask::no : Ask::always;
  for (unsigned i = 0; i < most_polled && completeOldest(ask);) ++i;
}

std::optional<StreamCore::Mark> StreamCore::oldestMark() noexcept {
  const auto locked = queue_.lock();
  if (locked->marks.empty()) return std::nullopt;
  return locked->marks.front();
}

bool StreamCore::hasEvent() noexcept {
  return std::ranges::any_of(queue_.lock()->marks, &Mark::canBeAsked);
}

// True when the mark was reached, or when that will never be known.
bool StreamCore::spin(const Mark& mark) noexcept {
  const port::Nanoseconds begin = hostNow(), give_up = begin + options_.spin_ns;
  port::Nanoseconds now = begin, asked = begin;
  bool busy = false;
  do {
    const bool assisted = now < assisted_until_.load(std::memory_order_relaxed);
    busy = assisted || somebodySubmits(now) || somebodyPolls(now);
    if (assisted) {  // who looks at the word itself, and is to have it for itself
      if (marks_.load(std::memory_order_relaxed) == 0) return true;
    } else if (now >= asked + (busy ? busy_query_interval : query_interval)) {
      if (completeOldest(Ask::always)) return true;
      asked = now;
    } else if (reached(mark, Ask::no) != not_ready) {
      return true;
    }
    if (busy)
      pauseBriefly();
    else
      __builtin_ia32_pause();
    now = hostNow();
  } while (now < give_up || (busy && now < begin + longest_open));
  return completeOldest(Ask::always);
}

// Of an operation up to the mark: the first that has yet to be told its start.
const StreamCore::Flight* StreamCore::openStart(const Queue& queue, const Mark& mark) noexcept {
  for (const Flight& flight : queue.flights) {
    if (flight.sequence > mark.sequence) return nullptr;
    if (flight.startIsOpen()) return &flight;
  }
  return nullptr;
}

// Before the end comes the start, where somebody wants to know it. False: it could not be told,
// others completing operations just then.
bool StreamCore::awaitStart(const Mark& mark) noexcept {
  EventHandle start = nullptr;
  uint64_t sequence = 0;
  {
    auto locked = queue_.lock();
    const Flight* const flight = openStart(*locked, mark);
    if (!flight) return true;
    start = flight->start;
    sequence = flight->sequence;
    ++locked->readers;
  }
  const Status status = context->note(api.eventSynchronize(start));
  endReading(*queue_.lock());
  if (status != success) return true;
  if (completing_.exchange(true)) return false;
  {
    // All before it have ended, and there is no mark of theirs.
    auto locked = queue_.lock();
    const bool all_taken =
        locked->flights.empty() || locked->flights.front().sequence > locked->ended;
    if (all_taken && locked->ended + 1 < sequence) {
      locked->ended = sequence - 1;
      locked->ended_status = success;
    }
  }
  completing_.store(false);
  while (completeOldest(Ask::no)) {
  }
  tellStartOfOldest();
  return !openStart(*queue_.lock(), mark);
}

// By an event of the same operation. False: there is none.
bool StreamCore::sleepUntil(const Mark& mark) noexcept {
  EventHandle event = nullptr;
  {
    auto locked = queue_.lock();
    const auto same = std::ranges::equal_range(locked->marks, mark.sequence, {}, &Mark::sequence);
    const auto found = std::ranges::find_if(same, &Mark::wakes);
    if (found == same.end()) return false;
    event = found->event;
    ++locked->readers;
  }
  if (context->note(api.eventSynchronize(event)) == success) noteSeen(mark.sequence);
  endReading(*queue_.lock());
  return true;
}

// An event to sleep on, if nothing has come behind the operation yet; or one to ask whether the
// device is lost, which words alone would not tell.
void StreamCore::prepareSleep(const Mark& mark) noexcept {
  if (!mark.wakes() && (last() == mark.sequence || !hasEvent()))
    tryCloseBatch(Tell::by_sleep_event);
}

// Such an event interrupts a processor of the host, maybe that of who looks for the end.
bool StreamCore::mayPrepareSleep(const Mark& mark) noexcept {
  return mark.wakes() || hostNow() >= assisted_until_.load(std::memory_order_relaxed);
}

// A later mark's event may take any time longer. The mark may stay when its operation has ended: of
// several behind the same one, those that nobody needed to look at.
void StreamCore::awaitEnd(const Mark& mark) noexcept {
  const port::Nanoseconds begin = hostNow();
  std::optional<Mark> oldest;
  do {
    port::Nanoseconds nap = shortest_nap;
    if (mayPrepareSleep(mark)) {
      prepareSleep(mark);
      if (awaitStart(mark) && sleepUntil(mark)) return;
      nap = std::clamp((hostNow() - begin) / nap_share, shortest_nap, longest_nap);
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(nap));
    if (completeOldest(Ask::always)) return;
    oldest = oldestMark();
  } while (queued_.load() != 0 && oldest && oldest->sequence == mark.sequence);
}

// Nobody has made one yet. What the device may still be at must not end without.
void StreamCore::markOpen(unsigned& tries) noexcept {
  if (queued_.load(std::memory_order_acquire) == 0) return;  // completed by others
  {
    const std::unique_lock ordered(submitting_, std::try_to_lock);
    if (ordered) tries = closeAll(howToTellAll()) ? 0 : tries + 1;
    if (ordered && tries == 0) return;
  }
  if (tries >= most_tries) context->lost.store(true, std::memory_order_relaxed);
  std::this_thread::sleep_for(std::chrono::nanoseconds(tries < 10 ? shortest_nap : longest_nap));
}

void StreamCore::run() noexcept {
  const Current current(api, context->device);
  unsigned tries = 0;
  while (waitForFlights()) {
    if (const std::optional<Mark> oldest = oldestMark(); !oldest) {
      markOpen(tries);
    } else {
      tries = 0;
      if (!spin(*oldest)) awaitEnd(*oldest);
    }
    while (completeOldest(somebodySubmits(hostNow()) ? Ask::no : Ask::always)) {
    }
  }
}

void StreamCore::stop() noexcept {
  stopping_ = true;
  queue_.lock()->stop = true;
  changed_.notify_one();
}

}  // namespace weft::hip
