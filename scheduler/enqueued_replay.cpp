#include "scheduler/enqueued_replay.h"

#include <algorithm>

#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/executed_parts.h"
#include "scheduler/state.h"

namespace weft {
namespace {

constexpr cl_int dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

// Waits for its turn in the queue, enqueues the recorded commands on the queue's inner one, with
// their edges, and ends with the last of them.
class EnqueuedReplay final : public Command, public PartedCommand {
 public:
  EnqueuedReplay(Queue& queue, Recordings recordings, Ref<Queue> inner)
      : Command(queue, khr::command_command_buffer),
        recordings_(std::move(recordings)),
        inner_(std::move(inner)) {}

  // Of all kernels that may run elsewhere than at home, in the order in which they were recorded.
  const std::vector<ExecutedPart>& executedParts() const override { return executed_; }

 private:
  void ready() noexcept override;
  void finalize(cl_int) noexcept override;

  void begin() noexcept;
  void enqueueNext() noexcept;
  void enqueueAll(const Recording& recording);
  Ref<Event> enqueueOne(const RecordedWork* work, std::span<const Ref<Event>> waits);
  void lookAtEnded() noexcept;
  void end() noexcept;

  Recordings recordings_;  // one after the other
  Ref<Queue> inner_;
  size_t next_ = 0;
  std::vector<Ref<Event>> commands_;  // that are under way
  cl_int failure_ = CL_SUCCESS;
  bool ran_ = false;  // anything did
  uint64_t first_start_ = ~uint64_t{0}, last_end_ = 0;
  std::vector<ExecutedPart> executed_;
};

// Called with what it depends on submitted or gone, and again when the commands of a recording have
// ended.
void EnqueuedReplay::ready() noexcept {
  const RuntimeScope scope;
  if (next_ == 0) {
    if (waitForAhead()) return;
    if (dependencyFailed()) return refused();
    begin();
  }
  lookAtEnded();
  if (failure_ == CL_SUCCESS && next_ < recordings_.size()) return enqueueNext();
  end();
}

void EnqueuedReplay::begin() noexcept {
  times_.submitted.store(profiling::now(), std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  advance(CL_RUNNING);
}

// It may have ended when that returns.
void EnqueuedReplay::enqueueNext() noexcept {
  const Recording& recording = *recordings_[next_++];
  holdAgain();
  try {
    enqueueAll(recording);
  } catch (const Error& error) {
    failure_ = error.code();
  } catch (...) {
    failure_ = CL_OUT_OF_HOST_MEMORY;
  }
  releaseGuard();
}

void EnqueuedReplay::enqueueAll(const Recording& recording) {
  std::vector<std::vector<Ref<Event>>> waits(recording.size());
  commands_.reserve(recording.size());
  for (uint32_t i = 0; i < recording.size(); ++i) {
    const Ref<Event> event = enqueueOne(recording.work(i), waits[i]);
    waits[i].clear();
    if (!event) continue;
    for (const uint32_t successor : recording.successors(i)) waits[successor].push_back(event);
  }
}

// The event of a barrier is null when it has nothing to wait for, and that of the one command which
// it waits for.
Ref<Event> EnqueuedReplay::enqueueOne(const RecordedWork* work, std::span<const Ref<Event>> waits) {
  const WaitList list(waits.begin(), waits.end());
  if (!work && waits.size() < 2) return waits.empty() ? nullptr : waits.front();
  Ref<Event> event = work ? work->enqueue(*inner_, list) : enqueueMarker(*inner_, list);
  commands_.push_back(event);
  waitFor(*event, false);
  return event;
}

// What the first one to fail failed with, not those that could not run because of it.
void EnqueuedReplay::lookAtEnded() noexcept {
  for (const Ref<Event>& command : commands_) {
    const cl_int status = command->status();
    if (status < 0 && (failure_ == CL_SUCCESS || failure_ == dependent)) failure_ = status;
    if (status == dependent) continue;
    ran_ = true;
    const EventTimes& times = command->times();
    if (const uint64_t start = times.started.load(std::memory_order_relaxed); start != 0)
      first_start_ = std::min(first_start_, start);
    last_end_ = std::max<uint64_t>(last_end_, times.ended.load(std::memory_order_relaxed));
    const auto* const parted = dynamic_cast<const PartedCommand*>(command.get());
    if (!parted) continue;
    try {
      executed_.insert(executed_.end(), parted->executedParts().begin(),
                       parted->executedParts().end());
    } catch (const std::bad_alloc&) {  // nobody depends on it
    }
  }
  commands_.clear();
}

void EnqueuedReplay::end() noexcept {
  // Where only a family was given up, all that began has run.
  if (failure_ < 0 && failure_ != dependent && ran_) loseWrites(context(), recordings_);
  if (failure_ < 0) executed_.clear();
  const uint64_t now = profiling::now();
  times_.started.store(std::min(first_start_, now), std::memory_order_relaxed);
  times_.ended.store(last_end_ != 0 ? last_end_ : now, std::memory_order_relaxed);
  complete(failure_);
}

void EnqueuedReplay::finalize(cl_int) noexcept {
  recordings_.clear();
  inner_ = nullptr;
}

}  // namespace

Ref<Event> enqueueReplayOfCommands(Queue& queue, const Recordings& recordings, WaitList waits) {
  return enqueueCommand<EnqueuedReplay>(waits, queue, recordings, queue.inner());
}

}  // namespace weft
