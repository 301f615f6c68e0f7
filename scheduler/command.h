// A command: a node of the graph that runs on a stream, once its memory is where it must be.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/memory.h"
#include "profiling/trace_records.h"
#include "scheduler/event.h"
#include "scheduler/queue.h"

namespace weft {

struct DeviceCounters;
struct Resolution;

// What a command does to bytes [begin, end) of an object's storage. `writes` without `reads` means
// that every byte of the range is written, or of those rows in it that are named.
struct Access {
  MemObject* object;
  size_t begin;
  size_t end;
  bool reads;
  bool writes;
  const ByteRows* rows = nullptr;  // the command's
};

using AccessList = pool::Vector<Access>;

class Command : public Event, protected port::Operation {
 public:
  // Links the command into its queue and starts it as soon as its dependencies allow. The caller
  // has its own reference. Takes over the reference that the constructor made.
  void enqueue(WaitList waits);
  // Its work is that of commands of its own, on streams of theirs.
  virtual bool hasParts() const { return false; }
  // Whose streams it runs on, from when it was submitted on.
  Device& device() const { return *device_; }
  uint64_t expectedEnd() const noexcept override {
    return expected_end_.load(std::memory_order_relaxed);
  }

 protected:
  Command(Queue& queue, cl_command_type type);
  // Belongs to no queue, runs on `device`'s transfer stream. `resolved`: touches nothing by itself.
  Command(Context& context, Device& device, bool resolved);

  // The memory space the command works in, where its accesses have to be valid.
  port::MemorySpace space() const { return space_; }
  void setSpace(port::MemorySpace space) { space_ = space; }
  // Runs on this device's transfer stream instead of its queue's stream.
  void runOn(Device& device);
  // Runs on this member of its queue's device, in the queue's order.
  void runOnMember(Device& member);
  // Undoes either.
  void runAtHome();
  ~Command() override;

  // Appends what the command touches. In contexts of several memory spaces only.
  virtual void accesses(AccessList&) {}
  // The same before the command's dependencies are done; false when accesses() may then differ.
  virtual bool forecast(AccessList& list) {
    accesses(list);
    return true;
  }
  // For a prefetch, which does nothing rather than waiting for others or taking their memory: the
  // number under which the command it works for announced its writes. 0 for all others.
  virtual uint64_t prefetchesFor() const { return 0; }
  // Has that command ended? Others may use the bytes since, the host too, and order nothing behind
  // the prefetch.
  virtual bool comesTooLate() const { return false; }
  // It may run on whichever device has the bytes already.
  virtual bool runsWhereTheBytesAre() const { return false; }
  // All that the command does is its work, on a stream of the device: nothing of it is done by
  // prepare(), and no function of the application is called. It may be submitted while what is
  // ahead of it in the stream has not ended.
  virtual bool isDeviceWork() const { return false; }
  // And that is the one operation which the command is, or those of its parts.
  virtual bool isOneOperation() const { return true; }
  // Those that have not ended, of one that has been submitted.
  virtual std::vector<Ref<Command>> parts() { return {}; }
  // Has its work been done as far as its device was to do it, although it ends with this failure?
  virtual bool ranDespite(cl_int) const { return false; }
  // Can it do its work in another way, now that it failed so and nothing of it has begun?
  virtual bool hasAnotherWay(cl_int) noexcept { return false; }
  // Does so. All that was ahead of it has ended, and what it had claimed, if anything, under that
  // ticket was given up. It is ready again with the end of what it then waits for.
  virtual void goAnotherWay(std::optional<uint64_t>) noexcept {}
  // Under which it claims instead of one of its own: that of a command which is waited for in its
  // place, and would wait for whom it found in its way.
  virtual std::optional<uint64_t> inheritedTicket() const { return std::nullopt; }
  // What stands in its queue's order where it is a part of that; compared only.
  virtual const void* placeInQueue() const noexcept { return this; }
  // Has it failed before anything of its work began, although it was submitted?
  virtual bool neverBegan() const { return false; }
  // Somebody looks at when the device began and ended it.
  virtual bool isMeasured() const { return event_wanted_ && queue() && queue()->profiling(); }
  // Operations of other streams are going to run behind this very one: as behind transfers, and
  // what other commands are made of.
  virtual bool isAwaited() const { return !queue(); }
  // Somebody waits for its end, on the host.
  virtual bool endIsWanted() const;
  // Fills `work`, or leaves it empty when there is nothing to run. Throws Error; that fails the
  // command.
  virtual void prepare() {}
  // Hands `work` over, and may be gone then. A command of several operations hands over those.
  virtual void submitTo(port::Stream& stream) noexcept { stream.submit(*this); }
  // It is about to be submitted, and leads: what it is going to write is entered.
  virtual void enter() noexcept;
  // What it ends with when one that it depends on has failed.
  virtual cl_int dependencyFailure() const noexcept {
    return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  // For messages.
  virtual std::string what() const;
  // For a recording of the process.
  virtual std::string traceName() const { return what(); }
  virtual void describe(profiling::trace::CommandRecord&) const noexcept {}
  // Markers and barriers have their own place in an out-of-order queue.
  virtual Queue::Ordering ordering() const { return Queue::Ordering::command; }

  void ready() noexcept override;
  void refused() noexcept override;
  // From within ready(): true when the command now waits for the end of what it could be submitted
  // behind, and will be ready again.
  bool waitForAhead() noexcept { return waitForEnds(true); }
  // The same, of what its device cannot wait for.
  bool waitForOthers() noexcept { return waitForEnds(false); }
  // What it is or was submitted behind and has not ended.
  struct Predecessor {
    Ref<Command> command;
    bool carries_failure;  // its failure is this one's
  };
  std::vector<Predecessor> predecessors();
  template <class F>
  void forPredecessors(F&& function) const {
    if (hasPrevious()) function(static_cast<const Command&>(*place_));
    if (ahead_)
      for (const Predecessor& earlier : ahead_->commands) function(*earlier.command);
  }
  // The latest end of those that have.
  uint64_t predecessorsEnded() const { return predecessors_ended_; }
  void goBehind(Command& earlier, bool carries_failure);
  // What nobody reckons by itself ends when what it waits for does, more or less.
  void expectEnd(uint64_t end) noexcept { expected_end_.store(end, std::memory_order_relaxed); }
  // All of its work was submitted.
  void letFollowersGo() noexcept;

  // As waitFor(dependency, true), but where the devices can wait for each other only until that was
  // submitted.
  void runBehind(Event& dependency);
  // A command of no queue, which has not been started.
  void runBehind(Command& transfer);

 private:
  friend class Queue;
  friend class Residency;
  friend class Resolver;

  // Waits until `previous`, which comes before it in its queue, has ended, or where both may run
  // ahead until that was submitted. Only while the guard is held.
  void follow(const Ref<Event>& previous);
  void waitForSubmission(Command& earlier);
  void expectAfter(const Event& earlier) noexcept {
    expectEnd(std::max(expectedEnd(), earlier.expectedEnd()));
  }
  void settle(const Access& access, bool lost, bool done) noexcept;
  bool lostItsInput() const noexcept;
  void requireInput() noexcept;

  void record(cl_int status) noexcept override;
  void settle(cl_int status) noexcept override;
  void notified() noexcept override;
  void started(port::Nanoseconds when) noexcept override;
  void finished(port::OperationStatus status, port::Nanoseconds start,
                port::Nanoseconds end) noexcept override;
  void start() noexcept;
  void submit() noexcept;
  void resolve() noexcept;
  // Nothing of its work has begun, or will.
  void endUnbegun() noexcept;
  // Runs `function` where no caller could catch: its exception is the command's failure.
  template <class F>
  void attempt(F&& function) noexcept {
    try {
      function();
    } catch (...) {
      takeFailure();
    }
  }
  void takeFailure() noexcept;
  void report(cl_int status, const char* why) const noexcept;

  // --- behind what was submitted (run_behind.cpp) ---
  // Commands of one group can wait for each other on their devices; 0: this one cannot.
  uint64_t fenceGroup() const noexcept;
  bool leads() const noexcept;
  bool isInQueueOrder() const noexcept;
  bool canFollow(const Command& earlier) const noexcept;
  bool mayRunBehind(const Event& dependency) const noexcept;
  void addAhead(Command& earlier, bool carries_failure);  // it is not among them
  // If its failure is known when this command ends, at the latest.
  void failWith(Command& maker);
  // Does this command end after that earlier one, whose claim overlaps its own, by what it was to
  // be submitted behind?
  bool endsAfter(const Command& earlier) const noexcept;
  bool comesLater(const Command& earlier) const noexcept;
  // And does it fail if that one does?
  bool failsWith(const Command& earlier) const noexcept;
  // Is something before it in its in-order queue that has not ended, as far as it knows?
  bool hasPrevious() const noexcept;
  // Is it behind anything that may be on the device still?
  bool hasPredecessors() const noexcept;
  // Forgets what has ended, and notes if it failed.
  void dropEnded() noexcept;
  // Has the command wait for the ends of what it was to be submitted behind: of all, or of what it
  // cannot follow on the device. False when there is nothing to wait for.
  bool linkToEnds(bool all, std::vector<Ref<Queue>>& queues);
  template <class F>
  void forEnds(bool all, F&& function);
  bool waitForEnds(bool all) noexcept;
  void gatherParts();
  void gatherAhead();
  void conclude() noexcept;

  // --- data ahead of use (prefetch.cpp) ---
  // Says what a command that has to wait is going to touch. `predecessor`: in an in-order queue.
  void announce(const Ref<Event>& predecessor, WaitList waits) noexcept;
  bool isNear(const Ref<Event>& predecessor, WaitList waits);
  // Starts to bring what the command reads to its space. While its guard is held.
  void prefetch() noexcept;
  Command* nextInQueue() noexcept;

  DeviceCounters* counters_;
  Device* device_;
  port::Stream* stream_;
  // In an in-order queue that runs ahead: the command before, until that has ended.
  Ref<Event> place_;
  Join* epoch_ = nullptr;  // in an out-of-order queue: expects the command, and lives until then
  // Who waits for this command to be submitted, if it leads, or else to end.
  std::atomic<Edge*> followers_{nullptr};
  // What this command is to be submitted behind, and then what it was, as long as that has not
  // ended.
  struct Ahead : pool::Pooled {
    pool::Vector<Predecessor> commands;
    pool::Vector<Ref<Command>> makers;                // of what it reads, nothing to wait for
    pool::Vector<const port::Operation*> operations;  // of other streams
  };
  std::unique_ptr<Ahead> ahead_;
  uint64_t predecessors_ended_ = 0;
  std::atomic<uint64_t> expected_end_{0};
  // In-order: waits for this one; this one itself when it was submitted before there was one.
  std::atomic<Command*> successor_{nullptr};
  std::unique_ptr<Resolution> resolution_;  // in contexts of several spaces
  port::MemorySpace space_;
  bool in_queue_stream_;  // of its queue's order
  bool resolved_;
  std::atomic<bool> prefetched_{false};
  bool prepared_ = false;
  bool submitted_ = false;
  bool ran_ = false;  // finished() was called
  bool event_wanted_ = true;
  cl_int failure_ = CL_SUCCESS;
};

// "a kernel", "a buffer copy", ...
const char* nameOf(cl_command_type type) noexcept;

// Appends what a command does to `rows` of an object's storage.
void appendRows(AccessList& list, MemObject& object, const ByteRows& rows, bool reads, bool writes);

// Where the bytes at `offset` of an object's storage are in `space`, as one end of a copy.
port::Location locate(MemObject& object, port::MemorySpace space, size_t offset);

// Makes a command of type C and puts it into the graph.
template <class C, class... Args>
Ref<Event> enqueueCommand(WaitList waits, Queue& queue, Args&&... args) {
  C* const command = new C(queue, std::forward<Args>(args)...);
  command->retainUnshared();
  Ref<Event> event = Ref<Event>::adopt(command);
  command->enqueue(waits);
  return event;
}

}  // namespace weft
