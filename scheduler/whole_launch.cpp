#include "scheduler/whole_launch.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "partition/earliest_finish.h"
#include "profiling/clock.h"
#include "scheduler/executed_parts.h"
#include "scheduler/experience.h"
#include "scheduler/knowledge.h"
#include "scheduler/launch_command.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"

namespace weft {
namespace {

using partition::Candidate;

// Of what each member does with a kernel, so many launches and every so manieth later one count.
constexpr unsigned measured_first = 8, measured_later = 64;
constexpr double learned = 0.25;
// Of a member that is as good as free.
constexpr double idle_ns = 2000;

class WholeLaunch final : public LaunchCommand, public PartedCommand {
 public:
  WholeLaunch(Queue& queue, cl_command_type type, const LaunchWork& launch,
              std::shared_ptr<Experience> experience, uint64_t ready)
      : LaunchCommand(queue, type, LaunchWork(launch)),
        experience_(std::move(experience)),
        ready_(ready) {}

  const std::vector<ExecutedPart>& executedParts() const override { return executed_; }
  uint64_t expectedEnd() const noexcept override {
    return expected_end_.load(std::memory_order_relaxed);
  }

 private:
  const std::vector<MemberKernel>& members() const { return experience_->members(); }
  Code code() const override { return {*members()[member_].module, members()[member_].kernel}; }
  bool isMeasured() const override { return measures_ || LaunchCommand::isMeasured(); }
  bool forecast(AccessList& list) override;
  void ready() noexcept override;
  void finalize(cl_int status) noexcept override;

  void place() noexcept;
  size_t choose(uint64_t now);
  std::vector<Candidate> candidates(uint64_t now) const;
  bool staysAtHome(std::span<const Candidate> candidates, double ready_ns) const;
  void recall(Experience::State& seen) const;
  void addTransfers(std::vector<Candidate>& candidates);
  void expect(size_t member, uint64_t now);
  void forgetLoad() noexcept;
  void learn() noexcept;
  void tell() const;
  void record(double nanoseconds) const;
  double items() const;

  std::shared_ptr<Experience> experience_;
  uint64_t ready_;  // when what it depends on is expected to have ended
  std::atomic<uint64_t> expected_end_{0};
  size_t member_ = 0;
  Device* loaded_ = nullptr;  // it was added to that one's expected load
  double expected_ns_ = 0;
  double load_ns_ = 0;  // what that added
  bool placed_ = false;
  bool measures_ = false;
  std::vector<ExecutedPart> executed_;
};

// What it reads comes to where it is expected to run.
bool WholeLaunch::forecast(AccessList& list) {
  place();
  return LaunchCommand::forecast(list);
}

// Everything that it depends on has been submitted or has ended.
void WholeLaunch::ready() noexcept {
  if (!std::exchange(placed_, true) && !dependencyFailed()) {
    if (predecessors().empty()) ready_ = 0;
    place();
  }
  LaunchCommand::ready();
}

void WholeLaunch::place() noexcept {
  try {
    const uint64_t now = profiling::now();
    forgetLoad();
    const size_t chosen = choose(now);
    if (chosen == 0)
      runAtHome();
    else
      runOnMember(*members()[chosen].device);
    member_ = chosen;
    expect(chosen, now);
  } catch (const std::exception&) {  // what it was is as good
  }
}

double WholeLaunch::items() const {
  double items = 1;
  for (const uint64_t size : launch().record.global_size) items *= static_cast<double>(size);
  return std::max(items, 1.0);
}

// What earlier processes saw.
void WholeLaunch::recall(Experience::State& seen) const {
  if (std::exchange(seen.recalled, true)) return;
  const LaunchWork& work = launch();
  const auto key = keyOf(*work.build, work.index, work.record);
  for (size_t i = 0; i < members().size(); ++i) {
    Experience::Alone& alone = seen.alone[experience_->kindOf(i)];
    if (alone.ns > 0) continue;
    const auto time = Knowledge::get().store.kernelTime(key, keyOf(*members()[i].device),
                                                        static_cast<uint64_t>(items()));
    if (time) alone.ns = time->nanoseconds;
  }
}

// What was seen of a member, or else of another one, in proportion to what devices of these sorts
// are expected to do.
std::vector<Candidate> WholeLaunch::candidates(uint64_t now) const {
  std::vector<Candidate> all(members().size());
  const auto estimated = [&](size_t i) {
    return estimatedItemTime(members()[i].device->capabilities());
  };
  const auto seen = experience_->state().lock();
  recall(*seen);
  const auto known = std::ranges::max_element(seen->alone, {}, [](const Experience::Alone& alone) {
    return (alone.ns > 0) + alone.measured;
  });
  const auto reference = static_cast<size_t>(known - seen->alone.begin());
  for (size_t i = 0; i < all.size(); ++i) {
    const Experience::Alone& alone = seen->alone[experience_->kindOf(i)];
    Candidate& candidate = all[i];
    candidate.free_ns =
        State::of(context()).expectedLoad(*members()[i].device).lock()->remaining(now);
    candidate.measured = alone.ns > 0;
    if (alone.ns > 0)
      candidate.execution_ns = alone.ns;
    else if (known->ns > 0)
      candidate.execution_ns = known->ns * estimated(i) / estimated(reference);
    else
      candidate.execution_ns = estimated(i) * items();
  }
  return all;
}

// Is there nothing to decide, as most of the time?
bool WholeLaunch::staysAtHome(std::span<const Candidate> candidates, double ready_ns) const {
  const Candidate& home = candidates.front();
  return !State::of(context()).runsElsewhere() && home.free_ns <= ready_ns + idle_ns &&
         std::ranges::all_of(candidates, [&](const Candidate& other) {
           return home.execution_ns <= other.execution_ns;
         });
}

void WholeLaunch::addTransfers(std::vector<Candidate>& candidates) {
  AccessList touched;
  LaunchCommand::accesses(touched);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Device& device = *members()[i].device;
    for (const Access& access : touched) {
      if (!access.reads) continue;
      const std::pair<size_t, size_t> range{access.begin, access.end};
      for (const auto& [source, bytes] :
           missingBytes(*access.object, {&range, 1}, device.capabilities().memory_space))
        candidates[i].transfer_ns += transferTime(source, &device, bytes);
    }
  }
}

size_t WholeLaunch::choose(uint64_t now) {
  if (Knowledge::get().setting.mode == SplitSetting::Mode::random)
    return (*Knowledge::get().random.lock())() % members().size();
  auto all = candidates(now);
  const double ready_ns = ready_ > now ? static_cast<double>(ready_ - now) : 0;
  size_t chosen = 0;
  if (!staysAtHome(all, ready_ns)) {
    addTransfers(all);
    chosen = partition::earliestFinish(all, ready_ns, member_);
  }
  const Candidate& winner = all[chosen];
  expected_ns_ = winner.execution_ns;
  const double begin_ns = std::max(ready_ns + winner.transfer_ns, winner.free_ns);
  const uint64_t end = now + static_cast<uint64_t>(begin_ns + expected_ns_);
  expected_end_.store(end, std::memory_order_relaxed);
  if (!queue()->outOfOrder()) queue()->expectEnd(end);
  return chosen;
}

void WholeLaunch::expect(size_t member, uint64_t now) {
  State& state = State::of(context());
  if (member != 0) state.noteElsewhere();
  loaded_ = members()[member].device;
  load_ns_ = expected_ns_ * occupancy(loaded_->capabilities(), launch().record);
  state.expectedLoad(*loaded_).lock()->add(load_ns_, now);
  const unsigned launches =
      experience_->state().lock()->alone[experience_->kindOf(member)].launches++;
  measures_ = launches < measured_first || launches % measured_later == 0;
}

void WholeLaunch::forgetLoad() noexcept {
  if (loaded_)
    State::of(context())
        .expectedLoad(*std::exchange(loaded_, nullptr))
        .lock()
        ->remove(load_ns_, profiling::now());
}

void WholeLaunch::finalize(cl_int status) noexcept {
  forgetLoad();
  if (status == CL_COMPLETE) learn();
  LaunchCommand::finalize(status);
}

// A line for people, as of divided launches: who ran it, and when it was expected to end and did,
// in us after it was submitted.
void WholeLaunch::tell() const {
  const auto since = [&](uint64_t when) {
    const auto submitted = static_cast<double>(times_.submitted.load(std::memory_order_relaxed));
    return (static_cast<double>(when) - submitted) / 1000;
  };
  std::fprintf(stderr, "weft: %s: whole on %zu; expected %.0f done %.0f busy %.0f\n",
               launch().info().name.c_str(), member_, since(expected_end_), since(times_.ended),
               static_cast<double>(times_.ended - times_.started) / 1000);
}

void WholeLaunch::learn() noexcept {
  try {
    if (Knowledge::get().setting.trace) tell();
    executed_.push_back({members()[member_].device, launch().wholeBox()});
    if (!measures_) return;
    const auto ns = static_cast<double>(times_.ended.load(std::memory_order_relaxed) -
                                        times_.started.load(std::memory_order_relaxed));
    record(ns);
    const auto seen = experience_->state().lock();
    // The first launch of a kernel may have waited for its code to be loaded: what is less counts
    // at once.
    Experience::Alone& alone = seen->alone[experience_->kindOf(member_)];
    const bool slower = alone.measured && ns > alone.ns;
    alone.ns = slower ? alone.ns + learned * (ns - alone.ns) : ns;
    alone.measured = true;
  } catch (const std::bad_alloc&) {  // the next one is as good
  }
}

void WholeLaunch::record(double nanoseconds) const {
  const LaunchWork& work = launch();
  Knowledge::get().store.recordKernel(keyOf(*work.build, work.index, work.record),
                                      keyOf(*members()[member_].device),
                                      static_cast<uint64_t>(items()), nanoseconds);
}

// Its variables and its queues are one device's own.
bool mayRunElsewhere(const LaunchWork& launch) {
  constexpr uint32_t bound = static_cast<uint32_t>(SplitHazard::program_variables) |
                             static_cast<uint32_t>(SplitHazard::device_queues);
  return !(launch.info().split_hazards & bound) && launch.arguments->svm.empty();
}

uint64_t readyTime(const Queue& queue, WaitList waits) {
  uint64_t ready = queue.outOfOrder() ? 0 : queue.expectedEnd();
  for (const Ref<Event>& event : waits) ready = std::max(ready, event->expectedEnd());
  return ready;
}

}  // namespace

Ref<Event> enqueueWhole(WaitList waits, Queue& queue, cl_command_type type,
                        const DeviceKernel& kernel, const LaunchWork& launch) {
  if (splitModeOf(queue) == SplitSetting::Mode::never || !mayRunElsewhere(launch)) return nullptr;
  auto experience = Experience::of({queue.device(), kernel, launch.record}, kernel);
  if (experience->members().size() < 2) return nullptr;
  return enqueueCommand<WholeLaunch>(waits, queue, type, launch, std::move(experience),
                                     readyTime(queue, waits));
}

}  // namespace weft
