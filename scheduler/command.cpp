#include "scheduler/command.h"

#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"

namespace weft {
namespace {

// Runs `function` where no caller could catch: its exception as an execution status.
template <class F>
cl_int attempt(F&& function) noexcept {
  try {
    function();
    return CL_SUCCESS;
  } catch (const Error& error) {
    return error.code();
  } catch (...) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}

}  // namespace

Command::Command(Queue& queue, cl_command_type type)
    : Event(Ref<Context>(&queue.context()), Ref<Queue>(&queue), type, CL_QUEUED),
      counters_(&queue.counters_),
      stream_(&queue.stream()),
      space_(queue.device().capabilities().memory_space),
      resolved_(queue.context().singleSpace()) {
  times_.queued.store(profiling::now(), std::memory_order_relaxed);
}

Command::Command(Context& context, Device& device)
    : Event(Ref<Context>(&context), nullptr, CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_QUEUED),
      counters_(&State::of(context).counters(device)),
      stream_(&State::of(context).transferStream(device)),
      space_(device.capabilities().memory_space),
      resolved_(true) {
  times_.queued.store(profiling::now(), std::memory_order_relaxed);
}

void Command::runOn(Device& device) {
  counters_ = &State::of(context()).counters(device);
  stream_ = &State::of(context()).transferStream(device);
  space_ = device.capabilities().memory_space;
}

void Command::enqueue(WaitList waits) {
  for (const Ref<Event>& event : waits) waitFor(*event, true);
  queue()->order(*this, ordering(), !waits.empty());
  releaseGuard();
}

void Command::ready() noexcept {
  const RuntimeScope scope;
  if (!resolved_) {
    resolved_ = true;
    holdAgain();
    failure_ = attempt([this] { Resolver(*this).resolve(); });
    releaseGuard();  // comes back here once the transfers are there
    return;
  }
  if (failure_ == CL_SUCCESS) failure_ = attempt([this] { prepare(); });
  if (failure_ != CL_SUCCESS)
    complete(failure_);
  else
    start();
}

void Command::start() noexcept {
  const uint64_t now = profiling::now();
  times_.submitted.store(now, std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  if (!std::holds_alternative<std::monostate>(work)) {
    stream_->submit(*this);
    return;
  }
  started(now);
  times_.ended.store(now, std::memory_order_relaxed);
  complete(CL_COMPLETE);
}

void Command::started(port::Nanoseconds when) noexcept {
  times_.started.store(when, std::memory_order_relaxed);
  advance(CL_RUNNING);
}

void Command::finished(port::OperationStatus status, port::Nanoseconds start,
                       port::Nanoseconds end) noexcept {
  times_.started.store(start, std::memory_order_relaxed);
  times_.ended.store(end, std::memory_order_relaxed);
  counters_->commands.fetch_add(1, std::memory_order_relaxed);
  counters_->busy_ns.fetch_add(end - start, std::memory_order_relaxed);
  complete(status < 0 ? status : CL_COMPLETE);
}

void Command::notified() noexcept {
  if (epoch_) epoch_->arrive();
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
