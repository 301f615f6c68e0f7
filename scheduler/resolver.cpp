#include <algorithm>

#include "scheduler/residency.h"
#include "scheduler/state.h"
#include "scheduler/step.h"
#include "scheduler/tracing.h"
#include "scheduler/transfer.h"

namespace weft {

Resolver::Resolver(Command& command)
    : command_(command), context_(command.context()), space_(command.space()) {}

Resolver::~Resolver() {
  releaseEvicted();
  for (const Ref<Queue>& queue : flushes_) queue->flush();
  if (command_.resolution_ && command_.resolution_->claim.allocates) {
    const auto tickets = State::of(context_).tickets().lock();
    endAllocating();
  }
  for (TransferCommand* transfer : transfers_) {
    transfer->launch();
    transfer->release();
  }
}

bool Resolver::resolve() {
  if (!(command_.resolution_ && command_.resolution_->claimed) && !claim()) return true;
  for (;;) {
    Admission admission = admit();
    releaseEvicted();
    if (admission == Admission::needs_memory) admission = allocate();
    if (admission == Admission::needs_others) {
      releaseEvicted();  // or this thread would be one of the others
      State::of(context_).memoryTraffic().waitForOthers();
    }
    if (admission == Admission::waits) return false;
    if (admission == Admission::admitted || admission == Admission::declined) return true;
  }
}

// Draws a ticket and claims everything the command touches; false when that is nothing.
bool Resolver::claim() {
  if (!command_.resolution_ || !command_.resolution_->final) {
    auto exact = std::make_unique<Resolution>();
    command_.accesses(exact->accesses);
    exact->dropWhatStays();
    replaceForecast(std::move(exact));
  }
  if (!command_.resolution_) return false;
  Resolution& resolution = *command_.resolution_;
  step::point();
  if (State::of(context_).needsStaging())
    for (const Access& access : resolution.accesses) access.object->storage().in(port::host_space);
  const auto tickets = State::of(context_).tickets().lock();
  const auto inherited = command_.inheritedTicket();
  resolution.claim = {&command_, inherited ? *inherited : tickets->next++, space_};
  // From here on: should memory run out below, the command takes back what was claimed.
  resolution.claimed = true;
  for (const Access& access : resolution.accesses) {
    const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
    for (auto it = first; it != last; ++it) it->second.users.add(resolution.claim, access.writes);
  }
  return true;
}

void Resolver::replaceForecast(std::unique_ptr<Resolution> exact) {
  if (const Resolution* const forecast = command_.resolution_.get()) {
    const auto tickets = State::of(context_).tickets().lock();
    for (const Access& access : forecast->accesses)
      Residency::of(*access.object).retract(forecast->announced);
  }
  command_.resolution_ = exact->accesses.empty() ? nullptr : std::move(exact);
}

void Resolution::dropWhatStays() {
  std::erase_if(accesses, [](const Access& access) {
    return access.begin == access.end || access.object->storage().inPlace();
  });
}

Resolver::Admission Resolver::admit() {
  step::point();
  const step::Quiet quiet;
  const auto tickets = State::of(context_).tickets().lock();
  endAllocating();
  settleSpace();
  if (command_.prefetchesFor() && !isConvenient(*tickets)) return Admission::declined;
  if (waitForConflicts() || waitForContents()) return Admission::waits;
  findMissing(*tickets);
  if (!missing_.empty()) return makeRoom(*tickets, 0);
  Claim& claim = command_.resolution_->claim;
  claim.admitted = true;
  const std::vector<Ref<Command>> before = submittedBefore();
  const bool is_first = command_.in_queue_stream_ && !command_.hasPredecessors();
  runBehindConflicts();
  const AccessList& accesses = command_.resolution_->accesses;
  for (const Access& access : accesses) {
    Residency::of(*access.object).use(claim.ticket);
    Residency::of(*access.object).replaceReaders(access.begin, access.end, claim);
    if (access.reads) plan(access);
  }
  keepInStream(before, is_first);
  for (const Access& access : accesses)
    if (!command_.prefetchesFor() && Residency::of(*access.object).overLimit())
      gather(*access.object);
  return Admission::admitted;
}

bool Resolver::isConvenient(State::Tickets& tickets) {
  if (command_.comesTooLate()) return false;
  Conflicts conflicts;
  for (const Access& access : command_.resolution_->accesses) {
    addConflicts(access, conflicts);
    Residency& residency = Residency::of(*access.object);
    if (residency.writerBefore(command_.prefetchesFor(), access.begin, access.end).event)
      return false;
    const auto [first, last] = residency.cover(access.begin, access.end);
    if (std::any_of(first, last, [](const auto& entry) { return entry.second.lost; })) return false;
  }
  return conflicts.none() && conflicts.order.empty() && conflicts.brings.empty() &&
         hasRoom(tickets);
}

bool Resolver::waitForConflicts() {
  conflicts_ = {};
  for (const Access& access : command_.resolution_->accesses) addConflicts(access, conflicts_);
  if (conflicts_.none()) return false;
  for (Command* earlier : conflicts_.submissions) {
    command_.waitForSubmission(*earlier);
    if (earlier->queue()) flushes_.emplace_back(earlier->queue());
  }
  waitForAll(conflicts_.ends);
  return true;
}

// Once nothing else is in the way.
void Resolver::runBehindConflicts() {
  for (Command* earlier : conflicts_.brings) command_.goBehind(*earlier, true);
  for (Command* earlier : conflicts_.order) command_.goBehind(*earlier, false);
  for (Command* earlier : conflicts_.makers) command_.failWith(*earlier);
}

bool Resolver::waitForAll(std::vector<Event*>& events) {
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  for (Event* event : events) {
    if (tracing::on()) tracing::noteDependency(command_, *event);
    command_.waitFor(*event, false);
    if (event->queue()) flushes_.emplace_back(event->queue());
  }
  return !events.empty();
}

// A read into host memory runs on a device that already has all the bytes, rather than bringing
// them to the queue's device first. What a unified device copies or fills does so where the objects
// were used last; if they were not used in one place, where it has all that it reads.
void Resolver::settleSpace() {
  if (!command_.runsWhereTheBytesAre()) return;
  command_.runAtHome();
  const AccessList& accesses = command_.resolution_->accesses;
  const bool reads = std::ranges::any_of(accesses, &Access::reads);
  for (const bool only_reads : {false, true}) {
    if (only_reads && !reads) break;
    if (const auto space = spaceWithAll(only_reads)) {
      moveTo(*space);
      break;
    }
  }
  space_ = command_.space();
  Claim& claim = command_.resolution_->claim;
  if (std::exchange(claim.space, space_) == space_) return;
  for (const Access& access : accesses) {
    const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
    for (auto it = first; it != last; ++it) it->second.users.move(claim);
  }
}

// One in which what the command reads is valid, or all that it touches.
std::optional<port::MemorySpace> Resolver::spaceWithAll(bool only_reads) const {
  const AccessList& accesses = command_.resolution_->accesses;
  const auto counts = [&](const Access& access) { return access.reads || !only_reads; };
  const auto has = [&](port::MemorySpace space) {
    return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      if (!counts(access)) return true;
      const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
      return std::none_of(first, last,
                          [&](const auto& entry) { return entry.second.needsTransfer(space); });
    });
  };
  if (has(command_.space())) return command_.space();
  const auto first = std::ranges::find_if(accesses, counts);
  const auto& valid =
      Residency::of(*first->object).cover(first->begin, first->end).first->second.valid.all();
  // What writes to memory does so better in a device's own.
  const bool to_host = std::ranges::none_of(accesses, &Access::writes);
  const auto found = std::ranges::find_if(valid, [&](port::MemorySpace space) {
    return (to_host || space != port::host_space) && has(space);
  });
  return found == valid.end() ? std::nullopt : std::optional(*found);
}

// The queue's own stream can read from the host.
void Resolver::moveTo(port::MemorySpace space) {
  if (space == command_.space()) return;
  if (space == port::host_space)
    command_.setSpace(space);
  else if (Device* owner = State::of(context_).owner(space))
    command_.runOn(*owner);
}

void Resolver::addConflicts(const Access& access, Conflicts& conflicts) {
  // Who wrote without an order what it reads does not matter to it. So where others of its space
  // are all that uses the bytes, thousands perhaps, nothing is to be asked of them.
  const bool ordered = command_.hasPredecessors();
  const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
  for (auto it = first; it != last; ++it) {
    const Residency::Interval& interval = it->second;
    const bool needs_transfer = access.reads && interval.needsTransfer(space_);
    if (!ordered && !needs_transfer && interval.users.areCommandsOf(space_)) continue;
    for (const Residency::User& user : interval.users)
      addConflict(access, interval, user, conflicts, ordered);
  }
}

void Resolver::addConflict(const Access& access, const Residency::Interval& interval,
                           const Residency::User& user, Conflicts& conflicts, bool ordered) const {
  const Claim &own = command_.resolution_->claim, &other = *user.claim;
  if (&other == &own || !(other.admitted || other.ticket < own.ticket)) return;
  const bool conflicts_with = conflict(access, interval, user);
  const bool made = access.reads && user.current && other.space == space_;
  const bool brings = made && other.transfer;
  if (!conflicts_with && !brings) {
    if (made && ordered) conflicts.makers.push_back(other.command);
  } else if (!command_.canFollow(*other.command)) {
    conflicts.ends.push_back(other.command);
  } else if (!other.under_way && (user.writes || !other.admitted)) {
    conflicts.submissions.push_back(other.command);
  } else {
    (brings ? conflicts.brings : conflicts.order).push_back(other.command);
  }
}

// Unordered commands of one space are the application's to order, unless a transfer into that space
// could overwrite what one of them writes: arguments are claimed whole, so the bytes that the
// commands really touch may well be different ones.
bool Resolver::conflict(const Access& access, const Residency::Interval& interval,
                        const Residency::User& user) const {
  const Claim& other = *user.claim;
  const bool needs_transfer = access.reads && interval.needsTransfer(space_);
  if (other.transfer) {
    const bool useful =
        other.space == space_ || (other.space == port::host_space && !reachable(interval));
    return access.writes || (needs_transfer && useful);
  }
  // What it makes of the bytes is known: the transfer that brings them runs behind it, or did.
  if (access.reads && user.writes && other.under_way) return false;
  if (needs_transfer && user.writes) return true;
  return (access.writes || user.writes) && other.space != space_;
}

// Can the bytes be brought to the command's space in one step?
bool Resolver::reachable(const Residency::Interval& interval) const {
  const auto& valid = interval.valid.all();
  return std::any_of(valid.begin(), valid.end(), [&](port::MemorySpace source) {
    return State::of(context_).mover(source, space_) != nullptr;
  });
}

// Whoever made the bytes failed, so this is the status that waiting for its event would have given.
// True: what the command is to run behind may yet write them, and the command waits for that.
bool Resolver::waitForContents() {
  for (const Access& access : command_.resolution_->accesses) {
    if (!access.reads) continue;
    const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
    const auto lost =
        std::find_if(first, last, [](const auto& entry) { return entry.second.lost; });
    if (lost == last) continue;
    if (command_.linkToEnds(true, flushes_)) return true;
    throw Error(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                "bytes " + std::to_string(lost->first) + " to " + std::to_string(lost->second.end) +
                    " of a memory object were lost when the command that wrote them failed");
  }
  return false;
}

void Resolver::plan(const Access& access) {
  const auto [first, last] = Residency::of(*access.object).cover(access.begin, access.end);
  for (auto it = first; it != last; ++it)
    if (it->second.needsTransfer(space_))
      command_.runBehind(bring(*access.object, it->first, it->second, space_));
}

TransferCommand& Resolver::bring(MemObject& object, size_t begin, Residency::Interval& interval,
                                 port::MemorySpace target) {
  if (TransferCommand* planned = plannedFor(interval, target)) return *planned;
  State& state = State::of(context_);
  const port::MemorySpace source = sourceOf(interval, target);
  if (state.mover(source, target)) return transferFor(object, begin, interval, source, target);
  TransferCommand& first = bring(object, begin, interval, port::host_space);
  TransferCommand& second = transferFor(object, begin, interval, port::host_space, target);
  second.after(first);
  return second;
}

// The transfer that another of the command's accesses, which overlap, has led to already.
TransferCommand* Resolver::plannedFor(const Residency::Interval& interval,
                                      port::MemorySpace target) const {
  const auto planned = std::find_if(transfers_.begin(), transfers_.end(), [&](auto* transfer) {
    return transfer->target() == target &&
           std::any_of(interval.users.begin(), interval.users.end(),
                       [&](const auto& user) { return user.claim == &transfer->claim(); });
  });
  return planned == transfers_.end() ? nullptr : *planned;
}

// One with a way to the target, the last transfer's if possible, so that neighbours move as one.
port::MemorySpace Resolver::sourceOf(const Residency::Interval& interval,
                                     port::MemorySpace target) const {
  port::MemorySpace source = interval.valid.all().front();
  for (const port::MemorySpace candidate : interval.valid.all())
    if (State::of(context_).mover(candidate, target)) source = candidate;
  for (const TransferCommand* transfer : transfers_)
    if (transfer->target() == target && interval.valid.has(transfer->source()))
      source = transfer->source();
  return source;
}

TransferCommand& Resolver::transferFor(MemObject& object, size_t begin,
                                       Residency::Interval& interval, port::MemorySpace source,
                                       port::MemorySpace target) {
  const auto extended = std::find_if(transfers_.begin(), transfers_.end(), [&](auto* transfer) {
    return transfer->extend(object, begin, interval.end, source, target);
  });
  TransferCommand* transfer = extended == transfers_.end() ? nullptr : *extended;
  if (!transfer) {
    auto fresh = make<TransferCommand>(context_, *State::of(context_).mover(source, target), object,
                                       begin, interval.end, source, target);
    fresh->retain();  // the graph's reference, given up on completion
    transfer = transfers_.emplace_back(fresh.detach());
  }
  for (const Residency::User& user : interval.users)
    if (user.current && user.claim->space == source) transfer->runBehind(*user.claim->command);
  interval.users.add(transfer->claim(), true);
  return *transfer;
}

// What the command is to run behind in the stream that moves data for its device.
std::vector<Ref<Command>> Resolver::submittedBefore() const {
  std::vector<Ref<Command>> list;
  if (!command_.ahead_ || command_.in_queue_stream_) return list;
  for (const Command::Predecessor& earlier : command_.ahead_->commands)
    if (earlier.command->stream_ == command_.stream_) list.push_back(earlier.command);
  return list;
}

// Little moves between the command and what that runs behind, rather than beside it: the device
// takes longer to wait for another of its streams than for the bytes. So where the command runs
// behind nothing (`is_first`) it moves in the command's own stream.
void Resolver::keepInStream(std::span<const Ref<Command>> before, bool is_first) {
  constexpr size_t most_bytes = size_t{64} << 10;
  Ref<Command> last;
  for (TransferCommand* transfer : transfers_) {
    if (transfer->bytes() > most_bytes) continue;
    if (is_first && transfer->device_ == command_.device_) {
      transfer->stream_ = command_.stream_;
      transfer->joinQueue(*command_.queue());
      continue;
    }
    if (transfer->stream_ != command_.stream_) continue;
    if (last)
      transfer->goBehind(*last, false);
    else
      for (const Ref<Command>& each : before) transfer->goBehind(*each, false);
    last = Ref<Command>(transfer);
  }
}

void Resolver::gather(MemObject& object) {
  Residency& residency = Residency::of(object);
  residency.coarsen();
  if (!residency.overLimit()) return;
  for (auto& [begin, interval] : residency.intervals())
    if (interval.users.empty() && interval.needsTransfer(space_))
      bring(object, begin, interval, space_);
}

}  // namespace weft
