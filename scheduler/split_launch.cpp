#include "scheduler/split_launch.h"

#include <algorithm>

#include "core/guarded.h"
#include "core/reaper.h"
#include "profiling/clock.h"
#include "scheduler/division.h"
#include "scheduler/knowledge.h"
#include "scheduler/launch_command.h"
#include "scheduler/state.h"
#include "scheduler/tracing.h"

namespace weft {
namespace {

using partition::Slice;

class SplitLaunch;

// A run of blocks on one member.
class Part final : public LaunchCommand {
 public:
  // With copies of what parts write together, or on the objects themselves.
  enum class Place : uint8_t { copies, objects };

  Part(SplitLaunch& whole, std::shared_ptr<Division> division, Queue& queue, cl_command_type type,
       size_t member, const Slice& slice, Place place)
      : LaunchCommand(queue, type,
                      LaunchWork{division->kernel(), division->arguments(), division->record()}),
        whole_(&whole),
        division_(std::move(division)),
        merging_(place == Place::copies ? division_->merging() : nullptr),
        member_(member),
        slice_(slice),
        expected_(division_->expected(member, slice)) {
    runOn(*division_->member(member).device);
    if (member != 0) State::of(context()).noteElsewhere();
  }

  void follow(Command& earlier, bool carries_failure) { goBehind(earlier, carries_failure); }
  void cancel() { noteFailedDependency(); }
  port::MemorySpace memory() const { return space(); }
  // Before it is begun, where parts have copies of some objects. What it does not get it fails for.
  void takeCopies() {
    if (merging_) merging_->provide(*division_->member(member_).device, *this, copies_, steps_);
  }
  void begin() {
    expect(profiling::now());
    for (const Ref<MergeStep>& step : std::exchange(steps_, {})) step->start();
    releaseGuard();
  }

  Part* following = nullptr;  // of those about to begin

 private:
  void accesses(AccessList& list) override;
  bool isMeasured() const override {
    return division_->isMeasured() || LaunchCommand::isMeasured();
  }
  bool isAwaited() const override { return true; }
  const void* placeInQueue() const noexcept override { return whole_.get(); }
  bool endIsWanted() const override;
  void describe(tracing::CommandRecord& record) const noexcept override;
  void submitTo(port::Stream& stream) noexcept override;
  port::GroupBox box() const override { return division_->split().box(slice_); }
  Code code() const override {
    const MemberKernel& member = division_->member(member_);
    return {*member.module, member.kernel};
  }
  void relocate(LaunchArguments& room) const override {
    if (merging_) merging_->relocate(space(), copies_, launch().arguments, room);
  }
  void finalize(cl_int status) noexcept override;
  void expect(uint64_t now) noexcept;
  void forgetLoad() noexcept;

  Merging::Copies copies_;
  std::vector<Ref<MergeStep>> steps_;
  Ref<SplitLaunch> whole_;
  std::shared_ptr<Division> division_;
  Merging* const merging_;  // the division's, where it has copies
  size_t member_;
  Slice slice_;
  const Division::Expected expected_;
  bool loads_ = false;  // and is counted in its member's
  bool submitted_ = false;
};

class SplitLaunch final : public Command, public PartedCommand {
 public:
  SplitLaunch(Queue& queue, cl_command_type type, std::shared_ptr<Division> division)
      : Command(queue, type), division_(std::move(division)), fences_(haveFences(*division_)) {
    state_.lock()->begin = ~uint64_t{0};
  }

  bool hasParts() const override { return true; }
  std::string what() const override {
    return division_ ? "kernel " + division_->kernel()->info().name : Command::what();
  }
  // Somebody waits for its end, or for those of its parts, as what is not submitted ahead does.
  bool endIsWanted() const override { return !ahead_ || Command::endIsWanted(); }
  // A part was. Where one never is, followers have the end of all to wait for.
  void submitted() noexcept {
    if (unsubmitted_.fetch_sub(1, std::memory_order_acq_rel) == 1) letFollowersGo();
  }

  // A part is expected to end then.
  void expectPart(uint64_t end) noexcept { expectEnd(std::max(expectedEnd(), end)); }

  // A part that was submitted has ended: objects may not be what they were.
  void noteChange() noexcept { changed_.store(true, std::memory_order_relaxed); }
  const std::vector<ExecutedPart>& executedParts() const override { return executed_; }
  // A part has ended, but not yet been counted down.
  void ended(size_t member, const Slice& slice, cl_int status, uint64_t begin, uint64_t end,
             const std::shared_ptr<Division>& division) noexcept;

 private:
  struct State {
    cl_int failure = CL_SUCCESS;
    uint64_t begin = 0, end = 0;
    bool handed_out = false;
    // Of one whose followers go when its parts were submitted.
    std::vector<Ref<Part>> parts;
  };
  static constexpr unsigned unknown = ~0u / 2;  // how many parts there will be

  static bool haveFences(const Division& division);
  bool isDeviceWork() const override { return fences_; }
  std::vector<Ref<Command>> parts() override;
  void ready() noexcept override;
  void refused() noexcept override;
  bool waitForPlan() noexcept;
  void handOut() noexcept;
  void end() noexcept;
  bool runAhead(State& state, Part* parts) noexcept;
  void order(State& state, const std::vector<Predecessor>& earlier);
  void accesses(AccessList& list) override;
  void finalize(cl_int) noexcept override;
  void plan() noexcept;
  void learn() noexcept;
  bool goOn() noexcept;
  // Of what is merged all or nothing: parts alone change none of that.
  bool mayHaveChanged() const {
    return stage_ != Stage::parts || !division_->merging()->isExclusive();
  }
  void mergeCopies(Merging& merging);
  void runAgain();
  Part* nextParts(State& state, const std::shared_ptr<Division>& division) noexcept;
  Part* nextPart(State& state, size_t member, const std::shared_ptr<Division>& division) noexcept;
  static void start(Part* parts) noexcept;

  std::shared_ptr<Division> division_;
  const bool fences_;  // all members can wait for each other
  bool planned_ = false;
  bool ahead_ = false;  // submitted behind what has not ended, or might not have
  std::atomic<unsigned> unsubmitted_{unknown};
  // What ends next: the parts, the look at whether they can be merged, the merge, or all of it in
  // one part because they could not.
  enum class Stage : uint8_t { parts, check, merge, again };
  Stage stage_ = Stage::parts;
  std::atomic<bool> changed_{false};
  std::vector<ExecutedPart> executed_;
  Guarded<State> state_;  // and the policy, and this node's edges
};

void Part::accesses(AccessList& list) {
  division_->accesses(slice_, list, merging_ != nullptr);
  if (merging_) merging_->accesses(copies_, list);
  // The part has the addresses of all others, so their memory may not go meanwhile.
  for (const ArgumentValue& value : launch().arguments.values)
    if (MemObject* object = value.memory();
        object && !(merging_ && merging_->has(*object)) &&
        std::none_of(list.begin(), list.end(),
                     [&](const Access& access) { return access.object == object; }))
      list.push_back({object, object->origin(), object->origin() + 1, false, false});
}

void Part::submitTo(port::Stream& stream) noexcept {
  const Ref<SplitLaunch> whole = whole_;  // it may have ended before that returns
  submitted_ = true;
  LaunchCommand::submitTo(stream);
  whole->submitted();
}

bool Part::endIsWanted() const { return whole_->endIsWanted(); }

void Part::describe(tracing::CommandRecord& record) const noexcept {
  record.parent = tracing::idOf(static_cast<const Event*>(whole_.get()));
}

// Commands that are placed meanwhile go by that.
void Part::expect(uint64_t now) noexcept {
  const auto load =
      weft::State::of(context()).expectedLoad(*division_->member(member_).device).lock();
  const double before_ns = load->remaining(now);
  load->add(expected_.load_ns, now);
  loads_ = true;
  whole_->expectPart(now + static_cast<uint64_t>(before_ns + expected_.execution_ns));
}

void Part::forgetLoad() noexcept {
  if (std::exchange(loads_, false))
    weft::State::of(context())
        .expectedLoad(*division_->member(member_).device)
        .lock()
        ->remove(expected_.load_ns, profiling::now());
}

void Part::finalize(cl_int status) noexcept {
  forgetLoad();
  LaunchCommand::finalize(status);
  if (submitted_) whole_->noteChange();
  copies_.clear();
  whole_->ended(member_, slice_, status, times_.started.load(std::memory_order_relaxed),
                times_.ended.load(std::memory_order_relaxed), division_);
  division_ = nullptr;
}

// What others have to know of that would read it ahead of time. The parts say what they read.
void SplitLaunch::accesses(AccessList& list) {
  division_->accesses({0, division_->split().blocks()}, list, division_->merging() != nullptr);
  std::erase_if(list, [](const Access& access) { return !access.writes; });
  for (Access& access : list) access.reads = false;
}

bool SplitLaunch::haveFences(const Division& division) {
  const uint64_t group = division.member(0).device->capabilities().fence_group;
  for (size_t i = 0; i < division.members(); ++i)
    if (division.member(i).device->capabilities().fence_group != group) return false;
  return group != 0;
}

std::vector<Ref<Command>> SplitLaunch::parts() {
  const auto state = state_.lock();
  return {state->parts.begin(), state->parts.end()};
}

// Called with what it depends on submitted or gone, and again when all parts have ended.
void SplitLaunch::ready() noexcept {
  const RuntimeScope scope;
  if (state_.lock()->handed_out) return end();
  if (waitForPlan()) return;
  if (dependencyFailed()) return refused();
  handOut();
}

void SplitLaunch::refused() noexcept {
  if (state_.lock()->handed_out) return end();
  Command::refused();
}

// Parts that are known in advance can be submitted behind what has not ended, unless their copies
// are merged by the host.
bool SplitLaunch::waitForPlan() noexcept {
  if (fences_ ? waitForOthers() : waitForAhead()) return true;
  if (!planned_ && division_->dependsOnOthers() && waitForAhead()) return true;
  if (!std::exchange(planned_, true)) plan();
  ahead_ = fences_ && division_->atOnce() && !division_->merging();
  return !ahead_ && waitForAhead();
}

void SplitLaunch::handOut() noexcept {
  Part* parts = nullptr;
  bool first = true;
  state_.with([&](State& state) {
    state.handed_out = true;
    holdAgain();
    division_->begin();
    parts = nextParts(state, division_);
    if (ahead_) first = runAhead(state, parts);
  });
  times_.submitted.store(profiling::now(), std::memory_order_relaxed);
  advance(CL_SUBMITTED);
  if (first) advance(CL_RUNNING);
  start(parts);
  division_->submitted();
  if (ahead_) submitted();
  releaseGuard();
}

// False when something is before them that has not ended.
bool SplitLaunch::runAhead(State& state, Part* parts) noexcept {
  unsigned count = 1;  // this function's caller
  for (Part* part = parts; part; part = part->following) ++count;
  unsubmitted_.store(count, std::memory_order_relaxed);
  try {
    for (Part* part = parts; part; part = part->following) state.parts.emplace_back(part);
    const auto earlier = predecessors();
    order(state, earlier);
    return earlier.empty();
  } catch (const std::bad_alloc&) {  // without the order they must not run
    state.failure = CL_OUT_OF_HOST_MEMORY;
    state.parts.clear();
    for (Part* part = parts; part; part = part->following) part->cancel();
    return false;
  }
}

// What comes before it in other memory spaces residency orders its parts behind, byte by byte. Of
// their own they are behind what was there before, if the launch before had its parts in the same;
// otherwise behind all of it, which was behind all that was there.
void SplitLaunch::order(State& state, const std::vector<Predecessor>& earlier) {
  const auto memory = [](const Ref<Part>& part) { return part->memory(); };
  for (const auto& [command, carries_failure] : earlier) {
    State before;
    if (command->hasParts()) before = *static_cast<SplitLaunch&>(*command).state_.lock();
    if (before.parts.empty()) {
      for (const Ref<Part>& part : state.parts) part->follow(*command, carries_failure);
      continue;
    }
    const bool each = carries_failure ||
                      !std::ranges::is_permutation(state.parts, before.parts, {}, memory, memory);
    for (const Ref<Part>& part : state.parts)
      for (const Ref<Part>& other : before.parts)
        if (each || other->memory() == part->memory()) part->follow(*other, carries_failure);
  }
}

void SplitLaunch::end() noexcept {
  const RuntimeScope scope;
  if (waitForAhead() || goOn()) return;
  const auto [failure, begin, end] = state_.with(
      [](const State& state) { return std::tuple(state.failure, state.begin, state.end); });
  if (failure == CL_SUCCESS && !dependencyFailed()) learn();
  if (failure < 0 && changed_ && division_->merging() && mayHaveChanged())
    division_->merging()->lose();
  times_.started.store(std::min(begin, end), std::memory_order_relaxed);
  times_.ended.store(end, std::memory_order_relaxed);
  complete(failure == CL_SUCCESS && dependencyFailed()
               ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
               : failure);
}

void SplitLaunch::finalize(cl_int) noexcept {
  division_ = nullptr;
  std::vector<Ref<Part>> parts;
  state_.with([&](State& state) { parts.swap(state.parts); });
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

// True when the launch will be ready once more, with what the parts wrote in place.
bool SplitLaunch::goOn() noexcept {
  Merging* const merging = division_->merging();
  if (!merging || state_.lock()->failure < 0 || stage_ == Stage::again) return false;
  if (stage_ == Stage::merge) {
    state_.with([&](State& state) {
      state.failure = merging->status();
      state.end = profiling::now();
    });
    if (state_.lock()->failure < 0 || !merging->conflicts()) return false;
  }
  holdAgain();
  try {
    if (stage_ == Stage::merge)
      runAgain();
    else
      mergeCopies(*merging);
  } catch (const Error& error) {
    state_.lock()->failure = error.code();
  } catch (...) {
    state_.lock()->failure = CL_OUT_OF_HOST_MEMORY;
  }
  releaseGuard();
  return true;
}

void SplitLaunch::mergeCopies(Merging& merging) {
  stage_ = Stage::merge;
  std::vector<Ref<MergeStep>> steps;
  const auto start = [&] {
    for (const Ref<MergeStep>& step : steps) step->start();
  };
  try {
    merging.merge(*this, steps);
  } catch (...) {
    start();
    throw;
  }
  start();
}

// The objects are as the launch found them.
void SplitLaunch::runAgain() {
  const size_t member = division_->again();
  Ref<Part> part = make<Part>(*this, division_, *queue(), type(), member,
                              Slice{0, division_->split().blocks()}, Part::Place::objects);
  waitFor(*part, false);
  stage_ = Stage::again;
  part.detach()->begin();
}

void SplitLaunch::learn() noexcept {
  try {
    executed_ = division_->executed();
    division_->succeeded(ahead_ ? std::optional(predecessorsEnded()) : std::nullopt);
  } catch (const std::bad_alloc&) {  // the next one is as good
  }
}

void SplitLaunch::plan() noexcept {
  try {
    division_->plan(fences_);
  } catch (...) {
    state_.lock()->failure = CL_OUT_OF_HOST_MEMORY;
  }
}

Part* SplitLaunch::nextPart(State& state, size_t member,
                            const std::shared_ptr<Division>& division) noexcept {
  if (state.failure < 0) return nullptr;
  Part* part = nullptr;
  try {
    const auto slice = division->next(member);
    if (!slice) return nullptr;
    // The graph's reference, which it gives up when it completes.
    Ref<Part> made =
        make<Part>(*this, division, *queue(), type(), member, *slice, Part::Place::copies);
    waitFor(*made, false);
    part = made.detach();
    part->takeCopies();
  } catch (const Error& error) {
    state.failure = error.code();
  } catch (...) {
    state.failure = CL_OUT_OF_HOST_MEMORY;
  }
  return part;
}

void SplitLaunch::ended(size_t member, const Slice& slice, cl_int status, uint64_t begin,
                        uint64_t end, const std::shared_ptr<Division>& division) noexcept {
  Part* parts = nullptr;
  state_.with([&](State& state) {
    state.begin = std::min(state.begin, begin);
    state.end = std::max(state.end, end);
    if (status < 0 && state.failure == CL_SUCCESS) state.failure = status;
    if (stage_ == Stage::again) return;
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
                        const DeviceKernel& kernel, const std::shared_ptr<Experience>& experience,
                        const ArgumentSet& arguments, const port::LaunchRecord& record,
                        const LaunchWay& whole) {
  auto division = Division::make(queue, kernel, experience, arguments, record);
  if (!division) return nullptr;
  keepMeasurementsSoon(queue.context().platform());
  const auto divided = [&](WaitList after) {
    auto event = enqueueCommand<SplitLaunch>(after, queue, type, division);
    division->enqueued();
    return event;
  };
  // With atomics whose results are used each run may be another. And what it does to memory that is
  // no object's is not undone.
  const bool repeatable =
      !(kernel.info().split_hazards & static_cast<uint32_t>(SplitHazard::global_atomics)) &&
      std::none_of(arguments.values.begin(), arguments.values.end(),
                   [](const ArgumentValue& value) { return value.shared(); });
  if (!checksSplits() || !repeatable) return divided(waits);
  return enqueueChecked(waits, queue, type, kernel, arguments, record, divided, whole);
}

}  // namespace weft
