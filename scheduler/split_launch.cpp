#include "scheduler/split_launch.h"

#include <algorithm>

#include "core/guarded.h"
#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/division.h"
#include "scheduler/knowledge.h"
#include "scheduler/launch_command.h"

namespace weft {
namespace {

using partition::Slice;

constexpr size_t flush_at = 64;  // measurements

class SplitLaunch;

// A run of blocks on one member.
class Part final : public LaunchCommand {
 public:
  Part(SplitLaunch& whole, std::shared_ptr<Division> division, Queue& queue, cl_command_type type,
       size_t member, const Slice& slice)
      : LaunchCommand(queue, type,
                      LaunchWork{division->build(), division->kernel(), division->arguments(),
                                 division->record()}),
        whole_(&whole),
        division_(std::move(division)),
        member_(member),
        slice_(slice) {
    runOn(*division_->member(member).device);
  }

  void begin() { releaseGuard(); }

  Part* following = nullptr;  // of those about to begin

 private:
  void accesses(AccessList& list) override;
  bool isMeasured() const override { return true; }
  port::GroupBox box() const override { return division_->split().box(slice_); }
  Code code() const override {
    const Division::Member& member = division_->member(member_);
    return {*member.module, member.kernel};
  }
  void finalize(cl_int status) noexcept override;

  Ref<SplitLaunch> whole_;
  std::shared_ptr<Division> division_;
  size_t member_;
  Slice slice_;
};

class SplitLaunch final : public Command {
 public:
  SplitLaunch(Queue& queue, cl_command_type type, std::shared_ptr<Division> division)
      : Command(queue, type), division_(std::move(division)) {
    state_.lock()->begin = ~uint64_t{0};
  }

  // A part has ended, but not yet been counted down.
  void ended(size_t member, const Slice& slice, cl_int status, uint64_t begin, uint64_t end,
             const std::shared_ptr<Division>& division) noexcept;

 private:
  struct State {
    cl_int failure = CL_SUCCESS;
    uint64_t begin = 0, end = 0;
    bool handed_out = false;
  };

  void ready() noexcept override;
  void accesses(AccessList& list) override;
  void finalize(cl_int) noexcept override { division_ = nullptr; }
  void plan(State& state) noexcept;
  void learn() noexcept;
  Part* nextParts(State& state, const std::shared_ptr<Division>& division) noexcept;
  Part* nextPart(State& state, size_t member, const std::shared_ptr<Division>& division) noexcept;
  static void start(Part* parts) noexcept;

  std::shared_ptr<Division> division_;
  Guarded<State> state_;  // and the policy, and this node's edges
};

void Part::accesses(AccessList& list) {
  std::vector<partition::PartAccess> touched;
  division_->split().accesses(slice_, touched);
  const auto& values = launch().arguments->values;
  for (const partition::PartAccess& access : touched)
    list.push_back({values[access.argument].memory.get(), access.begin, access.end, access.reads,
                    access.writes});
  // The part has the addresses of all, so their memory may not go meanwhile.
  for (const ArgumentValue& value : values)
    if (MemObject* object = value.memory.get();
        object && std::none_of(list.begin(), list.end(),
                               [&](const Access& access) { return access.object == object; }))
      list.push_back({object, object->origin(), object->origin() + 1, false, false});
}

void Part::finalize(cl_int status) noexcept {
  LaunchCommand::finalize(status);
  whole_->ended(member_, slice_, status, times_.started.load(std::memory_order_relaxed),
                times_.ended.load(std::memory_order_relaxed), division_);
  division_ = nullptr;
}

// What others have to know of that would read it ahead of time. The parts say what they read.
void SplitLaunch::accesses(AccessList& list) {
  std::vector<partition::PartAccess> touched;
  division_->split().accesses({0, division_->split().blocks()}, touched);
  for (const partition::PartAccess& access : touched)
    if (access.writes)
      list.push_back({division_->arguments()->values[access.argument].memory.get(), access.begin,
                      access.end, false, true});
}

// Called with the dependencies gone, and again when all parts have ended.
void SplitLaunch::ready() noexcept {
  const RuntimeScope scope;
  if (waitForAhead()) return;
  Part* parts = nullptr;
  bool over = false;
  state_.with([&](State& state) {
    over = std::exchange(state.handed_out, true);
    if (over) return;
    holdAgain();
    plan(state);
    parts = nextParts(state, division_);
  });
  if (over) {
    const State state = *state_.lock();
    if (state.failure == CL_SUCCESS) learn();
    times_.started.store(std::min(state.begin, state.end), std::memory_order_relaxed);
    times_.ended.store(state.end, std::memory_order_relaxed);
    return complete(state.failure);
  }
  times_.submitted.store(profiling::now(), std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  advance(CL_RUNNING);
  start(parts);
  releaseGuard();
}

void SplitLaunch::start(Part* parts) noexcept {
  while (parts) std::exchange(parts, parts->following)->begin();
}

// For all who can take one: the end of one part may be news to the others.
Part* SplitLaunch::nextParts(State& state, const std::shared_ptr<Division>& division) noexcept {
  Part* parts = nullptr;
  for (size_t member = 0; member < division->members(); ++member)
    while (Part* part = nextPart(state, member, division))
      part->following = std::exchange(parts, part);
  return parts;
}

void SplitLaunch::learn() noexcept {
  try {
    division_->succeeded();
  } catch (const std::bad_alloc&) {  // the next one is as good
  }
}

void SplitLaunch::plan(State& state) noexcept {
  try {
    division_->plan();
  } catch (...) {
    state.failure = CL_OUT_OF_HOST_MEMORY;
  }
}

Part* SplitLaunch::nextPart(State& state, size_t member,
                            const std::shared_ptr<Division>& division) noexcept {
  if (state.failure < 0) return nullptr;
  try {
    const auto slice = division->next(member);
    if (!slice) return nullptr;
    // The graph's reference, which it gives up when it completes.
    Part* const part = new Part(*this, division, *queue(), type(), member, *slice);
    waitFor(*part, false);
    return part;
  } catch (const Error& error) {
    state.failure = error.code();
  } catch (...) {
    state.failure = CL_OUT_OF_HOST_MEMORY;
  }
  return nullptr;
}

void SplitLaunch::ended(size_t member, const Slice& slice, cl_int status, uint64_t begin,
                        uint64_t end, const std::shared_ptr<Division>& division) noexcept {
  Part* parts = nullptr;
  state_.with([&](State& state) {
    state.begin = std::min(state.begin, begin);
    state.end = std::max(state.end, end);
    if (status < 0 && state.failure == CL_SUCCESS) state.failure = status;
    if (status >= 0)
      division->finished(member, slice, begin, end);
    else
      division->failed(member);
    parts = nextParts(state, division);
  });
  start(parts);
}

}  // namespace

Ref<Event> enqueueSplit(WaitList waits, Queue& queue, cl_command_type type,
                        const DeviceKernel& kernel, const Ref<ArgumentSet>& arguments,
                        const port::LaunchRecord& record, const LaunchWay& whole) {
  auto division = Division::make(queue, kernel, arguments, record);
  if (!division) return nullptr;
  if (Knowledge::get().store.pending() >= flush_at)
    queue.context().platform().background().run([] { keepMeasurements(); });
  const auto divided = [&](WaitList after) {
    return enqueueCommand<SplitLaunch>(after, queue, type, std::move(division));
  };
  if (!checksSplits()) return divided(waits);
  return enqueueChecked(waits, queue, type, kernel, *arguments, divided, whole);
}

}  // namespace weft
