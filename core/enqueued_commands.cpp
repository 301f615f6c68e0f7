#include "core/enqueued_commands.h"

#include <CL/cl.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr int32_t refused_state = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

}  // namespace

DeviceEvent* DeviceEvents::make() {
  if (free_.empty()) {
    if (events_.size() >= most_) return nullptr;
    // There is room for all of them, so that drop() allocates nothing.
    if (free_.capacity() <= events_.size()) free_.reserve(2 * events_.size() + 16);
    events_.emplace_back();
    free_.push_back(uint32_t(events_.size() - 1));
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  DeviceEvent& event = events_[index];
  const uint32_t generation = event.generation + 1;
  event = DeviceEvent();
  event.generation = generation;
  event.number = uint64_t{generation} << 32 | (index + 1);
  event.handles = 1;
  return &event;
}

DeviceEvent* DeviceEvents::find(uint64_t number) noexcept {
  const uint64_t index = (number & 0xffffffff) - 1;
  if (index >= events_.size()) return nullptr;
  DeviceEvent& event = events_[index];
  return number != 0 && event.number == number && event.handles != 0 ? &event : nullptr;
}

void DeviceEvents::drop(DeviceEvent& event) noexcept {
  const auto index = uint32_t(event.number) - 1;
  event.number = 0;
  free_.push_back(index);
}

EnqueuedCommand* EnqueuedCommands::Freed::takeReady() noexcept {
  EnqueuedCommand* first = nullptr;
  for (EnqueuedCommand* command = std::exchange(ready, nullptr); command;) {
    EnqueuedCommand* const next = command->after;
    command->after = std::exchange(first, command);
    command = next;
  }
  return first;
}

bool EnqueuedCommands::areValid(std::span<const uint64_t> numbers) noexcept {
  return std::ranges::all_of(numbers,
                             [&](uint64_t number) { return events_.find(number) != nullptr; });
}

void EnqueuedCommands::enter(CommandScope& scope, EnqueuedCommand& command,
                             std::span<const uint64_t> waits) noexcept {
  ++waiting_;
  ++scope.pending;
  command.within = &scope;
  if (command.event) {
    command.event->outer = &scope;
    command.event->pending = 1;
    command.within = command.event;
  }
  command.waits = 1;
  for (size_t i = 0; i < waits.size(); ++i) {
    DeviceEvent* const event = events_.find(waits[i]);
    if (!event || event->done()) {
      command.refused |= event && event->state < DeviceEvent::complete;
      continue;
    }
    command.links[i] = {&command, event->waiters};
    event->waiters = &command.links[i];
    ++command.waits;
  }
}

void EnqueuedCommands::arrive(EnqueuedCommand& command, bool failed, Freed& freed) noexcept {
  command.refused |= failed;
  if (--command.waits != 0) return;
  --waiting_;
  const bool runs = !command.refused && command.hasWork();
  if (runs) ++running_;
  EnqueuedCommand*& list = runs ? freed.ready : freed.settling;
  command.after = std::exchange(list, &command);
}

// The dead go here, with the lock held: once the family is through, the application may release the
// queues that they were in.
void EnqueuedCommands::settle(Freed& freed) noexcept {
  while (EnqueuedCommand* const command = freed.settling) {
    freed.settling = command->after;
    command->after = std::exchange(freed.dead, command);
    if (command->event) command->event->refused = command->refused;
    endOne(*command->within, 0, freed);
  }
  EnqueuedCommand* dead = std::exchange(freed.dead, nullptr);
  while (dead) delete std::exchange(dead, dead->after);
}

void EnqueuedCommands::ran(CommandScope& scope, EnqueuedCommand* command,
                           port::OperationStatus status, port::Nanoseconds start,
                           port::Nanoseconds end, Freed& freed) noexcept {
  --running_;
  if (command) {
    command->after = std::exchange(freed.dead, command);
    if (command->event) {
      command->event->start = start;
      command->event->end = end;
    }
  }
  endOne(scope, status, freed);
  settle(freed);
  if (running_ != 0 || waiting_ == 0) return;
  giveUp(freed);
  settle(freed);
}

// One of what the scope holds has ended.
void EnqueuedCommands::endOne(CommandScope& scope, port::OperationStatus status,
                              Freed& freed) noexcept {
  for (CommandScope* at = &scope;;) {
    at->fail(status);
    if (--at->pending != 0 || !at->outer) return;
    auto& event = static_cast<DeviceEvent&>(*at);
    status = event.status;
    at = event.outer;
    const int32_t state = event.refused ? refused_state : DeviceEvent::complete;
    finishEvent(event, status < 0 ? status : state, freed);
    if (event.handles == 0) events_.drop(event);
  }
}

void EnqueuedCommands::finishEvent(DeviceEvent& event, int32_t state, Freed& freed) noexcept {
  event.state = state;
  for (EventLink* link = std::exchange(event.waiters, nullptr); link;) {
    EventLink* const next = link->next;
    arrive(*link->command, state < DeviceEvent::complete, freed);
    link = next;
  }
  if (event.user) return;
  event.completed = now();
  writeProfiles(event);
  eventCompleted(event);
}

DeviceEvent::Profile DeviceEvent::profile() const noexcept {
  const port::Nanoseconds begun = end == 0 ? completed : start;
  const port::Nanoseconds ended = end == 0 ? completed : end;
  const uint64_t run = std::max<uint64_t>(1, ended - begun);
  return {run, std::max<uint64_t>(run, completed - begun)};
}

void EnqueuedCommands::writeProfiles(DeviceEvent& event) noexcept {
  for (const uint64_t address : event.profiles) writeProfile(address, event.profile());
  event.profiles.clear();
}

// Nothing runs that could end what is waited for.
void EnqueuedCommands::giveUp(Freed& freed) noexcept {
  outermost_.fail(refused_state);
  events_.forEach([&](DeviceEvent& event) {
    for (EventLink* link = std::exchange(event.waiters, nullptr); link;) {
      EventLink* const next = link->next;
      arrive(*link->command, true, freed);
      link = next;
    }
  });
}

DeviceEvent* EnqueuedCommands::makeUserEvent() {
  DeviceEvent* const event = events_.make();
  if (event) event->user = true;
  return event;
}

void EnqueuedCommands::retainEvent(uint64_t number) noexcept {
  if (DeviceEvent* const event = events_.find(number)) ++event->handles;
}

void EnqueuedCommands::releaseEvent(uint64_t number) noexcept {
  DeviceEvent* const event = events_.find(number);
  if (event && --event->handles == 0) forsake(*event);
}

// A command's event that has not ended goes when it has.
void EnqueuedCommands::forsake(DeviceEvent& event) noexcept {
  event.handles = 0;
  if (event.done() || (event.user && !event.waiters)) events_.drop(event);
}

// "The status can be either CL_COMPLETE or a negative integer value indicating an error."
void EnqueuedCommands::setEventStatus(uint64_t number, int32_t status, Freed& freed) noexcept {
  DeviceEvent* const event = events_.find(number);
  if (!event || !event->user || event->done() || status > DeviceEvent::complete) return;
  finishEvent(*event, status, freed);
  settle(freed);
}

void EnqueuedCommands::captureProfiling(uint64_t number, uint64_t address) {
  DeviceEvent* const event = events_.find(number);
  if (!event || event->user || address == 0) return;
  event->profiles.push_back(address);
  if (event->done()) writeProfiles(*event);
}

}  // namespace weft
