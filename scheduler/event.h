// cl_event, and the node of the command graph. Specification 5.11 (events), 5.14 (profiling).
//
// A node counts what it still waits for and lists who waits for it. The list only grows until the
// node completes and closes it; edges are stored in the waiter. Linking to a node that is finishing
// on another thread either pushes or sees 'closed', so no lock is on this path.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/context.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "core/pool.h"

namespace weft {

class Event;
class Queue;

// What a command waits for; and whether anybody may look at the command's own event, which costs
// some devices a while.
struct WaitList : std::span<const Ref<Event>> {
  using std::span<const Ref<Event>>::span;
  bool event_wanted = true;
};

// "waiter waits for the node whose list this edge is in."
class Edge {
 public:
  void set(Event& waiter, bool carries_failure) {
    bits_ = reinterpret_cast<uintptr_t>(&waiter) | (carries_failure ? failure_bit : 0);
  }
  Event* waiter() const { return reinterpret_cast<Event*>(bits_ & ~failure_bit); }
  bool carriesFailure() const { return bits_ & failure_bit; }

  Edge* next = nullptr;

 private:
  static constexpr uintptr_t failure_bit = 1;
  uintptr_t bits_ = 0;  // an event's address is even
};

struct EventTimes {
  std::atomic<cl_ulong> queued{0}, submitted{0}, started{0}, ended{0}, completed{0};
};

// Thread-safe.
class Event : public HandleObject<_cl_event>, public pool::Pooled {
 public:
  using Callback = void(CL_CALLBACK*)(cl_event event, cl_int status, void* user);

  Context& context() const { return *context_; }
  Queue* queue() const { return queue_.get(); }  // null for user events
  cl_command_type type() const { return type_; }
  // CL_QUEUED, CL_SUBMITTED, CL_RUNNING, CL_COMPLETE, or a negative error code.
  cl_int status() const noexcept { return status_.load(std::memory_order_acquire); }
  bool done() const noexcept { return status() <= CL_COMPLETE; }
  const EventTimes& times() const { return times_; }
  // On profiling::now()'s clock; 0: nobody has reckoned it.
  virtual uint64_t expectedEnd() const noexcept { return 0; }

  // status(), after asking the queue's device for ends that it can tell at once.
  cl_int poll() noexcept;

  // Blocks until done; returns status(). Runs commands that this one waits for on the calling
  // thread where the device allows it: those ahead of it in an in-order queue, or, when the whole
  // queue is being finished, any of an out-of-order one.
  enum class Scope : uint8_t { event, whole_queue };
  cl_int wait(Scope scope = Scope::event);

  // Calls back on a thread of the runtime once the status reached `state` (CL_SUBMITTED, CL_RUNNING
  // or CL_COMPLETE) or failed; at once when it already has (specification 5.11,
  // clSetEventCallback).
  void addCallback(cl_int state, Callback callback, void* user);

  // Makes this node wait for `dependency`. Only while the node's guard is held.
  void waitFor(Event& dependency, bool carries_failure);

 protected:
  // Keeps the queue, or the context where there is none.
  Event(Context& context, Queue* queue, cl_command_type type, cl_int initial);
  ~Event() override;

  // All dependencies are gone and none that carries failure has failed. Called once, from any
  // thread.
  virtual void ready() noexcept = 0;
  // Instead, when one has failed.
  virtual void refused() noexcept { complete(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST); }
  // Before the status becomes final: leave a record where the process is recorded; enter what
  // became of the memory; then give up memory objects and arguments.
  virtual void record(cl_int) noexcept {}
  virtual void settle(cl_int) noexcept {}
  virtual void finalize(cl_int) noexcept {}
  // After the waiters were told.
  virtual void notified() noexcept {}

  // Drops the guard that keeps a node from becoming ready while its edges are added.
  void releaseGuard() noexcept;
  // Adds guards: from within ready(), when the node is not ready after all, or while one is held.
  void holdAgain(uint32_t guards = 1) noexcept;
  // Drops all but one of the guards at most.
  void dropGuards(uint32_t guards) noexcept;
  // Of those it waited for when asked, the guard left out.
  uint32_t unfinishedDependencies() const noexcept {
    return pending_.load(std::memory_order_relaxed) - 1;
  }
  // As waitFor(), but of the list `nodes` of the dependency's; false when that is closed, and then
  // this node does not wait.
  bool linkTo(std::atomic<Edge*>& nodes, Edge& edge) noexcept;
  // What complete() will walk through left the caches long ago, or is in those of the thread that
  // enqueued it. To be called some hundred nanoseconds before, one after the other: the newest edge
  // and who it is in; then all of that one if this node is the last that it waits for, and the
  // next.
  void fetchWaiters() const noexcept;
  void fetchNextReady() const noexcept;
  // Closes a list and returns its edges, oldest first.
  static Edge* close(std::atomic<Edge*>& nodes) noexcept;
  Edge& newEdge();
  // Tells the waiters of a closed list that what they wait for has come, with that status.
  static void tell(Edge* edges, cl_int status) noexcept;
  // This node has been told of the end of one that it waits for.
  void dependencyDone(cl_int status, bool carries_failure) noexcept;
  bool dependencyFailed() const noexcept {
    return dependency_failed_.load(std::memory_order_acquire);
  }
  void noteFailedDependency() noexcept {
    dependency_failed_.store(true, std::memory_order_release);
  }
  bool hasCallbacks() const noexcept { return has_callbacks_.load(std::memory_order_relaxed); }
  // Does anybody look at this node's end, as far as is known by now?
  bool watched() const noexcept;

  // Publishes a status on the way to completion.
  void advance(cl_int status) noexcept;
  // Ends the node, tells everybody, iteratively. `status` is CL_COMPLETE or negative.
  void complete(cl_int status) noexcept;

 private:
  friend class CompletionList;
  struct CallbackEntry {
    cl_int state;
    Callback callback;
    void* user;
  };
  using CallbackList = Guarded<std::vector<CallbackEntry>>;
  static constexpr size_t inline_edges = 3;
  static constexpr size_t usual_bytes = 768;  // a launch's
  struct EdgeBlock : pool::Pooled {
    std::array<Edge, 15> edges;
    uint32_t count = 0;
    std::unique_ptr<EdgeBlock> next;
  };

  CallbackList& callbacks();
  static bool push(std::atomic<Edge*>& nodes, Edge& edge) noexcept;
  void fireCallbacks(cl_int status) noexcept;
  void wake() noexcept;

  // In the order in which linking and completion come by: in a large graph most nodes have left the
  // caches by then. Up to `edge_count_` it is what follows the reference counts in their line.
  std::atomic<cl_int> status_;
  std::atomic<Edge*> waiters_{nullptr};
  Event* next_ready_ = nullptr;  // CompletionList's
  std::atomic<uint32_t> pending_{1};
  std::atomic<bool> dependency_failed_{false};
  std::atomic<bool> has_callbacks_{false};
  uint16_t edge_count_ = 0;  // up to those that are inline
  std::array<Edge, inline_edges> edges_;
  std::unique_ptr<EdgeBlock> more_edges_;
  std::atomic<uint32_t> sleepers_{0};
  cl_command_type type_;
  Context* context_;  // the queue keeps it, or this event does
  Ref<Queue> queue_;
  std::atomic<CallbackList*> callbacks_{nullptr};  // made with the first one; few events have any

 protected:
  EventTimes times_;
};

// clCreateUserEvent.
class UserEvent final : public Event {
 public:
  explicit UserEvent(const Ref<Context>& context);
  // clSetUserEventStatus; throws CL_INVALID_OPERATION the second time.
  void setStatus(cl_int status);

 private:
  void ready() noexcept override {}
  void record(cl_int status) noexcept override;
  void onLastHandleReleased() noexcept override;

  std::atomic<bool> status_set_{false};
};

// Waits for every event, then throws CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one failed.
void waitForEvents(WaitList events);

}  // namespace weft
