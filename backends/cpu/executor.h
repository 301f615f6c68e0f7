// The threads of one device: one worker per PU, bound to it, and what they do next.
//
// Who wakes whom. A worker that finds nothing spins for a while (one at a time: the *searcher*),
// then sleeps. Who goes to sleep first while others are awake is the *ticker*, and wakes up by
// itself every millisecond. A stream that becomes ready wakes a sleeper unless the searcher will
// see it, or a worker that is in the middle of tiny operations will be back before a sleeper could
// be up; if that worker's operation turns out not to be tiny after all, the ticker finds the
// stream, and gives up the references that the worker has kept back.
//
// A worker that ends an operation will be back before anybody else could be up. So it keeps the
// first stream that becomes ready by that end, with no part in it for the list and the lock; all of
// them are for everybody as soon as there is a second, or a second operation of it.
//
// A job *calls* as many workers as it is worth: they are taken out of the sleepers at once, know
// the job without looking for it, and whoever of them is awake wakes the next (wake_list.h), so
// that none of them needs the lock.
//
// Workers that took part in a job *linger*: they spin, all but one, to take part in the next one,
// since programs often run one shared launch after the other; longer where the pauses between
// launches are longer, up to a millisecond. They find jobs through `offered_`,
// without the lock, and while what they take of one is brief, none of them writes anything that
// others wait for but the job's own count; of the streams that become ready each is fetched by one
// of them. The PU of a *guest*, the application thread that submits or assists, is left to it where
// that is possible.
//
// Streams that wait while every worker is busy get a watchman: one of a few spare threads looks
// after a while whether anything moved, and takes a stream if not. So an operation that waits for
// another one of its device, or for ever, holds up nobody, not even where the device is a single
// PU. A worker that is at an errand is busy, too, but then the watchman looks sooner.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/job.h"
#include "backends/cpu/memory.h"
#include "backends/cpu/runner.h"
#include "backends/cpu/sync.h"
#include "backends/cpu/wake_list.h"
#include "core/guarded.h"
#include "core/pool.h"
#include "core/ports/device.h"
#include "core/ref.h"
#include "core/spin_lock.h"

namespace weft::cpu {

class StreamCore;

// Shared by a device and its streams. Threads are made when there is work for them, and joined when
// the last reference goes. A worker that runs an operation for ever is its operation's trouble: the
// other workers, and most_spares times a spare one, go on.
class Executor final : public Object {
 public:
  static constexpr unsigned most_spares = 4;

  // One worker per seat, bound to its PU if `binds`.
  // `capabilities` of the device, which may go when it has no streams.
  Executor(Home home, const std::vector<Seat>& seats, bool binds,
           const port::Capabilities& capabilities);

  // Makes the first worker, so that a system that refuses threads is found out here. Throws.
  void start();

  void submit(StreamCore& stream, port::Operation& operation) noexcept;
  // For the token's owner: hands the stream to whoever is free first.
  void ready(StreamCore& stream) noexcept;
  void assist(StreamCore& stream, const std::function<bool()>& done) noexcept;
  // Who has made a stream ready is not going to assist.
  void leaveToWorkers() noexcept {
    if (ready_by_caller_.load(std::memory_order_relaxed))
      ready_by_caller_.store(false, std::memory_order_relaxed);
  }

  // For families.
  const port::Capabilities& capabilities() const noexcept { return capabilities_; }
  // Where errands may be left while an operation's end is told; null: nowhere.
  Errands* errandsOf(Runner& runner) const noexcept {
    return runner.ends && runs_errands_ ? &runner.errands : nullptr;
  }
  // The operation of an in-order stream has finished; the stream goes on.
  void resume(StreamCore& stream) noexcept;

  // For a thread with nothing to do: there was a job of that length and may be another one, for
  // which more of them are to be awake.
  void wakeForMore(double expected_ns) noexcept;
  // For Job. Has an operation that waits more right to this participant than the job?
  bool wantsBack(const Job& job) const noexcept;
  // The job no longer has pieces that nobody started.
  void withdraw(Job& job) noexcept;
  // The job's operation has finished.
  void letGo(Job& job) noexcept;
  // A participant stays.
  void stopLingering(Runner& runner) noexcept;
  void callHelpers(Job& job, uint32_t turn) noexcept;

 protected:
  void dispose() noexcept override;

 private:
  // Work below this is done before a sleeper is there.
  static constexpr double worth_waking_ns = 20'000;
  // The least that a thread which is awake comes for.
  static constexpr double brief_piece_ns = 2'500;

  struct Worker {
    Runner runner;
    Executor* executor = nullptr;
    Seat seat;
    bool spare = false;
    pthread_t thread{};
    bool made = false;  // has a thread, or is getting one; for whoever took it out of the sleepers
    std::atomic<bool> joinable{false};  // `thread` is set
    bool joined = false;
    alignas(pool::line_bytes) std::atomic<uint32_t> woken{0};
    // What it is called for, when it was taken out of the sleepers for that and did not answer yet.
    std::atomic<Job*> called_for{nullptr};
    uint32_t called_for_turn = 0;
  };

  struct Shared {
    StreamCore* first = nullptr;  // ready streams
    StreamCore* last = nullptr;
    std::vector<Job*> jobs;  // with pieces that nobody started
    std::vector<std::unique_ptr<Job>> all_jobs;
    std::vector<Job*> free_jobs;
    std::vector<Worker*> sleepers;  // those not made yet are at the front
    Worker* searcher = nullptr;
    Worker* ticker = nullptr;
    std::vector<Worker*> spares;  // those that have nothing to do
    Worker* watchman = nullptr;   // the one that is awake, or about to be, to look after streams
    uint64_t taken = 0;           // streams that somebody took
    port::Nanoseconds job_closed = 0;  // when the last one was
    bool stop = false;
  };
  using Lock = Guarded<Shared, SpinLock>::Lock;

  struct Task {
    StreamCore* stream = nullptr;  // with its token, unless there is an operation
    Job* job = nullptr;
    uint32_t turn = 0;                     // the job's
    port::Operation* operation = nullptr;  // of the unordered stream, which stays in the list
  };

  // What a drain() came to.
  enum class Drained : uint8_t { idle, yielded, refused };

  static void* threadMain(void* worker) noexcept;
  bool make(Worker& worker) noexcept;
  void work(Worker& worker) noexcept;
  Task acquire(Worker& worker) noexcept;
  Task takeTask(Shared& shared) noexcept;
  Task linger(Worker& worker) noexcept;
  void runErrand(Runner& runner) noexcept;
  void bind(Runner& runner) noexcept;
  static Task openJob(Shared& shared, const StreamCore* of) noexcept;
  void spin(port::Nanoseconds time) noexcept;
  bool isForUs() const noexcept;
  bool sleep(Lock& lock, Worker& worker) noexcept;
  static bool wait(Worker& worker, const timespec* limit) noexcept;
  void countIdle(Shared& shared) noexcept;

  Worker* pickSleeper(Shared& shared) noexcept;
  Worker* takeSleeper(Shared& shared) noexcept;
  void wake(Worker* worker) noexcept;
  void wakeCalled() noexcept;
  void learnPause(port::Nanoseconds pause) noexcept;
  Task answer(Worker& worker) noexcept;
  bool isAnyIdle() const noexcept;

  // Under the lock: the spare that has to look after streams that nobody is there for, if any.
  Worker* postWatchman(Shared& shared) noexcept;
  void wakeSpare(Worker* spare) noexcept;
  void watch(Worker& spare) noexcept;
  StreamCore* standWatch(Lock& lock, Worker& spare) noexcept;
  static void rest(Lock& lock, Worker& spare) noexcept;
  void setHot(Runner& runner, bool hot) noexcept;

  static void link(Shared& shared, StreamCore& stream) noexcept;
  static void unlink(Shared& shared, StreamCore& stream) noexcept;
  void append(Shared& shared, StreamCore& stream) noexcept;
  void remove(Shared& shared, StreamCore& stream) noexcept;
  bool claim(StreamCore& stream) noexcept;
  static bool keep(StreamCore& stream, Runner& runner) noexcept;
  StreamCore* takeKept(Runner& runner) noexcept;
  void shareKept(Runner& runner) noexcept;

  Drained drain(StreamCore& stream, Runner& runner, const std::function<bool()>* done) noexcept;
  Drained drainOne(StreamCore& stream, Runner& runner, bool assisting) noexcept;
  void runOne(StreamCore& stream, port::Operation& operation, Runner& runner) noexcept;
  Task joinJob(StreamCore& stream) noexcept;
  // Workers but for the spare ones.
  size_t width() const noexcept { return workers_.size() - most_spares; }
  bool mayShare() const noexcept { return width() > 1; }
  void considerWaking(const Runner& runner) noexcept;
  // False when a job took the operation over; then the job finishes it.
  bool execute(StreamCore& stream, port::Operation& operation, Runner& runner) noexcept;
  struct Outcome {
    port::OperationStatus status = 0;
    bool taken_over = false;
    port::Nanoseconds end = 0;  // 0: nobody has looked at the clock
  };
  // Of the runner's frame, which is prepared for it.
  Outcome runLaunch(StreamCore& stream, port::Operation& operation, Runner& runner,
                    port::Nanoseconds start) noexcept;
  template <class Request>
  Outcome runTransfer(StreamCore& stream, port::Operation& operation, const Request& request,
                      Runner& runner, port::Nanoseconds start) noexcept;

  double shareableNs() const noexcept;
  std::vector<NodeGroups> ownedGroups(const port::Launch& launch) const;
  bool awaits() const noexcept { return lingering_.load(std::memory_order_seq_cst) != 0; }
  // Will one of those who linger come by streams? While a job is under way they may be at its
  // pieces, for however long.
  bool lingererComes() const noexcept {
    return awaits() && busy_jobs_.load(std::memory_order_relaxed) == 0;
  }
  Job* newJob() noexcept;
  void free(Shared& shared, Job& job) noexcept;
  std::optional<uint32_t> beginLaunch(Job& job, StreamCore& stream, port::Operation& operation,
                                      const Runner& runner, port::Nanoseconds start,
                                      uint64_t done) noexcept;
  void runJob(Job& job, uint32_t turn, Runner& runner) noexcept;
  void takePart(Job& job, uint32_t turn, Runner& runner) noexcept;
  size_t seatOf(const Runner& runner) const noexcept;
  void countJobs(const Shared& shared) noexcept;
  void welcomeGuest() noexcept;

  // False when a worker did not end in time; then the executor has to stay.
  bool joinAll(const Worker* except) noexcept;

  // Not in the line of the references, which other devices' workers take.
  alignas(pool::line_bytes) const Home home_;
  const port::Capabilities& capabilities_;
  const bool binds_;
  const bool runs_errands_;
  const std::vector<Seat> seats_;
  std::vector<size_t> seat_of_pu_;  // Seat::none: none of ours
  cpu_set_t pus_{};                 // what threads that help the workers have to keep to
  const pid_t process_;
  std::vector<std::unique_ptr<Worker>> workers_;  // spare ones last
  // What who looks for work reads all the time is not in the lines that change with each operation.
  alignas(pool::line_bytes) Guarded<Shared, SpinLock> shared_;
  // Copies of what is in `shared_`, for looking at without the lock.
  alignas(pool::line_bytes) std::atomic<unsigned> ready_streams_{0};
  // The last of them was made ready by a thread that may be about to wait for it.
  std::atomic<bool> ready_by_caller_{false};
  // For those who linger: one of the jobs that may be joined, or that was the last one.
  alignas(pool::line_bytes) std::atomic<Job*> offered_{nullptr};
  std::atomic<size_t> guest_{Seat::none};          // the seat of the guest's PU
  std::atomic<size_t> helping_guest_{Seat::none};  // the same, of a guest that takes part in a job
  alignas(pool::line_bytes) std::atomic<unsigned> open_jobs_{0};
  std::atomic<unsigned> idle_workers_{0};
  std::atomic<unsigned> hot_workers_{0};
  std::atomic<bool> ticking_{false};             // there is a ticker
  std::atomic<unsigned> busy_jobs_{0};           // those that may not begin something else
  std::atomic<unsigned> in_errands_{0};          // workers
  std::atomic<unsigned> lingering_{0};           // Runner::lingering
  SeatSet awake_;                                // the seats of those
  std::atomic<port::Nanoseconds> linger_ns_{0};  // how long they do
  std::atomic<unsigned> called_{0};              // workers that did not answer yet
  WakeList to_wake_;                             // those of them whom nobody woke yet
  // One of those who linger is about to fetch a stream.
  std::atomic<bool> fetching_{false};
  // The worker that has to delete the executor on its way out, if any.
  std::atomic<const Worker*> orphaned_by_{nullptr};
};

}  // namespace weft::cpu
