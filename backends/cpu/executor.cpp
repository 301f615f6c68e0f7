#include "backends/cpu/executor.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "backends/cpu/clock.h"
#include "backends/cpu/stream.h"
#include "core/error.h"
#include "core/release_batch.h"

namespace weft::cpu {
namespace {

constexpr port::Nanoseconds spin_time = 50'000;
// With references kept back. The next operation often comes sooner.
constexpr port::Nanoseconds brief_spin_time = 5'000;
constexpr time_t shutdown_seconds = 5;

}  // namespace

Executor::Executor(Home home, const std::vector<Seat>& seats, bool binds,
                   const port::Capabilities& capabilities)
    : home_(std::move(home)),
      capabilities_(capabilities),
      binds_(binds),
      // What they start inherits where they may run, which for those of a part is too little.
      runs_errands_(!binds || seats.size() == home_.topology->units().size()),
      seats_(seats),
      process_(getpid()),
      awake_(seats.size()),
      to_wake_(seats.size()) {
  const auto hire = [&](const Seat& seat) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.runner.executor = this;
    worker.executor = this;
    worker.seat = seat;
    return &worker;
  };
  auto shared = shared_.lock();
  for (size_t i = 0; i < seats.size(); ++i) {
    const unsigned pu = seats[i].pu;
    if (pu < CPU_SETSIZE) CPU_SET(pu, &pus_);
    if (seat_of_pu_.size() <= pu) seat_of_pu_.resize(pu + 1, Seat::none);
    seat_of_pu_[pu] = i;
    Worker* const worker = hire(seats[i]);
    worker->runner.seat = i;
    shared->sleepers.push_back(worker);
  }
  for (unsigned i = 0; i < most_spares; ++i) {
    Worker* spare = hire(seats[i % seats.size()]);
    spare->spare = spare->runner.spare = true;
    spare->runner.seat = i % seats.size();
    shared->spares.push_back(spare);
  }
  countIdle(*shared);
}

void Executor::start() {
  Worker* first = nullptr;
  {
    auto shared = shared_.lock();
    const bool any =
        std::any_of(workers_.begin(), workers_.end(), [](auto& w) { return w->joinable.load(); });
    if (any || shared->sleepers.empty()) return;
    first = shared->sleepers.back();
    shared->sleepers.pop_back();
    shared->searcher = first;  // it is on its way
    countIdle(*shared);
    if (make(*first)) return;
    shared->searcher = nullptr;
    shared->sleepers.push_back(first);
    countIdle(*shared);
  }
  throw Error(CL_OUT_OF_RESOURCES, "the system refuses another thread");
}

bool Executor::make(Worker& worker) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, worker_stack_bytes);
  // Before there is a thread: it may be asleep, and be picked, before pthread_create() returns.
  worker.made = true;
  const bool made =
      pthread_create(&worker.thread, &attributes, &Executor::threadMain, &worker) == 0;
  pthread_attr_destroy(&attributes);
  if (made)
    worker.joinable.store(true, std::memory_order_release);
  else
    worker.made = false;
  return made;
}

void* Executor::threadMain(void* argument) noexcept {
  auto& worker = *static_cast<Worker*>(argument);
  Executor& executor = *worker.executor;
  pthread_setname_np(pthread_self(), "weft-cpu");
  // Where binding is not allowed the system places the thread.
  if (executor.binds_) executor.home_.topology->bindThread(worker.seat.pu);
  setKernelFloatState();
  Runner::adopt(worker.runner);
  if (worker.spare)
    executor.watch(worker);
  else
    executor.work(worker);
  if (executor.orphaned_by_.load(std::memory_order_relaxed) != &worker) return nullptr;
  pthread_detach(pthread_self());
  if (executor.joinAll(&worker)) delete &executor;
  return nullptr;
}

void Executor::work(Worker& worker) noexcept {
  const ReleaseBatch batch;
  for (;;) {
    const Task task = acquire(worker);
    if (task.operation) {
      runOne(*task.stream, *task.operation, worker.runner);
    } else if (task.stream) {
      drain(*task.stream, worker.runner, nullptr);
    } else if (task.job) {
      setHot(worker.runner, false);
      takePart(*task.job, task.turn, worker.runner);
    } else {
      return;
    }
  }
}

Executor::Task Executor::acquire(Worker& worker) noexcept {
  if (const Task called = answer(worker); called.job) return called;
  if (StreamCore* const kept = takeKept(worker.runner)) {
    stopLingering(worker.runner);
    return {.stream = kept};
  }
  if (worker.runner.errands.any()) runErrand(worker.runner);
  if (worker.runner.lingers)
    if (const Task task = linger(worker); task.job) return task;
  worker.runner.lingers = false;
  bool spun = false, looked = false;
  auto lock = shared_.lock();
  for (;;) {
    const Task task = takeTask(*lock);
    fetching_.store(false, std::memory_order_relaxed);
    const bool found = task.stream || task.job;
    const bool may_search =
        !found && !spun && (!lock->searcher || lock->searcher == &worker) && !lingererComes();
    // When nothing has come for a moment; and not while others count on this worker: what ends may
    // unload code.
    const bool gives_up = !found && (looked || !may_search) && ReleaseBatch::holdsAny();
    const bool searches = may_search && !gives_up;
    if (searches != (lock->searcher == &worker)) {
      if (searches || lock->searcher == &worker) lock->searcher = searches ? &worker : nullptr;
      countIdle(*lock);
    }
    if (found || lock->stop) {
      if (Worker* const watchman = postWatchman(*lock)) {
        lock.native().unlock();
        wakeSpare(watchman);
        lock.native().lock();
      }
      return task;
    }
    if (gives_up) {
      lock.native().unlock();
      ReleaseBatch::flush();
      lock.native().lock();
      continue;
    }
    setHot(worker.runner, false);
    if (searches) {
      lock.native().unlock();
      const bool briefly = ReleaseBatch::holdsAny();
      spin(briefly ? brief_spin_time : spin_time);
      lock.native().lock();
      (briefly ? looked : spun) = true;
    } else {
      spun = !sleep(lock, worker);
      if (!lock.native().owns_lock()) return answer(worker);
      if (!worker.runner.lingers) continue;
      lock.native().unlock();
      if (const Task next = linger(worker); next.job) return next;
      worker.runner.lingers = false;
      lock.native().lock();
    }
  }
}

// Nobody may count on the worker meanwhile: who makes a stream ready first counts it and then looks
// for hot and lingering workers.
void Executor::runErrand(Runner& runner) noexcept {
  stopLingering(runner);
  setHot(runner, false);
  if (ready_streams_.load(std::memory_order_seq_cst) != 0) return runner.errands.decline();
  // Threads and processes that it starts inherit that. To be bound again at once would take as long
  // as the errand.
  if (binds_ && !runner.loose) runner.loose = home_.topology->unbindThread();
  in_errands_.fetch_add(1, std::memory_order_relaxed);
  runner.errands.run();
  in_errands_.fetch_sub(1, std::memory_order_relaxed);
  setKernelFloatState();
}

void Executor::bind(Runner& runner) noexcept {
  runner.loose = false;
  home_.topology->bindThread(seats_[runner.seat].pu);
}

Executor::Task Executor::openJob(Shared& shared, const StreamCore* of) noexcept {
  for (Job* job : shared.jobs) {
    if (const auto turn = of ? job->turnFor(*of) : job->turn()) return {.job = job, .turn = *turn};
  }
  return {};
}

Executor::Task Executor::takeTask(Shared& shared) noexcept {
  StreamCore* const stream = shared.first;
  if (!stream) return openJob(shared, nullptr);
  ++shared.taken;
  // Where more follow, the stream waits on for whoever is free next.
  port::Operation* const operation = stream->popSurplus();
  if (!operation) {
    remove(shared, *stream);
  } else if (stream != shared.last) {
    unlink(shared, *stream);
    link(shared, *stream);
  }
  return {.stream = stream, .operation = operation};
}

void Executor::setHot(Runner& runner, bool hot) noexcept {
  if (!runner.executor || runner.hot == hot) return;
  runner.hot = hot;
  if (hot)
    hot_workers_.fetch_add(1, std::memory_order_relaxed);
  else
    hot_workers_.fetch_sub(1, std::memory_order_seq_cst);
}

void Executor::link(Shared& shared, StreamCore& stream) noexcept {
  stream.previous = shared.last;
  stream.next = nullptr;
  (shared.last ? shared.last->next : shared.first) = &stream;
  shared.last = &stream;
}

void Executor::unlink(Shared& shared, StreamCore& stream) noexcept {
  (stream.previous ? stream.previous->next : shared.first) = stream.next;
  (stream.next ? stream.next->previous : shared.last) = stream.previous;
}

void Executor::append(Shared& shared, StreamCore& stream) noexcept {
  link(shared, stream);
  stream.queued.store(true, std::memory_order_relaxed);
  ready_streams_.fetch_add(1, std::memory_order_seq_cst);
}

void Executor::remove(Shared& shared, StreamCore& stream) noexcept {
  unlink(shared, stream);
  stream.queued.store(false, std::memory_order_relaxed);
  ready_streams_.fetch_sub(1, std::memory_order_relaxed);
}

// For an application thread.
void Executor::welcomeGuest() noexcept {
  const auto pu = size_t(std::max(0, sched_getcpu()));
  const size_t seat = pu < seat_of_pu_.size() ? seat_of_pu_[pu] : Seat::none;
  if (guest_.load(std::memory_order_relaxed) != seat) guest_.store(seat, std::memory_order_relaxed);
}

void Executor::submit(StreamCore& stream, port::Operation& operation) noexcept {
  // After push() the stream and this executor may be gone, unless the token is ours, or kept by
  // this thread.
  if (stream.push(operation)) {
    stream.retain();  // the token's reference
    ready(stream);
  } else if (Runner* const own = Runner::worker(); own && own->kept == &stream) {
    own->executor->shareKept(*own);
  }
}

void Executor::ready(StreamCore& stream) noexcept {
  Runner* const own = Runner::worker();
  if (own && own->executor == this) {
    if (keep(stream, *own)) return;
    shareKept(*own);
  }
  const bool by_worker = own != nullptr;
  if (!by_worker) welcomeGuest();
  ready_by_caller_.store(!by_worker && !Runner::assists(), std::memory_order_relaxed);
  // Once the stream is in the list its operations may finish and its owner go. Workers are waited
  // for by dispose(); other threads need a reference.
  const Ref<Executor> alive(own && own->executor == this ? nullptr : this);
  Worker *woken = nullptr, *watchman = nullptr;
  {
    auto shared = shared_.lock();
    append(*shared, stream);
    const bool soon =
        (hot_workers_.load(std::memory_order_seq_cst) != 0 && shared->ticker) || lingererComes();
    if (!shared->searcher && !soon) {
      woken = pickSleeper(*shared);
      shared->searcher = woken;
      if (woken) countIdle(*shared);
    }
    watchman = postWatchman(*shared);
  }
  wake(woken);
  wakeSpare(watchman);
}

// Takes the token of a stream that waits in the ready list.
bool Executor::claim(StreamCore& stream) noexcept {
  if (!stream.queued.load(std::memory_order_relaxed)) return false;
  auto shared = shared_.lock();
  if (!stream.queued.load(std::memory_order_relaxed)) return false;
  remove(*shared, stream);
  ++shared->taken;
  return true;
}

void Executor::dispose() noexcept {
  // In a forked child there are no workers to end, and locks may be held by threads that are not
  // there: all of it is left alone.
  if (getpid() != process_) return;
  std::vector<Worker*> sleepers;
  Worker* watchman = nullptr;
  {
    auto shared = shared_.lock();
    shared->stop = true;
    sleepers.swap(shared->sleepers);
    sleepers.insert(sleepers.end(), shared->spares.begin(), shared->spares.end());
    shared->spares.clear();
    watchman = shared->watchman;
    shared->ticker = nullptr;
    shared->searcher = nullptr;
  }
  for (Worker* worker : sleepers) {
    if (!worker->made) continue;
    worker->woken.store(1, std::memory_order_release);
    futexWake(worker->woken);
  }
  if (watchman) {  // whose thread somebody may be about to make
    watchman->woken.store(1, std::memory_order_release);
    futexWake(watchman->woken);
  }
  if (Runner::workerOf() == this) {
    // The last reference went in a callback on a worker, which cannot wait for itself.
    Runner& own = Runner::current();
    for (auto& worker : workers_)
      if (&worker->runner == &own) orphaned_by_.store(worker.get(), std::memory_order_relaxed);
    return;
  }
  if (joinAll(nullptr)) delete this;
}

bool Executor::joinAll(const Worker* except) noexcept {
  timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += shutdown_seconds;
  // A worker may be making another one right now: until none is left that was made and not joined.
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = *workers_[i];
    if (worker.joined || &worker == except || !worker.joinable.load(std::memory_order_acquire))
      continue;
    // Nothing runs any more, so this takes microseconds, unless a debugger stopped the thread, say.
    if (pthread_timedjoin_np(worker.thread, nullptr, &limit) != 0) return false;
    worker.joined = true;
    i = size_t(-1);
  }
  return true;
}

}  // namespace weft::cpu
