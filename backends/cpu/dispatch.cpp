// The executor's other half: running operations.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "backends/cpu/clock.h"
#include "backends/cpu/executor.h"
#include "backends/cpu/family.h"
#include "backends/cpu/locality.h"
#include "backends/cpu/stream.h"
#include "core/error.h"
#include "core/release_batch.h"

namespace weft::cpu {
namespace {

// Below this an operation is over before a sleeper could be woken for the next one.
constexpr double tiny_ns = 20'000;
// From here on several threads are worth their wake-ups, and their joining where they are awake.
constexpr double shared_launch_ns = 60'000;
constexpr double shared_launch_awake_ns = 10'000;
constexpr uint64_t shared_transfer_bytes = 2 << 20;
// A launch that runs on one thread looks at the clock this often, and one whose cost is unknown
// after each group until this much time has gone.
constexpr double serial_step_ns = 10'000;
constexpr double start_ns = 1'000;  // that a launch may take to begin
constexpr double minimum_piece_ns = 10'000;
// A thread that is wanted elsewhere leaves after a piece.
constexpr double maximum_piece_ns = 200'000;
constexpr uint64_t pieces_per_worker = 8;
constexpr double bytes_per_ns = 8;
// A thread's copy of what the threads of a launch write by atomics takes it a nanosecond or so a
// byte to make and to combine, and should gain a multiple.
constexpr double copy_ns_per_byte = 20;
// How many tiny operations of one stream, or that each made the next one ready, run before other
// streams have a turn.
constexpr unsigned turn = 64;
// How long an application thread spins when others run what it waits for.
constexpr port::Nanoseconds assist_spin = 20'000;

// Nanoseconds that an operation will take; negative: unknown.
struct Estimate {
  double operator()(const std::monostate&) const { return 0; }
  double operator()(const port::Launch& launch) const {
    Kernel* kernel = static_cast<Module*>(launch.module)->kernel(launch.kernel);
    if (!kernel) return 0;
    const auto& local = launch.record->local_size;
    return kernel->timing.estimate(launch.slice.count() * local[0] * local[1] * local[2]);
  }
  double operator()(const port::Copy& copy) const {
    return double(copy.region[0] * copy.region[1] * copy.region[2]) / bytes_per_ns;
  }
  double operator()(const port::Fill& fill) const { return double(fill.size) / bytes_per_ns; }
  double operator()(const port::Prefetch&) const { return -1; }
  double operator()(const port::HostCall&) const { return -1; }
};

// What is at one end of a transfer and may have no home yet.
void settleEnd(const port::Location& end, const Home& home) noexcept {
  const auto address = reinterpret_cast<uint64_t>(end.host);
  if (port::Memory* memory = end.memory ? end.memory : memoryAt(address)) settle(*memory, home);
}

void settleMemory(const port::Operation& operation, const Home& home) noexcept {
  if (const auto* launch = std::get_if<port::Launch>(&operation.work)) {
    if (const Kernel* kernel = static_cast<Module*>(launch->module)->kernel(launch->kernel))
      settleMemory(*launch, kernel->info, home);
  } else if (const auto* copy = std::get_if<port::Copy>(&operation.work)) {
    settleEnd(copy->destination, home);
  } else if (const auto* fill = std::get_if<port::Fill>(&operation.work)) {
    settle(*fill->memory, home);
  }
}

// What moves nearer is whole allocations: a part would leave the rest without anybody who uses it
// first.
void bringNear(const port::Prefetch& prefetch, const Home& home) noexcept {
  if (prefetch.to_host) return;
  for (const port::Prefetch::Part& part : prefetch.parts)
    if (part.offset == 0 && part.size >= part.memory->size()) moveHome(*part.memory, home);
}

bool isTiny(const port::Operation& operation) {
  const double estimate = std::visit(Estimate(), operation.work);
  return estimate >= 0 && estimate < tiny_ns;
}

// May an application thread run it? Moving pages takes long; host calls expect a thread of ours; a
// kernel has to fit the caller's stack.
bool isAssistable(const port::Operation& operation) {
  if (std::holds_alternative<port::HostCall>(operation.work) ||
      std::holds_alternative<port::Prefetch>(operation.work))
    return false;
  const auto* launch = std::get_if<port::Launch>(&operation.work);
  if (!launch) return true;
  const Kernel* kernel = static_cast<Module*>(launch->module)->kernel(launch->kernel);
  return kernel && isForGuests(kernel->info.stack_bytes);
}

// A launch of which nobody knows how long it takes.
Job::Cut cutUntimed(uint64_t begin, uint64_t end, size_t workers) {
  constexpr uint64_t most = 64;
  const uint64_t fair = (end - begin) / (pieces_per_worker * workers);
  return {.begin = begin, .end = end, .piece = std::clamp<uint64_t>(fair, 1, most), .piece_ns = -1};
}

// How many groups to run before the next look at the clock. `tried`: some took what was expected.
uint64_t serialStep(const LaunchFrame& frame, uint64_t left, bool tried) {
  const double per_group = frame.timing().estimate(frame.itemsPerGroup());
  if (per_group < 0) return 1;
  const double step = serial_step_ns / std::max(per_group, 1e-3);
  // The last launch says little about this one: its arguments differ. Try some first.
  constexpr uint64_t worth_trying = 16;
  if (left >= worth_trying && step >= double(left) && !tried) return left / 8;
  return step >= double(left) ? left : std::max<uint64_t>(1, uint64_t(step));
}

Job::Cut cutLaunch(const LaunchFrame& frame, uint64_t begin, size_t workers, double least_ns) {
  const uint64_t groups = frame.groups() - begin;
  const double per_group = std::max(frame.timing().estimate(frame.itemsPerGroup()), 1e-3);
  const auto least = uint64_t(std::min(least_ns / per_group, double(groups)));
  const auto most = uint64_t(std::min(maximum_piece_ns / per_group, double(groups)));
  const uint64_t fair = groups / (pieces_per_worker * workers);
  const uint64_t piece = std::max<uint64_t>(1, std::min(std::max(fair, least), most));
  return {
      .begin = begin, .end = frame.groups(), .piece = piece, .piece_ns = double(piece) * per_group};
}

}  // namespace

void Executor::considerWaking(const Runner& runner) noexcept {
  if (!runner.executor) return;
  const bool tiny = runner.hot;
  if (ready_streams_.load(std::memory_order_relaxed) == 0 || !isAnyIdle()) return;
  // Who takes the ticker's place away from it comes by the streams, too.
  if (tiny && ticking_.load(std::memory_order_relaxed)) return;
  Worker* woken = shared_.with([&](Shared& shared) -> Worker* {
    if (!shared.first || shared.searcher || (tiny && shared.ticker) || lingererComes())
      return nullptr;
    shared.searcher = pickSleeper(shared);
    countIdle(shared);
    return shared.searcher;
  });
  wake(woken);
}

Executor::Drained Executor::drain(StreamCore& stream, Runner& runner,
                                  const std::function<bool()>* done) noexcept {
  const bool assisting = done != nullptr;
  if (stream.order == port::Order::unordered) return drainOne(stream, runner, assisting);
  for (unsigned count = 1;; ++count) {
    port::Operation& operation = stream.front();
    if (assisting && !isAssistable(operation)) {
      ready(stream);
      return Drained::refused;
    }
    stream.pop();
    if (runner.executor) setHot(runner, isTiny(operation));
    considerWaking(runner);
    if (!runner.hot) ReleaseBatch::flush();
    const bool turn_over = !runner.hot || count % turn == 0;
    if (!execute(stream, operation, runner)) return Drained::yielded;
    if (!stream.drop()) {
      stream.release();
      return Drained::idle;
    }
    shareKept(runner);
    // A spare hands the stream on as soon as there is a worker again.
    const bool relieved = runner.spare && isAnyIdle();
    const bool yields =
        assisting ? (*done)() : relieved || (turn_over && ready_streams_.load() != 0);
    if (!yields) continue;
    ready(stream);
    return Drained::yielded;
  }
}

Executor::Drained Executor::drainOne(StreamCore& stream, Runner& runner, bool assisting) noexcept {
  port::Operation& operation = stream.front();
  if (assisting && !isAssistable(operation)) {
    ready(stream);
    return Drained::refused;
  }
  stream.pop();
  if (runner.executor) setHot(runner, isTiny(operation));
  const bool more = stream.drop();
  if (more)
    ready(stream);
  else
    stream.release();
  // Who makes a stream ready has seen to that, unless others are to be back sooner.
  if (!more || !runner.hot) considerWaking(runner);
  if (!runner.hot) ReleaseBatch::flush();
  // The owner keeps its stream until the operation has finished.
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDelete)
  execute(stream, operation, runner);
  return Drained::yielded;
}

void Executor::runOne(StreamCore& stream, port::Operation& operation, Runner& runner) noexcept {
  setHot(runner, isTiny(operation));
  considerWaking(runner);
  if (!runner.hot) ReleaseBatch::flush();
  execute(stream, operation, runner);
}

// Only the first one.
bool Executor::keep(StreamCore& stream, Runner& runner) noexcept {
  if (!runner.ends || runner.kept) return false;
  runner.kept = &stream;
  return true;
}

// From now on what the operation's end makes ready is for all.
void Executor::shareKept(Runner& runner) noexcept {
  runner.ends = false;
  if (StreamCore* const kept = std::exchange(runner.kept, nullptr)) ready(*kept);
}

// Unless others wait for their turn.
StreamCore* Executor::takeKept(Runner& runner) noexcept {
  if (!runner.kept) return nullptr;
  const bool turn_over = !runner.hot || ++runner.kept_count % turn == 0;
  if (turn_over && ready_streams_.load(std::memory_order_relaxed) != 0) shareKept(runner);
  return std::exchange(runner.kept, nullptr);
}

void Executor::assist(StreamCore& stream, const std::function<bool()>& done) noexcept {
  // A thread that runs elsewhere, too, would take a sub-device's work to its neighbour's PUs. On a
  // described machine they are not those that threads run on.
  const bool anywhere = !binds_ || home_.topology->isDescribed();
  if (Runner::workerOf() || !(anywhere || isBoundWithin(pus_))) return;
  const KernelFloatScope floats;
  Runner& runner = Runner::current();
  bool refused = false;
  port::Nanoseconds until = 0;
  welcomeGuest();
  const bool assisted = std::exchange(Runner::assists(), true);
  while (!done()) {
    if (!refused && claim(stream)) {
      refused = drain(stream, runner, &done) == Drained::refused;
      until = 0;
    } else if (const Task task = joinJob(stream); task.job && !done()) {
      // Not the turn of what comes after that.
      takePart(*task.job, task.turn, runner);
      until = 0;
    } else if (until == 0) {
      until = now() + assist_spin;
    } else if (now() >= until) {
      break;
    } else {
      pause();
    }
  }
  Runner::assists() = assisted;
  guest_.store(Seat::none, std::memory_order_relaxed);
}

Executor::Task Executor::joinJob(StreamCore& stream) noexcept {
  const unsigned open = open_jobs_.load(std::memory_order_relaxed);
  if (open == 0) return {};
  if (Job* const job = offered_.load(std::memory_order_acquire))
    if (const auto turn = job->turnFor(stream)) return {.job = job, .turn = *turn};
  if (open == 1) return {};
  return shared_.with([&](Shared& shared) { return openJob(shared, &stream); });
}

bool Executor::execute(StreamCore& stream, port::Operation& operation, Runner& runner) noexcept {
  if (runner.errands.any()) runner.errands.decline();
  // Its children are those of no other kernel, and their end is the operation's.
  if (Family::isNeeded(operation)) {
    Family* const family = Family::take(*this, stream, operation);
    if (family) execute(family->stream(), family->root(), runner);
    if (!family) operation.finished(CL_OUT_OF_HOST_MEMORY, now(), now());
    return !family;
  }
  if (!home_.nodes.empty()) settleMemory(operation, home_);
  // A clock is read once where an operation begins and once where it ends: for a small kernel that
  // is dear.
  Outcome outcome;
  const auto* const launch = std::get_if<port::Launch>(&operation.work);
  if (launch) outcome.status = runner.frame.prepare(*launch);
  const port::Nanoseconds start = now();
  operation.started(start);
  if (launch) {
    if (outcome.status == CL_SUCCESS) outcome = runLaunch(stream, operation, runner, start);
  } else if (const auto* copy = std::get_if<port::Copy>(&operation.work)) {
    outcome = runTransfer(stream, operation, *copy, runner, start);
  } else if (const auto* fill = std::get_if<port::Fill>(&operation.work)) {
    outcome = runTransfer(stream, operation, *fill, runner, start);
  } else if (const auto* prefetch = std::get_if<port::Prefetch>(&operation.work)) {
    bringNear(*prefetch, home_);
  } else if (const auto* call = std::get_if<port::HostCall>(&operation.work)) {
    call->function(call->user);
    setKernelFloatState();
  }
  if (outcome.taken_over) return false;
  runner.ends = runner.executor && !runner.spare;
  const Errands::Open errands(errandsOf(runner));
  operation.finished(outcome.status, start, outcome.end != 0 ? outcome.end : now());
  runner.ends = false;
  return true;
}

Executor::Outcome Executor::runLaunch(StreamCore& stream, port::Operation& operation,
                                      Runner& runner, port::Nanoseconds start) noexcept {
  LaunchFrame& frame = runner.frame;
  const uint64_t groups = frame.groups();
  const double known = frame.timing().estimate(frame.itemsPerGroup());
  port::Nanoseconds last = start;
  for (uint64_t done = 0; done < groups;) {
    const uint64_t left = groups - done;
    const double expected = frame.timing().estimate(left * frame.itemsPerGroup());
    if (mayShare() && left > 1 && (expected < 0 || expected > shareableNs())) {
      Job* const job = newJob();
      const auto turn =
          job ? beginLaunch(*job, stream, operation, runner, start, done) : std::nullopt;
      if (turn) {
        runJob(*job, *turn, runner);
        return {.taken_over = true};
      }
    }
    const bool tried =
        done > 0 && known >= 0 && double(last - start) < 2 * known * double(done) + start_ns;
    const uint64_t step = mayShare() ? serialStep(frame, left, tried) : left;
    const auto status = frame.run(done, done + step, runner.scratch);
    if (status != CL_SUCCESS) return {.status = status};
    const port::Nanoseconds before = std::exchange(last, now());
    frame.timing().record(last - before, step * frame.itemsPerGroup());
    done += step;
  }
  return {.end = last};
}

double Executor::shareableNs() const noexcept {
  return awaits() ? shared_launch_awake_ns : shared_launch_ns;
}

std::vector<NodeGroups> Executor::ownedGroups(const port::Launch& launch) const {
  if (home_.nodes.size() < 2) return {};
  const Kernel* kernel = static_cast<Module*>(launch.module)->kernel(launch.kernel);
  return groupsByNode(launch, kernel->info, home_);
}

// Of the runner's frame. The turn; none when there is no memory for it.
std::optional<uint32_t> Executor::beginLaunch(Job& job, StreamCore& stream,
                                              port::Operation& operation, const Runner& runner,
                                              port::Nanoseconds start, uint64_t done) noexcept try {
  job.frame.assign(runner.frame);
  const bool chained = awaits();
  const bool timed = job.frame.timing().estimate(1) >= 0;
  Job::Cut cut =
      timed ? cutLaunch(job.frame, done, width(), chained ? brief_piece_ns : minimum_piece_ns)
            : cutUntimed(done, job.frame.groups(), width());
  cut.chained = chained;
  const unsigned awake = lingering_.load(std::memory_order_relaxed) + 1;
  const double ns = double(job.frame.groups() - done) / double(cut.piece) * cut.piece_ns;
  if (timed && chained && ns <= awake * worth_waking_ns) cut.there = &awake_;
  cut.own = seatOf(runner);
  const auto& launch = std::get<port::Launch>(operation.work);
  if (job.frame.combines()) {
    const size_t copied = findCombinedArguments(launch, job.frame.info(), job.combined);
    cut.copies = copied != 0 && ns >= double(copied) * double(width()) * copy_ns_per_byte;
  }
  return job.begin(true, stream, operation, start, cut, ownedGroups(launch));
} catch (...) {
  shared_.with([&](Shared& shared) { free(shared, job); });
  return std::nullopt;
}

template <class Request>
Executor::Outcome Executor::runTransfer(StreamCore& stream, port::Operation& operation,
                                        const Request& request, Runner& runner,
                                        port::Nanoseconds start) noexcept {
  Transfer transfer;
  if (const auto status = transfer.prepare(request); status != CL_SUCCESS)
    return {.status = status};
  Job* const job = mayShare() && transfer.bytes() >= shared_transfer_bytes ? newJob() : nullptr;
  if (!job) {
    transfer.run(0, transfer.units());
    return {};
  }
  job->transfer = transfer;
  const uint64_t units = transfer.units(), piece = std::max<uint64_t>(1, units / (4 * width()));
  const double unit_ns = double(transfer.bytes()) / double(units) / bytes_per_ns;
  const Job::Cut cut{.end = units, .piece = piece, .piece_ns = double(piece) * unit_ns};
  runJob(*job, job->begin(false, stream, operation, start, cut, {}), runner);
  return {.taken_over = true};
}

Job* Executor::newJob() noexcept try {
  Job* job = shared_.with([this](Shared& shared) -> Job* {
    if (shared.free_jobs.empty()) return nullptr;
    Job* free = shared.free_jobs.back();
    shared.free_jobs.pop_back();
    busy_jobs_.fetch_add(1, std::memory_order_relaxed);
    return free;
  });
  if (job) return job;
  auto made = std::make_unique<Job>(*this, seats_);
  job = made.get();
  auto shared = shared_.lock();
  // Room for all of them everywhere, so that nothing is allocated under way.
  shared->all_jobs.push_back(std::move(made));
  shared->free_jobs.reserve(shared->all_jobs.capacity());
  shared->jobs.reserve(shared->all_jobs.capacity());
  busy_jobs_.fetch_add(1, std::memory_order_relaxed);
  return job;
} catch (...) {
  return nullptr;  // no memory for it: the operation runs on one thread
}

// The job has begun.
void Executor::runJob(Job& job, uint32_t turn, Runner& runner) noexcept {
  setHot(runner, false);
  Worker *woken = nullptr, *watchman = nullptr;
  const port::Nanoseconds begun = now();
  shared_.with([&](Shared& shared) {
    // One may have closed since: then there was none.
    if (shared.jobs.empty()) learnPause(begun - std::min(begun, shared.job_closed));
    // Those who remember the job from another turn may have been faster.
    if (job.turn() == turn) {
      shared.jobs.push_back(&job);
      countJobs(shared);
    }
    // What was left to those who linger, who may have come here instead.
    if (!shared.first) return;
    if (!shared.searcher) {
      woken = pickSleeper(shared);
      shared.searcher = woken;
      if (woken) countIdle(shared);
    }
    watchman = postWatchman(shared);
  });
  wake(woken);
  wakeSpare(watchman);
  takePart(job, turn, runner);
}

void Executor::takePart(Job& job, uint32_t turn, Runner& runner) noexcept {
  ReleaseBatch::flush();
  if (runner.loose) bind(runner);
  const bool helps = !runner.executor;
  if (helps) {
    welcomeGuest();
    helping_guest_.store(guest_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  job.takePart(turn, runner, seatOf(runner));
  if (helps) helping_guest_.store(Seat::none, std::memory_order_relaxed);
  runner.lingers = runner.executor && !runner.spare && mayShare();
}

bool Executor::wantsBack(const Job& job) const noexcept {
  return ready_streams_.load(std::memory_order_relaxed) != 0 && !isAnyIdle() &&
         job.participants() > 1;
}

void Executor::withdraw(Job& job) noexcept {
  const port::Nanoseconds closed = now();
  auto shared = shared_.lock();
  shared->job_closed = closed;
  std::erase(shared->jobs, &job);
  countJobs(*shared);
  if (job.end()) free(*shared, job);
}

void Executor::free(Shared& shared, Job& job) noexcept {
  shared.free_jobs.push_back(&job);
  busy_jobs_.fetch_sub(1, std::memory_order_relaxed);
}

// An application thread works in the place of the worker whose PU it is on.
size_t Executor::seatOf(const Runner& runner) const noexcept {
  if (runner.executor) return runner.seat;
  const size_t guest = guest_.load(std::memory_order_relaxed);
  return guest < seats_.size() ? guest : 0;
}

void Executor::countJobs(const Shared& shared) noexcept {
  open_jobs_.store(unsigned(shared.jobs.size()), std::memory_order_relaxed);
  if (shared.jobs.empty()) return;
  Job* const newest = shared.jobs.back();
  // Those who linger would all come for the line.
  if (offered_.load(std::memory_order_relaxed) != newest)
    offered_.store(newest, std::memory_order_release);
}

void Executor::letGo(Job& job) noexcept {
  if (job.end()) shared_.with([&](Shared& shared) { free(shared, job); });
}

void Executor::resume(StreamCore& stream) noexcept {
  if (stream.drop())
    ready(stream);
  else
    stream.release();
}

}  // namespace weft::cpu
