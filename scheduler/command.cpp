#include <CL/cl_ext.h>

#include "scheduler/command.h"

#include <algorithm>

#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"
#include "scheduler/step.h"
#include "scheduler/tracing.h"

namespace weft {
namespace {

constexpr std::pair<cl_command_type, const char*> command_names[] = {
    {CL_COMMAND_NDRANGE_KERNEL, "a kernel"},
    {CL_COMMAND_TASK, "a task"},
    {CL_COMMAND_NATIVE_KERNEL, "a native kernel"},
    {CL_COMMAND_READ_BUFFER, "a buffer read"},
    {CL_COMMAND_READ_BUFFER_RECT, "a buffer read"},
    {CL_COMMAND_WRITE_BUFFER, "a buffer write"},
    {CL_COMMAND_WRITE_BUFFER_RECT, "a buffer write"},
    {CL_COMMAND_COPY_BUFFER, "a buffer copy"},
    {CL_COMMAND_COPY_BUFFER_RECT, "a buffer copy"},
    {CL_COMMAND_FILL_BUFFER, "a buffer fill"},
    {CL_COMMAND_MAP_BUFFER, "a buffer map"},
    {CL_COMMAND_READ_IMAGE, "an image read"},
    {CL_COMMAND_WRITE_IMAGE, "an image write"},
    {CL_COMMAND_COPY_IMAGE, "an image copy"},
    {CL_COMMAND_COPY_IMAGE_TO_BUFFER, "a copy of an image to a buffer"},
    {CL_COMMAND_COPY_BUFFER_TO_IMAGE, "a copy of a buffer to an image"},
    {CL_COMMAND_FILL_IMAGE, "an image fill"},
    {CL_COMMAND_MAP_IMAGE, "an image map"},
    {CL_COMMAND_UNMAP_MEM_OBJECT, "an unmap"},
    {CL_COMMAND_MIGRATE_MEM_OBJECTS, "a migration"},
    {CL_COMMAND_MARKER, "a marker"},
    {CL_COMMAND_BARRIER, "a barrier"},
    {CL_COMMAND_SVM_FREE, "a release of shared memory"},
    {CL_COMMAND_SVM_MEMCPY, "a copy of shared memory"},
    {CL_COMMAND_SVM_MEMFILL, "a fill of shared memory"},
    {CL_COMMAND_MEMCPY_INTEL, "a copy of shared memory"},
    {CL_COMMAND_MEMFILL_INTEL, "a fill of shared memory"},
    {khr::command_command_buffer, "a command buffer"},
};

// What a device's failure means.
constexpr std::pair<cl_int, const char*> device_failures[] = {
    {CL_DEVICE_NOT_AVAILABLE, "the device is lost"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device is out of memory"},
    {CL_OUT_OF_HOST_MEMORY, "the host is out of memory"},
};

const char* whyDeviceFailed(cl_int status) {
  for (const auto& [code, words] : device_failures)
    if (code == status) return words;
  return "the device could not complete it";
}

}  // namespace

Command::Command(Queue& queue, cl_command_type type)
    : Event(queue.context(), &queue, type, CL_QUEUED),
      counters_(&queue.counters_),
      device_(&queue.device()),
      stream_(&queue.stream()),
      space_(queue.device().capabilities().memory_space),
      in_queue_stream_(true),
      resolved_(queue.context().singleSpace()) {
  if (queue.profiling() || tracing::on())
    times_.queued.store(profiling::now(), std::memory_order_relaxed);
}

Command::Command(Context& context, Device& device, bool resolved)
    : Event(context, nullptr, CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_QUEUED),
      counters_(&State::of(context).counters(device)),
      device_(&device),
      stream_(&State::of(context).transferStream(device)),
      space_(device.capabilities().memory_space),
      in_queue_stream_(false),
      resolved_(resolved) {
  if (tracing::on()) times_.queued.store(profiling::now(), std::memory_order_relaxed);
}

// Making a stream may fail, and nothing has changed then.
void Command::runOn(Device& device) {
  stream_ = &State::of(context()).transferStream(device);
  counters_ = &State::of(context()).counters(device);
  device_ = &device;
  in_queue_stream_ = false;
  space_ = device.capabilities().memory_space;
}

void Command::runOnMember(Device& member) {
  stream_ = &queue()->streamOn(member);
  counters_ = &State::of(context()).counters(member);
  device_ = &member;
  in_queue_stream_ = true;
  space_ = member.capabilities().memory_space;
}

void Command::runAtHome() {
  counters_ = &queue()->counters_;
  device_ = &queue()->device();
  stream_ = &queue()->stream();
  in_queue_stream_ = true;
  space_ = device_->capabilities().memory_space;
}

Command::~Command() = default;

void Command::enqueue(WaitList waits) {
  event_wanted_ = waits.event_wanted;
  for (const Ref<Event>& event : waits) {
    expectAfter(*event);
    runBehind(*event);
  }
  const Ref<Event> predecessor = queue()->order(*this, ordering(), !waits.empty());
  if (!resolved_) announce(predecessor, waits);
  // It waits for commands that nobody else may be looking at.
  if (ordering() != Queue::Ordering::command && queue()->outOfOrder()) queue()->flush();
  releaseGuard();
}

void Command::follow(const Ref<Event>& previous) {
  expectAfter(*previous);
  if (!queue()->runsAhead()) return waitFor(*previous, false);
  if (previous->done()) return;
  waitForSubmission(static_cast<Command&>(*previous));
  place_ = previous;
}

// Or has it been submitted already?
void Command::waitForSubmission(Command& earlier) {
  Edge& edge = newEdge();
  edge.set(*this, false);
  linkTo(earlier.followers_, edge);
}

void Command::refused() noexcept {
  const RuntimeScope scope;
  if (ran_) return conclude();
  if (!waitForAhead()) complete(dependencyFailure());
}

void Command::ready() noexcept {
  const RuntimeScope scope;
  if (ran_) return conclude();
  fetchWaiters();
  dropEnded();
  if (dependencyFailed()) return refused();
  if (!resolved_) return resolve();
  if (waitForEnds(failure_ != CL_SUCCESS || !leads())) return;
  if (!leads()) requireInput();
  if (failure_ == CL_SUCCESS && !std::exchange(prepared_, true)) attempt([this] { prepare(); });
  const auto idle = [this] {
    return failure_ != CL_SUCCESS || std::holds_alternative<std::monostate>(work);
  };
  if (!idle()) attempt([this] { gatherAhead(); });
  if (idle()) {
    if (waitForAhead()) return;
    requireInput();
  }
  if (failure_ != CL_SUCCESS)
    endUnbegun();
  else
    start();
}

void Command::endUnbegun() noexcept {
  dropEnded();
  if (dependencyFailed() || !hasAnotherWay(failure_)) return complete(failure_);
  std::optional<uint64_t> ticket;
  if (resolution_ && resolution_->claimed) ticket = resolution_->claim.ticket;
  settle(failure_);
  goAnotherWay(ticket);
}

// Comes back to ready() once the transfers are there, or what the command has to wait for is done.
void Command::resolve() noexcept {
  holdAgain();
  resolved_ = true;
  attempt([this] { resolved_ = Resolver(*this).resolve(); });
  releaseGuard();
}

// The exception that is being handled.
void Command::takeFailure() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    failure_ = error.code();
    if (!hasAnotherWay(failure_)) report(failure_, error.what());
  } catch (...) {
    failure_ = CL_OUT_OF_HOST_MEMORY;
    report(failure_, "out of memory");
  }
}

// Rows are known to be written only when they were.
void Command::enter() noexcept {
  using Result = Residency::Result;
  if (!resolution_ || !resolution_->claimed) return;
  const AccessList& accesses = resolution_->accesses;
  const auto enters = [](const Access& access) { return access.writes && !access.rows; };
  if (std::none_of(accesses.begin(), accesses.end(), enters)) return;
  step::point();
  const step::Quiet quiet;
  const auto tickets = State::of(context()).tickets().lock();
  resolution_->claim.under_way = true;
  for (const Access& access : accesses)
    if (enters(access))
      Residency::of(*access.object)
          .enter(access.begin, access.end, resolution_->claim,
                 access.reads ? Result::overwritten : Result::written);
}

void Command::settle(cl_int status) noexcept {
  if (!resolution_) return;
  const auto tickets = State::of(context()).tickets().lock();
  const Claim& claim = resolution_->claim;
  const bool done = status == CL_COMPLETE || (submitted_ && ranDespite(status));
  const bool lost = submitted_ && !done && !neverBegan();
  for (const Access& access : resolution_->accesses) {
    if (!access.writes) continue;
    Residency& residency = Residency::of(*access.object);
    residency.retract(resolution_->announced);
    if (!lost || !resolution_->claimed) continue;
    State::of(context()).noteLoss();
    if (claim.under_way && !access.rows) residency.fail(access.begin, access.end, claim);
  }
  if (resolution_->claimed)
    for (const Access& access : resolution_->accesses) settle(access, lost, done);
  resolution_ = nullptr;
}

// Gives up the claim on it.
void Command::settle(const Access& access, bool lost, bool done) noexcept {
  using Result = Residency::Result;
  Residency& residency = Residency::of(*access.object);
  const Claim& claim = resolution_->claim;
  const bool late = access.writes && !(claim.under_way && !access.rows);
  Result result = Result::unchanged;
  if (late && done && !access.rows)
    result = access.reads ? Result::overwritten : Result::written;
  else if (late && lost)
    result = Result::lost;
  residency.settle(access.begin, access.end, claim, result);
  if (late && done && access.rows) residency.write(*access.rows, space());
}

const char* nameOf(cl_command_type type) noexcept {
  for (const auto& [type_of_name, name] : command_names)
    if (type_of_name == type) return name;
  return "a command";
}

std::string Command::what() const { return nameOf(type()); }

// "errinfo is a pointer to a null-terminated string that describes the error."
void Command::report(cl_int status, const char* why) const noexcept {
  if (!context().listens()) return;
  try {
    std::string message =
        what() + " on " + device_->capabilities().name + " failed with " + std::to_string(status);
    if (*why) message.append(": ").append(why);
    Callbacks& callbacks = callbacksOf(context());
    callbacks.start();
    callbacks.post(
        [context = Ref<Context>(&context()), text = std::move(message)] { context->report(text); },
        Callbacks::At::elsewhere);
  } catch (const std::exception&) {  // nobody can be told
  }
}

void Command::start() noexcept {
  step::point();
  const bool has_work = !std::holds_alternative<std::monostate>(work);
  timed = isMeasured() || tracing::on();
  const uint64_t now = timed || !has_work ? profiling::now() : 0;
  times_.submitted.store(now, std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  if (has_work) {
    submit();
    return;
  }
  started(now);
  times_.ended.store(now, std::memory_order_relaxed);
  complete(CL_COMPLETE);
}

// The command that waits for this one in an in-order queue, with its guard held. One that comes
// later sees that this one is under way.
Command* Command::nextInQueue() noexcept {
  step::point();
  Command* const next = successor_.exchange(this, std::memory_order_acq_rel);
  if (next) next->holdAgain();
  return next;
}

// Of a transfer that others run behind they know. And who flushes a queue flushes its streams,
// those on members of a unified device among them, and no others.
bool Command::endIsWanted() const {
  if (watched()) return true;
  return queue() ? event_wanted_ || !in_queue_stream_ : !leads();
}

void Command::submit() noexcept {
  submitted_ = true;
  if (queue()) counters_->work.submitted();
  wants_start = hasCallbacks();
  awaited = isAwaited();
  observed = timed || endIsWanted();
  Command* const next = context().singleSpace() ? nullptr : nextInQueue();
  if (leads()) {
    const Ref<Command> self(this);  // it may have ended before submit() returns
    enter();
    step::point();
    submitTo(*stream_);
    step::point();
    letFollowersGo();
  } else {
    step::point();
    submitTo(*stream_);  // and may be gone
    step::point();
  }
  if (!next) return;
  if (next->unfinishedDependencies() > 0) next->prefetch();
  next->releaseGuard();
}

void Command::started(port::Nanoseconds when) noexcept {
  fetchNextReady();
  times_.started.store(when, std::memory_order_relaxed);
  advance(CL_RUNNING);
}

void Command::finished(port::OperationStatus status, port::Nanoseconds start,
                       port::Nanoseconds end) noexcept {
  const RuntimeScope scope;
  times_.started.store(start, std::memory_order_relaxed);
  times_.ended.store(end, std::memory_order_relaxed);
  if (queue()) counters_->work.ended(start, end);  // transfers are counted apart
  if (status < 0) report(status, whyDeviceFailed(status));
  if (status < 0) failure_ = status;
  ran_ = true;
  if (waitForAhead()) return;
  conclude();
}

bool Command::lostItsInput() const noexcept {
  const bool ahead = queue() && (queue()->runsAhead() || queue()->fenceGroup() != 0 ||
                                 device_->capabilities().fence_group != 0);
  if (!ahead || !resolution_ || !State::of(context()).hasLosses()) return false;
  const auto tickets = State::of(context()).tickets().lock();
  return std::any_of(
      resolution_->accesses.begin(), resolution_->accesses.end(), [](const Access& access) {
        return access.reads && Residency::of(*access.object).lost(access.begin, access.end);
      });
}

// What is ahead in the queue may have failed after this command's bytes were looked at.
void Command::requireInput() noexcept {
  if (failure_ == CL_SUCCESS && (dependencyFailed() || lostItsInput()))
    failure_ = dependencyFailure();
}

void Command::notified() noexcept {
  tell(close(followers_), status());
  ahead_ = nullptr;
  if (epoch_) epoch_->arrive();
}

// Row by row where they are few, else all between the first and the last byte, of which those
// between the rows then have to be kept.
void appendRows(AccessList& list, MemObject& object, const ByteRows& rows, bool reads,
                bool writes) {
  constexpr size_t most_rows = 64;
  if (rows.count() > most_rows) {
    list.push_back({&object, rows.begin, rows.end(), true, writes});
    return;
  }
  for (size_t i = 0; i < rows.count(); ++i)
    list.push_back({&object, rows.row(i), rows.row(i) + rows.bytes, reads, writes});
}

port::Location locate(MemObject& object, port::MemorySpace space, size_t offset) {
  port::Memory& memory = object.storage().in(space);
  port::Location location;
  if (space == port::host_space) {
    location.host = memory.host() + offset;
  } else {
    location.memory = &memory;
    location.offset = offset;
  }
  return location;
}

}  // namespace weft
