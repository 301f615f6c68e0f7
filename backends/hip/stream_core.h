// What an in-order stream consists of: operations in flight, and the marks that tell how far the
// device has got with them. Outlives port::Stream when that is destroyed from within finished().
//
// A mark is an event, or a number that the device writes to a word of the host's, behind the
// operations it covers. Cheapest is a fence: an event that other streams wait for and threads ask
// for, but on which none can sleep. An event to sleep on interrupts a processor, maybe the
// submitter's, so it is made when a thread is about to sleep, and ahead of that only where
// operations take so long that it does not matter. An operation that somebody observes has a mark
// to itself; the others share that of a later operation, of a flush, or the one that the completion
// thread makes when it finds no other.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>

#include "backends/hip/encoder.h"
#include "core/brief_mutex.h"
#include "core/pool.h"

namespace weft::hip {

struct StreamOptions {
  // How long the completion thread looks before it sleeps.
  port::Nanoseconds spin_ns = 30'000;
  // How long a caller that assists looks before it had better sleep.
  port::Nanoseconds assist_ns = 1'000'000;
  // Have a caller that assists look at a word rather than ask the runtime: 5 us less.
  bool word = true;
};

class StreamCore {
 public:
  // Throws.
  StreamCore(std::shared_ptr<DeviceContext> shared, const StreamOptions& options);
  ~StreamCore();
  StreamCore(const StreamCore&) = delete;
  StreamCore& operator=(const StreamCore&) = delete;

  void submit(port::Operation& operation) noexcept;
  // Has the end of everything submitted so far told.
  void closeBatch() noexcept;
  // By a word that a caller looks at, where there is one, by an event that a thread can sleep on,
  // or by a fence.
  enum class Tell : uint8_t { by_word, by_sleep_event, by_fence };
  // Unless somebody submits now: false.
  bool tryCloseBatch(Tell tell) noexcept;
  // Where words do not say that it has ended: is the runtime asked? A word written behind the very
  // operation tells as soon as an event, unless the device is lost.
  enum class Ask : uint8_t { no, where_no_word, always };
  // Completes the oldest operation if it has ended and nobody else is at it.
  bool completeOldest(Ask ask) noexcept;
  // Completes what has ended. The completion thread leaves it to who calls this often.
  void poll() noexcept;
  // Somebody looks for ends until then: the completion thread prepares no sleep before.
  void assistUntil(port::Nanoseconds when) noexcept {
    assisted_until_.store(when, std::memory_order_relaxed);
  }
  port::Nanoseconds assistTime() const noexcept { return options_.assist_ns; }
  // The completion thread, until stop().
  void run() noexcept;
  void stop() noexcept;

  // For what else is put into the stream, between operations, and may hold up what comes behind it.
  // With the device current.
  template <class Call>
  auto between(Call&& call) {
    const std::lock_guard ordered(submitting_);
    // An event recorded later would tell of what comes now, too.
    if (told_ == last()) letSleep();
    held_ = last() + 1;
    return call(handle_);
  }

  // Is the operation there the last of this stream, and still in it?
  bool endsWith(const port::Operation::Place& place) const noexcept {
    return place.lane == this && place.number == last() &&
           place.number > completed_.load(std::memory_order_relaxed);
  }

  size_t pending() const noexcept {
    const uint64_t completed = completed_.load(std::memory_order_relaxed);
    return last() - std::min(completed, last());
  }

  const std::shared_ptr<DeviceContext> context;
  const Api& api;

 private:
  struct Flight {
    port::Operation* operation = nullptr;
    EventHandle start = nullptr;  // of a timed operation; to sleep on if that wants its start
    EventHandle end = nullptr;
    std::shared_ptr<const TimeBase> base;
    port::Nanoseconds submitted = 0;
    Status status = success;
    uint64_t sequence = 0;
    port::Nanoseconds told_start = 0;
    Borrowed borrowed;

    bool startIsOpen() const { return operation->wants_start && base && start && told_start == 0; }
  };

  // Behind the flights up to `sequence`.
  struct Mark {
    uint64_t sequence = 0;
    EventHandle event = nullptr;
    bool sleep = false;       // a thread can sleep on the event
    bool timed = false;       // the event is its flight's, and timed
    Status status = success;  // else the device was lost before, and nothing will tell

    bool canBeAsked() const { return event && status == success; }
    bool wakes() const { return canBeAsked() && sleep; }
  };

  struct Queue {
    std::deque<Flight> flights;
    std::deque<Mark> marks;
    uint64_t ended = 0;  // the flights up to this one
    Status ended_status = success;
    unsigned readers = 0;  // threads that use a mark's event without the lock
    std::vector<std::pair<EventHandle, EventPool*>> retired;  // given back meanwhile
    bool sleeping = false;
    bool stop = false;
  };

  using HostParts = std::vector<std::shared_ptr<HostPart>>;

  uint64_t last() const noexcept { return sequence_.load(std::memory_order_relaxed); }
  // So that another stream can wait for the operation of that number; adds what is left to the
  // host of those up to it.
  void makeAwaitable(uint64_t number, HostParts& left) noexcept;
  // The other stream waits, on its device, unless the operation has ended: for all `until` there.
  Status hold(StreamHandle other, uint64_t number, uint64_t& until) noexcept;
  bool hasToWait(const port::Operation& operation, const port::Operation& before) const noexcept;
  void noteWait(uint64_t id, uint64_t number) noexcept;
  Status runBehind(const Flight& flight, const HostParts& left) noexcept;
  void enqueue(Flight& flight, const HostParts& left) noexcept;
  EventPool& startPool(const port::Operation& operation) const noexcept;
  bool isAsked(const Flight& flight) const noexcept;
  Tell howToTell(const Flight& flight, bool due) const noexcept;
  bool takeLong() const noexcept;
  Tell howToTellAll() const noexcept { return takeLong() ? Tell::by_sleep_event : Tell::by_word; }
  void letSleep() noexcept;
  bool closeAll(Tell tell) noexcept;
  bool makeMark(Mark& mark, Tell tell) noexcept;
  bool tellBy(Tell tell, Mark& mark) noexcept;
  bool writeWord(const Mark& mark) noexcept;
  bool recordEvent(Mark& mark) noexcept;
  EventPool& poolOf(const Mark& mark) const noexcept {
    return mark.sleep ? context->sleep_events : context->fence_events;
  }
  void push(Flight&& flight, const Mark* mark);
  uint64_t progress() const noexcept;
  Status reached(const Mark& mark, Ask ask) noexcept;
  void noteSeen(uint64_t sequence) noexcept;
  bool look(Ask ask) noexcept;
  bool pass(size_t reach, Ask ask) noexcept;
  bool popEnded(Flight& flight, Status& status) noexcept;
  bool take(Flight& flight, Status& status, Ask ask) noexcept;
  void complete(Flight& flight, Status status) noexcept;
  static void giveBack(Queue& queue, EventHandle event, EventPool& pool) noexcept;
  static void endReading(Queue& queue) noexcept;
  port::Nanoseconds startOf(const Flight& flight, port::Nanoseconds told,
                            port::Nanoseconds latest) const noexcept;
  void tellStartOfOldest() noexcept;
  bool waitForFlights() noexcept;
  bool somebodySubmits(port::Nanoseconds now) const noexcept;
  bool somebodyPolls(port::Nanoseconds now) const noexcept;
  std::optional<Mark> oldestMark() noexcept;
  bool hasEvent() noexcept;
  bool spin(const Mark& mark) noexcept;
  static const Flight* openStart(const Queue& queue, const Mark& mark) noexcept;
  bool awaitStart(const Mark& mark) noexcept;
  bool sleepUntil(const Mark& mark) noexcept;
  bool mayPrepareSleep(const Mark& mark) noexcept;
  void prepareSleep(const Mark& mark) noexcept;
  void awaitEnd(const Mark& mark) noexcept;
  void markOpen(unsigned& tries) noexcept;

  void noteTime(const Flight& flight, port::Nanoseconds now) noexcept;

  const StreamOptions options_;
  const bool has_word_;
  StreamHandle handle_ = nullptr;
  RelayStation station_;
  HostWord word_;
  const uint64_t id_;  // no stream before had it

  // What those who submit write, who complete and who look has a line of the caches each.
  alignas(pool::line_bytes)
      BriefMutex submitting_;  // the order on the device is the order in the queue
  // Changed under `submitting_`: the last sequence, and the last that has a mark of the kind, an
  // event to sleep on or any for `fenced_`. The word has the lower half of its one.
  std::atomic<uint64_t> sequence_{0};
  std::atomic<uint64_t> word_written_{0};
  uint64_t sleep_recorded_ = 0, fenced_ = 0;
  uint64_t told_ = 0;  // the last whose end was asked for
  HostOrder order_;
  uint64_t held_ = 0;  // the first flight behind the last thing that may hold it up
  // What the stream waits for, or did, on the device: so far in which others.
  struct Waited {
    uint64_t id = 0, number = 0;
  };
  std::array<Waited, 8> waited_{};
  size_t next_waited_ = 0;

  // Whoever sets it completes flights: one at a time, in their order.
  alignas(pool::line_bytes) std::atomic<bool> completing_{false};
  std::atomic<uint64_t> seen_{0};       // an event has told of the flights up to this one
  std::atomic<uint64_t> completed_{0};  // the last flight
  // What an operation takes of late, in nanoseconds, as far as ends have been told; 0: none has.
  std::atomic<int64_t> usual_time_{0};
  // Under `completing_`.
  port::Nanoseconds last_end_ = 0;   // that the device told
  port::Nanoseconds last_told_ = 0;  // when the last end was
  HostParts abandoned_;              // what a lost device may yet call
  size_t reach_ = 1;                 // the mark to ask for, of those that wait

  alignas(pool::line_bytes) Guarded<Queue, BriefMutex> queue_;
  std::condition_variable_any changed_;
  // Changed under that lock: how many flights and marks it has.
  alignas(pool::line_bytes) std::atomic<size_t> queued_{0};
  std::atomic<size_t> marks_{0};

  alignas(pool::line_bytes) std::atomic<bool> stopping_{false};  // nobody has to look any longer
  std::atomic<port::Nanoseconds> polled_{0};  // when poll() last asked the runtime
  std::atomic<port::Nanoseconds> assisted_until_{0};
};

}  // namespace weft::hip
