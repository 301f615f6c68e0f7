// Commands that are submitted behind others which have not ended, and the device keeps the order.
//
// Two commands of one in-order queue share its stream. Others have to be of devices whose streams
// can wait for each other: the later one is let go when the earlier was submitted, remembers it,
// and tells its stream to wait for it. It ends after all that it was behind, whichever end is seen
// first: only then is known that none of them failed. What it writes is entered in memory objects
// when it is submitted (Command::enter), hence in the order of the edges, too; so a transfer that
// fetches it can be submitted behind it.
#include <algorithm>

#include "core/reaper.h"
#include "scheduler/command.h"
#include "scheduler/residency.h"
#include "scheduler/state.h"
#include "scheduler/tracing.h"

namespace weft {

uint64_t Command::fenceGroup() const noexcept {
  return isDeviceWork() && isOneOperation() ? device_->capabilities().fence_group : 0;
}

// May others be submitted once this command was?
bool Command::leads() const noexcept {
  const port::Capabilities& device = device_->capabilities();
  if (device.fence_group == 0 && !device.runs_ahead) return false;
  if (fenceGroup() != 0) return true;
  return isDeviceWork() && isInQueueOrder();
}

// Does its stream keep it behind what comes before in its queue?
bool Command::isInQueueOrder() const noexcept {
  return in_queue_stream_ && queue() && !queue()->outOfOrder() &&
         device_->capabilities().runs_ahead && !hasParts();
}

// On the device, an earlier command that was submitted?
bool Command::canFollow(const Command& earlier) const noexcept {
  if (isInQueueOrder() && earlier.isInQueueOrder() && stream_ == earlier.stream_) return true;
  const uint64_t group = fenceGroup();
  return group != 0 && group == earlier.fenceGroup();
}

void Command::runBehind(Event& dependency) {
  if (!mayRunBehind(dependency)) return waitFor(dependency, true);
  addAhead(static_cast<Command&>(dependency), true);
}

// As far as is known: which devices the two end up on may not be settled yet.
bool Command::mayRunBehind(const Event& dependency) const noexcept {
  const Queue* const other = dependency.queue();
  if (!other || dependency.done()) return false;
  if (other == queue() && other->runsAhead()) return true;
  const uint64_t group = other->fenceGroup();
  if (group == 0 || !isDeviceWork() || !isOneOperation()) return false;
  return group == device_->capabilities().fence_group ||
         (queue() && group == queue()->fenceGroup());
}

void Command::runBehind(Command& transfer) {
  const uint64_t group = fenceGroup();
  if (group == 0 || group != transfer.fenceGroup()) return waitFor(transfer, true);
  goBehind(transfer, true);
}

void Command::goBehind(Command& earlier, bool carries_failure) {
  if (ahead_)
    for (Predecessor& known : ahead_->commands)
      if (known.command.get() == &earlier) {
        known.carries_failure |= carries_failure;
        return;
      }
  addAhead(earlier, carries_failure);
}

// Failure comes with `ahead_`, not with the edge.
void Command::addAhead(Command& earlier, bool carries_failure) {
  if (carries_failure && tracing::on()) tracing::noteDependency(*this, earlier);
  if (!ahead_) ahead_ = std::make_unique<Ahead>();
  ahead_->commands.push_back({Ref<Command>(&earlier), carries_failure});
  waitForSubmission(earlier);
}

void Command::failWith(Command& maker) {
  if (!ahead_) ahead_ = std::make_unique<Ahead>();
  ahead_->makers.emplace_back(&maker);
}

bool Command::endsAfter(const Command& earlier) const noexcept {
  if (isInQueueOrder() && earlier.isInQueueOrder() && stream_ == earlier.stream_) return true;
  if (comesLater(earlier)) return true;
  // Who was to be behind many is not looked through for each user of what it touches.
  constexpr size_t few = 8;
  return ahead_ && ahead_->commands.size() <= few &&
         std::ranges::any_of(ahead_->commands, [&](const Predecessor& known) {
           return known.command.get() == &earlier;
         });
}

// In one in-order queue and one memory space: there each command is behind the one before it, and a
// part of a divided launch behind those of the launch before that have its memory, or behind all.
bool Command::comesLater(const Command& earlier) const noexcept {
  return queue() && queue() == earlier.queue() && !queue()->outOfOrder() &&
         space_ == earlier.space_ && placeInQueue() != earlier.placeInQueue() &&
         resolution_->claim.ticket > earlier.resolution_->claim.ticket;
}

bool Command::failsWith(const Command& earlier) const noexcept {
  if (!ahead_) return false;
  return std::ranges::any_of(ahead_->makers,
                             [&](const Ref<Command>& maker) { return maker.get() == &earlier; }) ||
         std::ranges::any_of(ahead_->commands, [&](const Predecessor& known) {
           return known.command.get() == &earlier && known.carries_failure;
         });
}

bool Command::hasPrevious() const noexcept { return place_ && queue() && queue()->runsAhead(); }

bool Command::hasPredecessors() const noexcept { return ahead_ || hasPrevious(); }

void Command::dropEnded() noexcept {
  if (!hasPredecessors()) return;
  const auto ended = [&](const Event& earlier, bool carries_failure) {
    const cl_int status = earlier.status();
    if (status > CL_COMPLETE) return false;
    if (status < 0 && carries_failure) noteFailedDependency();
    predecessors_ended_ = std::max<uint64_t>(predecessors_ended_, earlier.times().ended);
    return true;
  };
  if (hasPrevious() && ended(*place_, false)) place_ = nullptr;
  if (!ahead_) return;
  std::erase_if(ahead_->commands, [&](const Predecessor& earlier) {
    return ended(*earlier.command, earlier.carries_failure);
  });
  std::erase_if(ahead_->makers, [&](const Ref<Command>& maker) { return ended(*maker, true); });
  if (ahead_->commands.empty() && ahead_->makers.empty()) ahead_ = nullptr;
}

// Calls back with what has to end first.
template <class F>
void Command::forEnds(bool all, F&& function) {
  dropEnded();
  const auto call = [&](Command& earlier) {
    if (all || !canFollow(earlier)) function(earlier);
  };
  if (hasPrevious()) call(static_cast<Command&>(*place_));
  if (ahead_)
    for (const Predecessor& earlier : ahead_->commands) call(*earlier.command);
}

bool Command::linkToEnds(bool all, std::vector<Ref<Queue>>& queues) {
  bool waits = false;
  forEnds(all, [&](Command& earlier) {
    waits = true;
    waitFor(earlier, false);
    if (earlier.queue()) queues.emplace_back(earlier.queue());
  });
  return waits;
}

bool Command::waitForEnds(bool all) noexcept {
  if (!hasPredecessors()) return false;
  bool waits = false;
  forEnds(all, [&](Command&) { waits = true; });
  if (!waits) return false;
  std::vector<Ref<Queue>> queues;
  holdAgain();
  // Should memory run out, it tries again.
  attempt([&] { linkToEnds(all, queues); });
  // What is submitted has to be told of. Where this command has run behind it, it will be.
  if (!ran_)
    for (const Ref<Queue>& queue : queues) queue->flush();
  releaseGuard();
  return true;
}

std::vector<Command::Predecessor> Command::predecessors() {
  std::vector<Predecessor> list;
  if (hasPrevious()) list.push_back({Ref<Command>(static_cast<Command*>(place_.get())), false});
  if (ahead_) list.insert(list.end(), ahead_->commands.begin(), ahead_->commands.end());
  return list;
}

void Command::letFollowersGo() noexcept { tell(close(followers_), CL_SUBMITTED); }

// Instead of what consists of them.
void Command::gatherParts() {
  std::vector<Ref<Command>> found;
  const auto add = [&](Command& earlier) {
    if (!earlier.hasParts()) return;
    const auto parts = earlier.parts();
    found.insert(found.end(), parts.begin(), parts.end());
  };
  if (hasPrevious()) add(static_cast<Command&>(*place_));
  if (ahead_)
    for (const Predecessor& earlier : ahead_->commands) add(*earlier.command);
  for (const Ref<Command>& part : found) goBehind(*part, false);
}

// For the stream, which knows by itself what comes before in it.
void Command::gatherAhead() {
  if (!hasPredecessors()) return;
  gatherParts();
  const auto gather = [&](Command& earlier) {
    if (earlier.hasParts() || (isInQueueOrder() && earlier.stream_ == stream_)) return;
    if (!ahead_) ahead_ = std::make_unique<Ahead>();
    ahead_->operations.push_back(&earlier);
  };
  if (ahead_)
    for (const Predecessor& earlier : ahead_->commands) gather(*earlier.command);
  if (hasPrevious()) gather(static_cast<Command&>(*place_));
  if (ahead_) behind = ahead_->operations;
}

// What was submitted ahead of the end of what it depends on learns only now that this failed. It
// should not have run, then, so a failure of its own says nothing.
void Command::conclude() noexcept {
  const RuntimeScope scope;
  dropEnded();
  if (dependencyFailed() || (failure_ == CL_SUCCESS && leads() && lostItsInput()))
    failure_ = dependencyFailure();
  complete(failure_ < 0 ? failure_ : CL_COMPLETE);
}

}  // namespace weft
