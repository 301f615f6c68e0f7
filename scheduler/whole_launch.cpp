#include "scheduler/whole_launch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/geometry.h"
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

// Of what each member does with a kernel, so many launches and two of so many later ones count: the
// end of the one is when the other can begin.
constexpr unsigned measured_first = 8, measured_later = 64;
// So much of what a launch by itself takes is left at least where the next one overlaps with it.
constexpr double least_left = 0.75;
constexpr double learned = 0.25;

class WholeLaunch final : public LaunchCommand, public PartedCommand {
 public:
  WholeLaunch(Queue& queue, cl_command_type type, LaunchWork&& launch,
              std::shared_ptr<Experience> experience)
      : LaunchCommand(queue, type, std::move(launch)), experience_(std::move(experience)) {}

  const std::vector<ExecutedPart>& executedParts() const override { return executed_; }

 private:
  const std::vector<MemberKernel>& members() const { return experience_->members(); }
  Code code() const override { return {*members()[member_].module, members()[member_].kernel}; }
  bool isMeasured() const override {
    return measures_ || Knowledge::get().setting.trace || LaunchCommand::isMeasured();
  }
  void accesses(AccessList& list) override;
  bool forecast(AccessList& list) override;
  void ready() noexcept override;
  void finalize(cl_int status) noexcept override;

  // What it depends on, as far as that has not ended.
  struct Before {
    uint64_t end = 0;                // when it is expected to; 0: nobody knows
    const Device* device = nullptr;  // of the last one
  };
  Before before() const noexcept;
  void place(const Before& before) noexcept;
  size_t choose(uint64_t now, const Before& before);
  pool::Vector<Candidate> candidates(uint64_t now);
  void estimate(std::span<Candidate> candidates, const Experience::State& seen) const;
  void recall();
  double transferTo(const Device& device);
  size_t fastest(std::span<Candidate> candidates, double ready_ns, const Device* before);
  void expect(uint64_t now) noexcept;
  void forgetLoad() noexcept;
  void learn() noexcept;
  void tell() const;
  void record(double nanoseconds) const;
  double items() const;

  std::shared_ptr<Experience> experience_;
  size_t member_ = 0;
  Device* loaded_ = nullptr;  // it was added to that one's expected load
  double expected_ns_ = 0;
  double load_ns_ = 0;  // what that added
  bool placed_ = false;
  uint64_t placed_at_ = 0;
  bool measures_ = false;
  bool follows_measured_ = false;  // another one of the kernel
  AccessList touched_;             // once that was worked out to place it
  std::vector<ExecutedPart> executed_;
};

void WholeLaunch::accesses(AccessList& list) {
  if (touched_.empty()) return LaunchCommand::accesses(list);
  list.insert(list.end(), touched_.begin(), touched_.end());
}

// What it reads comes to where it would run as things are. It is no load yet: it may wait for those
// that become ready before it.
bool WholeLaunch::forecast(AccessList& list) {
  place({expectedEnd()});
  return LaunchCommand::forecast(list);
}

// Everything that it depends on has been submitted or has ended.
void WholeLaunch::ready() noexcept {
  if (!std::exchange(placed_, true) && !dependencyFailed()) {
    place(before());
    expect(profiling::now());
  }
  LaunchCommand::ready();
}

WholeLaunch::Before WholeLaunch::before() const noexcept {
  Before before;
  forPredecessors([&](const Command& earlier) {
    if (earlier.done()) return;
    before.end = std::max(before.end, earlier.expectedEnd());
    before.device = &earlier.device();
  });
  return before;
}

void WholeLaunch::place(const Before& before) noexcept {
  try {
    const size_t chosen = choose(profiling::now(), before);
    if (chosen == 0)
      runAtHome();
    else
      runOnMember(*members()[chosen].device);
    member_ = chosen;
  } catch (const std::exception&) {  // where it was is as good
  }
}

double WholeLaunch::items() const {
  double items = 1;
  for (const uint64_t size : launch().record.global_size) items *= static_cast<double>(size);
  return std::max(items, 1.0);
}

// What earlier processes saw. That may be in a file, so not while others are kept waiting.
void WholeLaunch::recall() {
  const LaunchWork& work = launch();
  const auto key = keyOf(*work.kernel->build, work.kernel->index, work.record);
  for (size_t i = 0; i < members().size(); ++i) {
    const auto time = Knowledge::get().store.kernelTime(key, keyOf(*members()[i].device),
                                                        static_cast<uint64_t>(items()));
    const auto seen = experience_->state().lock();
    Experience::Alone& alone = seen->alone[experience_->kindOf(i)];
    if (time && time->confidence > trusted && alone.ns == 0) alone.ns = time->nanoseconds;
  }
}

// What was seen of a member, or else of another one, in proportion to what devices of these sorts
// are expected to do.
void WholeLaunch::estimate(std::span<Candidate> all, const Experience::State& seen) const {
  const auto known = std::ranges::max_element(seen.alone, {}, [](const Experience::Alone& alone) {
    return (alone.ns > 0) + alone.measured;
  });
  const auto reference = static_cast<size_t>(known - seen.alone.begin());
  const auto estimated = [&](size_t i) {
    return estimatedItemTime(members()[i].device->capabilities());
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const Experience::Alone& alone = seen.alone[experience_->kindOf(i)];
    Candidate& candidate = all[i];
    candidate.measured = alone.ns > 0;
    if (alone.ns > 0)
      candidate.execution_ns = alone.ns;
    else if (known->ns > 0)
      candidate.execution_ns = known->ns * estimated(i) / estimated(reference);
    else
      candidate.execution_ns = estimated(i) * items();
  }
}

pool::Vector<Candidate> WholeLaunch::candidates(uint64_t now) {
  pool::Vector<Candidate> all(members().size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i].free_ns = State::of(context()).expectedLoad(*members()[i].device).lock()->remaining(now);
  const auto tryEstimate = [&] {
    const auto seen = experience_->state().lock();
    const bool recalled = std::exchange(seen->recalled, true);
    if (recalled) estimate(all, *seen);
    return recalled;
  };
  if (tryEstimate()) return all;
  recall();
  tryEstimate();
  return all;
}

// What it takes to bring there what it reads.
double WholeLaunch::transferTo(const Device& device) {
  if (context().singleSpace()) return 0;
  State& state = State::of(context());
  if (touched_.empty()) LaunchCommand::accesses(touched_);
  double time = 0;
  for (const Access& access : touched_) {
    if (!access.reads) continue;
    const std::pair<size_t, size_t> range{access.begin, access.end};
    for (const auto& [source, bytes] :
         missingBytes(*access.object, {&range, 1}, device.capabilities().memory_space))
      time += state.transferTime(source, &device, bytes);
  }
  return time;
}

size_t WholeLaunch::fastest(std::span<Candidate> candidates, double ready_ns,
                            const Device* before) {
  // What nothing took elsewhere is at home, or nowhere yet.
  if (!State::of(context()).runsElsewhere() && partition::cannotBeBeaten(candidates, ready_ns, 0))
    return 0;
  // What it needs is most likely where what it follows ran.
  const auto likely = static_cast<size_t>(
      std::ranges::find(members(), before,
                        [](const MemberKernel& member) -> const Device* { return member.device; }) -
      members().begin());
  for (size_t n = 0; n < candidates.size(); ++n) {
    const size_t i = likely < candidates.size() ? (likely + n) % candidates.size() : n;
    candidates[i].transfer_ns = transferTo(*members()[i].device);
    if (partition::cannotBeBeaten(candidates, ready_ns, i)) return i;
  }
  return partition::earliestFinish(candidates, ready_ns, member_);
}

size_t WholeLaunch::choose(uint64_t now, const Before& before) {
  if (Knowledge::get().setting.mode == SplitSetting::Mode::random)
    return (*Knowledge::get().random.lock())() % members().size();
  auto all = candidates(now);
  const double ready_ns = before.end > now ? static_cast<double>(before.end - now) : 0;
  const size_t chosen = fastest(all, ready_ns, before.device);
  const Candidate& winner = all[chosen];
  expected_ns_ = winner.execution_ns;
  const double begin_ns = std::max(ready_ns + winner.transfer_ns, winner.free_ns);
  expectEnd(now + static_cast<uint64_t>(begin_ns + expected_ns_));
  return chosen;
}

// It is going to run where it was placed.
void WholeLaunch::expect(uint64_t now) noexcept {
  placed_at_ = now;
  State& state = State::of(context());
  if (member_ != 0) state.noteElsewhere();
  loaded_ = members()[member_].device;
  load_ns_ = expected_ns_ * occupancy(loaded_->capabilities(), launch().record,
                                      static_cast<double>(groupsOf(launch().record)));
  state.expectedLoad(*loaded_).lock()->add(load_ns_, now);
  const unsigned launches =
      experience_->state().lock()->alone[experience_->kindOf(member_)].launches++;
  const unsigned place = launches < measured_first ? launches : launches % measured_later;
  measures_ = launches < measured_first || place < 2;
  follows_measured_ = measures_ && place > 0;
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
  AccessList().swap(touched_);
  LaunchCommand::finalize(status);
}

// A line for people, as of divided launches: who ran it, when it was expected to end and did, in us
// after it was submitted, and how long it ran.
void WholeLaunch::tell() const {
  const auto since = [&](uint64_t when) {
    const auto submitted = static_cast<double>(times_.submitted.load(std::memory_order_relaxed));
    return (static_cast<double>(when) - submitted) / 1000;
  };
  std::string text = "weft: " + launch().info().name + ": whole on " + std::to_string(member_);
  const auto append = [&](const char* before, double us) {
    text.append(before).append(std::to_string(std::llround(us)));
  };
  if (expectedEnd() != 0) append("; expected ", since(expectedEnd()));
  append(" done ", since(times_.ended));
  append(" busy ", static_cast<double>(times_.ended - times_.started) / 1000);
  std::fprintf(stderr, "%s\n", text.c_str());
}

void WholeLaunch::learn() noexcept {
  try {
    if (Knowledge::get().setting.trace) tell();
    executed_.push_back(
        {members()[member_].device, namedGroups(launch().record, launch().wholeBox())});
    if (!measures_) return;
    const uint64_t ended = times_.ended.load(std::memory_order_relaxed);
    const auto ns = static_cast<double>(ended - times_.started.load(std::memory_order_relaxed));
    record(ns);
    keepMeasurementsSoon(context().platform());
    const auto seen = experience_->state().lock();
    // The first launch of a kernel may have waited for its code to be loaded: what is less counts
    // at once.
    Experience::Alone& alone = seen->alone[experience_->kindOf(member_)];
    const bool slower = alone.measured && ns > alone.ns;
    alone.ns = slower ? alone.ns + learned * (ns - alone.ns) : ns;
    alone.measured = true;
    if (!follows_measured_) return;
    // The host's work counts, unless the device was busy meanwhile.
    const uint64_t able = std::max(placed_at_, predecessorsEnded());
    const double total = ended > able ? static_cast<double>(ended - able) : 0;
    seen->verdict.executedAlone(ns);
    seen->verdict.leftWhole(std::max(least_left * ns, total));
  } catch (const std::bad_alloc&) {  // the next one is as good
  }
}

void WholeLaunch::record(double nanoseconds) const {
  const LaunchWork& work = launch();
  Knowledge::get().store.recordKernel(keyOf(*work.kernel->build, work.kernel->index, work.record),
                                      keyOf(*members()[member_].device),
                                      static_cast<uint64_t>(items()), nanoseconds);
}

// Its variables and its queues are one device's own.
bool mayRunElsewhere(const LaunchWork& launch) {
  constexpr uint32_t bound = static_cast<uint32_t>(SplitHazard::program_variables) |
                             static_cast<uint32_t>(SplitHazard::device_queues);
  return !(launch.info().split_hazards & bound) && !launch.arguments.usesSvm();
}

}  // namespace

Ref<Event> enqueueWhole(WaitList waits, Queue& queue, cl_command_type type,
                        std::shared_ptr<Experience> experience, LaunchWork& launch) {
  if (!mayRunElsewhere(launch) || experience->members().size() < 2) return nullptr;
  return enqueueCommand<WholeLaunch>(waits, queue, type, std::move(launch), std::move(experience));
}

}  // namespace weft
