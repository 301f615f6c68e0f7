// Device-side enqueue: the commands that kernels enqueued, the events that they wait for, and when
// each of them is over. The same for every device, wherever its kernels leave their requests.
//
// A kernel that the host enqueued and whatever it and its children enqueue are a *family*. Nothing
// waits for a child on a thread, so families need no threads and no stack, however deep they are. A
// child's own children are counted by the nearest event of the program's that they are below, or by
// the family.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/ports/device.h"

namespace weft {

struct EnqueuedCommand;

// Ends when every command and every scope that it holds has ended: the commands of an event, or
// everything that a kernel of the host's brought about.
struct CommandScope {
  CommandScope* outer = nullptr;  // none: it is the outermost
  uint64_t pending = 0;
  port::OperationStatus status = 0;  // the first failure

  void fail(port::OperationStatus why) noexcept {
    if (status == 0) status = why;
  }
};

// A command's place among those that wait for an event.
struct EventLink {
  EnqueuedCommand* command = nullptr;
  EventLink* next = nullptr;
};

// What kernels know as a clk_event_t.
struct DeviceEvent : CommandScope {
  static constexpr int32_t complete = 0, submitted = 2;

  uint64_t number = 0;  // 0: not in use
  // What kernels call it, where that is another one.
  uint64_t name = 0;
  uint32_t generation = 0;
  uint32_t handles = 0;  // the program's references
  bool user = false;
  bool refused = false;  // the command never ran, because of what it waited for
  int32_t state = submitted;
  port::Nanoseconds start = 0, end = 0;  // of the command's own run, if it ran
  port::Nanoseconds completed = 0;       // with all that it enqueued
  EventLink* waiters = nullptr;
  std::vector<uint64_t> profiles;  // addresses

  bool done() const { return state <= complete; }

  // Of a command's that is done: how long it ran, and with all that it enqueued. In nanoseconds.
  struct Profile {
    uint64_t run, whole;
  };
  Profile profile() const noexcept;
};

// Gives events their numbers. A number is never that of an earlier event in the same place.
class DeviceEvents {
 public:
  explicit DeviceEvents(size_t most) : most_(most) {}

  // With one handle; nullptr when there are as many as there may be. Throws std::bad_alloc.
  DeviceEvent* make();
  // nullptr when there is none of that number.
  DeviceEvent* find(uint64_t number) noexcept;
  void drop(DeviceEvent& event) noexcept;

  template <class F>
  void forEach(F&& function) {
    for (DeviceEvent& event : events_)
      if (event.number != 0) function(event);
  }

 private:
  const size_t most_;
  std::deque<DeviceEvent> events_;
  std::vector<uint32_t> free_;
};

struct EnqueuedCommand {
  virtual ~EnqueuedCommand() = default;
  // Is there anything to run? A marker has nothing.
  virtual bool hasWork() const noexcept = 0;

  // Set before it is entered.
  std::vector<EventLink> links;  // one for each event of its wait list
  DeviceEvent* event = nullptr;  // its own, if the program asked for it
  // The graph's from then on.
  CommandScope* within = nullptr;  // what counts it, and all that it enqueues
  uint32_t waits = 0;
  bool refused = false;              // something that it waited for failed
  EnqueuedCommand* after = nullptr;  // in the list that it is in
};

// Not thread-safe: whoever inherits it has a lock. A command belongs to it from enter() on, and is
// deleted once it has run, or will not.
class EnqueuedCommands {
 public:
  // Commands that the lock's holder set free.
  struct Freed {
    EnqueuedCommand* ready = nullptr;  // to run once the lock is let go of, the newest first
    EnqueuedCommand* settling = nullptr;
    EnqueuedCommand* dead = nullptr;

    // The oldest first.
    EnqueuedCommand* takeReady() noexcept;
  };

  // There may be so many events at a time.
  explicit EnqueuedCommands(size_t most_events) : events_(most_events) {}
  EnqueuedCommands(const EnqueuedCommands&) = delete;
  EnqueuedCommands& operator=(const EnqueuedCommands&) = delete;

 protected:
  ~EnqueuedCommands() = default;

  virtual port::Nanoseconds now() const noexcept = 0;
  // An event that was captured is complete: what capture_event_profiling_info() promised.
  virtual void writeProfile(uint64_t address, DeviceEvent::Profile profile) noexcept = 0;
  // A command's event is complete.
  virtual void eventCompleted(const DeviceEvent&) noexcept {}

  CommandScope& outermost() noexcept { return outermost_; }
  DeviceEvents& events() noexcept { return events_; }

  bool areValid(std::span<const uint64_t> numbers) noexcept;
  // A wait for an event that is gone is over. Leaves one wait behind, for the caller to end.
  void enter(CommandScope& scope, EnqueuedCommand& command,
             std::span<const uint64_t> waits) noexcept;
  // One of its waits is over. A ready command counts as running from here on.
  void arrive(EnqueuedCommand& command, bool failed, Freed& freed) noexcept;
  // Ends what does not run, and what that leads to, and deletes the dead.
  void settle(Freed& freed) noexcept;
  // A command that was ready has run; nullptr: the family's first kernel. What it enqueued has been
  // entered. What waits for what cannot happen any more is given up.
  void ran(CommandScope& scope, EnqueuedCommand* command, port::OperationStatus status,
           port::Nanoseconds start, port::Nanoseconds end, Freed& freed) noexcept;
  // When that is so, nothing of the family is left.
  bool isOver() const noexcept { return outermost_.pending == 0; }

  // Throws std::bad_alloc. nullptr: there are too many.
  DeviceEvent* makeUserEvent();
  void retainEvent(uint64_t number) noexcept;
  void releaseEvent(uint64_t number) noexcept;
  // The program has no reference any more.
  void forsake(DeviceEvent& event) noexcept;
  void setEventStatus(uint64_t number, int32_t status, Freed& freed) noexcept;
  // Throws std::bad_alloc.
  void captureProfiling(uint64_t number, uint64_t address);

 private:
  void endOne(CommandScope& scope, port::OperationStatus status, Freed& freed) noexcept;
  void finishEvent(DeviceEvent& event, int32_t state, Freed& freed) noexcept;
  void writeProfiles(DeviceEvent& event) noexcept;
  void giveUp(Freed& freed) noexcept;

  CommandScope outermost_{nullptr, 1, 0};
  DeviceEvents events_;
  uint64_t running_ = 1;
  uint64_t waiting_ = 0;
};

}  // namespace weft
