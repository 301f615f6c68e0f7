// One launch that the members of a unified device run together: who gets which part of it, from the
// decision to divide it to the end of its last part. docs/balancing.md.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/kernel.h"
#include "partition/policy.h"
#include "partition/split.h"
#include "profiling/clock.h"
#include "profiling/store.h"
#include "scheduler/executed_parts.h"
#include "scheduler/experience.h"
#include "scheduler/knowledge.h"
#include "scheduler/merging.h"
#include "scheduler/queue.h"

namespace weft {

// Shared by the command and its parts, which see to it that one of them calls at a time.
class Division {
 public:
  // Null when it is one command's: it cannot be divided, or it is known not to pay.
  static std::shared_ptr<Division> make(Queue& queue, const DeviceKernel& kernel,
                                        const std::shared_ptr<Experience>& experience,
                                        const ArgumentSet& arguments,
                                        const port::LaunchRecord& record);

  ~Division();
  Division(const Division&) = delete;
  Division& operator=(const Division&) = delete;

  // Is it of use to know how those went that were planned and have not ended?
  bool dependsOnOthers() const;
  // Decides how, with the bytes where they will be when what is under way by now has ended.
  // `ahead`: it is worth not to wait for that.
  void plan(bool ahead);
  // Is it looked at how long the parts take?
  bool isMeasured() const { return measured_; }
  // Does next() give out all of it before the first part has ended?
  bool atOnce() const { return at_once_; }
  // The first part is about to be given out.
  void begin();
  // What was given out by then has been submitted, or waits for something.
  void submitted() { host_ns_ = static_cast<double>(profiling::now() - begun_); }
  // The call that enqueues it has returned.
  void enqueued() { maker_.store({}, std::memory_order_relaxed); }

  const partition::Split& split() const { return *split_; }
  const Ref<const DeviceKernel>& kernel() const { return kernel_; }
  const ArgumentSet& arguments() const { return arguments_; }
  const port::LaunchRecord& record() const { return record_; }
  const MemberKernel& member(size_t index) const { return members_[index].member; }
  size_t members() const { return members_.size(); }

  // What the parts write together and in copies, from plan() on; null when there is nothing.
  Merging* merging() const { return merging_.get(); }
  // What a part touches, or all of them together; `in_copies`: without what it has copies of.
  void accesses(const partition::Slice& slice, AccessList& list, bool in_copies) const;

  // What a part is expected to take, by what was seen or else is predicted of the member, and in
  // time of the whole member, of which it may keep a part busy.
  struct Expected {
    double execution_ns, load_ns;
  };
  Expected expected(size_t member, const partition::Slice& slice) const;

  // A part for the member, nullopt when there is none for it now.
  std::optional<partition::Slice> next(size_t member);
  // It ended after running between these times.
  void finished(size_t member, const partition::Slice& slice, uint64_t begin, uint64_t end);
  // It ended without having run to its end.
  void failed(size_t member) { --members_[member].in_hand; }
  // What the parts wrote cannot be merged: all of it runs again, on this member.
  size_t again();
  // All parts have ended well. `ahead`: they were submitted before what they run behind had ended,
  // the last of that at this time (0: all of it had).
  void succeeded(std::optional<uint64_t> ahead);
  // Those that did, with neighbours on one member as one.
  std::vector<ExecutedPart> executed() const;

 private:
  struct State {
    MemberKernel member;
    unsigned in_hand = 0;
    uint64_t busy_until = 0;
    uint64_t units = 0;  // done
    double busy_ns = 0;  // for them
    double unit_ns = 0;  // expected of one
    double done_ns = 0;  // since the plan
    uint64_t ended = 0;
  };
  using Models = std::vector<partition::MemberModel>;

  struct Done {
    size_t member;
    partition::Slice slice;
  };

  Division(Queue& queue, const DeviceKernel& kernel, ArgumentSet arguments,
           const port::LaunchRecord& record, std::shared_ptr<Experience> experience);

  // What was seen of launches that are cut as this one.
  template <class Seen>
  auto& cutOf(Seen& seen) const {
    return seen.cuts[split_->dimension()];
  }
  bool possible() const;
  bool hasRoomForCopies() const;
  void decide();
  void decideToMeasure(Experience::State& seen);
  double timeFrom(uint64_t since);
  profiling::LinkKey mergeKey() const;
  double mergeTime() const;
  void tell(double nanoseconds) const;
  bool longEnough() const;
  bool alike() const;
  double itemsPerBlock() const;
  double groupsPerBlock() const;
  void judge(Experience::State& seen) const;
  std::vector<double> unitTimes(const Experience::State& seen) const;
  // What is predicted of the members. `known`: each, or one like it, was measured.
  Models models(const Experience::State& seen, bool& known) const;
  // `needed`: what part of the launches is going to miss the bytes that this one does.
  void predictTransfers(partition::MemberModel& model, const Device& device, double needed) const;
  bool isFarBetter(const Models& models, size_t member) const;
  double fetchTime(const Device& device, const partition::Slice& slice) const;
  double investment(const partition::Plan& plan) const;
  uint64_t launchesToRepay(const Experience::State& seen, const partition::Plan& plan) const;
  std::unique_ptr<partition::Policy> divided(Experience::State& seen, bool always);
  std::unique_ptr<partition::Policy> guided(Experience::State& seen, bool always);
  std::unique_ptr<partition::Policy> onOne(size_t member) const;

  Context& context_;
  Device& device_;
  Ref<const DeviceKernel> kernel_;
  ArgumentSet arguments_;
  port::LaunchRecord record_;
  std::shared_ptr<Experience> experience_;
  std::shared_ptr<const partition::Split> split_;
  profiling::KernelKey key_;  // where that is needed
  std::vector<State> members_;
  std::vector<Done> done_;
  SplitSetting::Mode setting_ = SplitSetting::Mode::guided;
  std::unique_ptr<partition::Policy> policy_;
  std::unique_ptr<Merging> merging_;
  partition::Verdict::Way way_ = partition::Verdict::together;
  size_t home_ = partition::Verdict::together;  // of a way: that has the parts
  bool divides_ = true;
  bool at_once_ = true;
  bool on_trial_ = false;
  bool measures_alone_ = false;  // on one member, before anything is known
  uint64_t postponed_ = 0;       // launches, before it pays to divide it
  bool learns_ = true;           // from how long it takes
  bool records_ = false;         // the parts' times
  bool measured_ = true;
  bool ran_again_ = false;
  uint64_t begun_ = 0;
  double planned_ns_ = 0, host_ns_ = 0;
  // It could begin then: when it was enqueued, unless it had to wait.
  uint64_t able_;
  std::atomic<std::thread::id> maker_ = std::this_thread::get_id();
};

}  // namespace weft
