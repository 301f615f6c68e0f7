#include "scheduler/event.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/reaper.h"
#include "core/thread_local.h"
#include "profiling/clock.h"
#include "scheduler/callbacks.h"
#include "scheduler/queue.h"
#include "scheduler/state.h"
#include "scheduler/step.h"
#include "scheduler/tracing.h"

namespace weft {
namespace {

// The head of a waiter list that takes no more waiters.
Edge* closed() noexcept {
  static Edge mark;
  return &mark;
}

void futex(std::atomic<cl_int>& word, int operation, int value) noexcept {
  syscall(SYS_futex, reinterpret_cast<int*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr,
          nullptr, 0);
}

void relax() noexcept { __builtin_ia32_pause(); }

}  // namespace

// Nodes that became ready on this thread while another is being completed. Completing or starting
// them from a loop instead of by recursion keeps the stack flat however long the chain is.
class CompletionList {
 public:
  // Runs `node`'s ready(), or queues it when this thread is already in the loop.
  static void run(Event& node) noexcept {
    CompletionList& list = current();
    // In a large graph most of it has left the caches: better all lines at once than one by one as
    // they are needed.
    pool::prefetch(&node, Event::usual_bytes);
    node.next_ready_ = nullptr;
    (list.head_ ? list.last_->next_ready_ : list.head_) = &node;
    list.last_ = &node;
    if (list.running_) return;
    list.running_ = true;
    while (Event* next = list.head_) {
      list.head_ = next->next_ready_;
      // It may have waited in this list for long.
      if (list.head_) pool::prefetch(list.head_, Event::usual_bytes);
      if (next->dependencyFailed())
        next->refused();
      else
        next->ready();
    }
    list.running_ = false;
  }

 private:
  static CompletionList& current() noexcept {
    WEFT_THREAD_LOCAL static constinit CompletionList list;
    return list;
  }

  Event* head_ = nullptr;
  Event* last_ = nullptr;  // if there is a first
  bool running_ = false;
};

Event::Event(Context& context, Queue* queue, cl_command_type type, cl_int initial)
    : status_(initial), type_(type), context_(&context), queue_(queue) {
  if (!queue) context.retain();
}

Event::~Event() {
  delete callbacks_.load(std::memory_order_acquire);
  if (queue_)
    Queue::giveUp(std::move(queue_));
  else
    context_->release();
}

Edge& Event::newEdge() {
  if (edge_count_ < inline_edges) return edges_[edge_count_++];
  if (!more_edges_ || more_edges_->count == more_edges_->edges.size()) {
    auto block = std::make_unique<EdgeBlock>();
    block->next = std::move(more_edges_);
    more_edges_ = std::move(block);
  }
  return more_edges_->edges[more_edges_->count++];
}

void Event::waitFor(Event& dependency, bool carries_failure) {
  step::point();
  if (carries_failure && tracing::on()) tracing::noteDependency(*this, dependency);
  if (dependency.done()) {
    if (carries_failure && dependency.status() < 0)
      dependency_failed_.store(true, std::memory_order_release);
    return;
  }
  Edge& edge = newEdge();
  edge.set(*this, carries_failure);
  // If not, it finished meanwhile.
  if (!linkTo(dependency.waiters_, edge) && carries_failure && dependency.status() < 0)
    dependency_failed_.store(true, std::memory_order_release);
}

bool Event::linkTo(std::atomic<Edge*>& nodes, Edge& edge) noexcept {
  // The guard is held. While that is all, no other thread counts, and an atomic addition would wait
  // until the new node is in this core's caches.
  const bool alone = pending_.load(std::memory_order_relaxed) == 1;
  if (alone)
    pending_.store(2, std::memory_order_relaxed);
  else
    pending_.fetch_add(1, std::memory_order_relaxed);
  step::point();
  if (push(nodes, edge)) return true;
  if (alone)
    pending_.store(1, std::memory_order_relaxed);
  else
    pending_.fetch_sub(1, std::memory_order_relaxed);
  step::point();
  return false;
}

bool Event::push(std::atomic<Edge*>& nodes, Edge& edge) noexcept {
  Edge* head = nodes.load(std::memory_order_acquire);
  do {
    step::point();
    if (head == closed()) return false;
    edge.next = head;
  } while (!nodes.compare_exchange_weak(head, &edge, std::memory_order_release,
                                        std::memory_order_acquire));
  return true;
}

Edge* Event::close(std::atomic<Edge*>& nodes) noexcept {
  step::point();
  Edge* edge = nodes.exchange(closed(), std::memory_order_acq_rel);
  if (edge == closed()) return nullptr;  // by another thread, or before
  // The list is newest first.
  Edge* reversed = nullptr;
  while (edge) {
    Edge* next = edge->next;
    pool::prefetch(edge->waiter());  // its counts; the edge may lie in another line
    edge->next = reversed;
    reversed = edge;
    edge = next;
  }
  return reversed;
}

// An edge lies within the first lines of its waiter, unless that has many.
void Event::fetchWaiters() const noexcept {
  const Edge* const newest = waiters_.load(std::memory_order_relaxed);
  if (!newest) return;
  pool::prefetch(newest);
  pool::prefetch(reinterpret_cast<const std::byte*>(newest) - pool::line_bytes);
}

void Event::fetchNextReady() const noexcept {
  const Edge* const newest = waiters_.load(std::memory_order_acquire);
  if (!newest) return;
  const Event* const waiter = newest->waiter();
  if (newest->next) pool::prefetch(newest->next);
  if (waiter->pending_.load(std::memory_order_relaxed) == 1)
    pool::prefetch(waiter, usual_bytes);
  else
    pool::prefetch(waiter);
}

bool Event::watched() const noexcept {
  return waiters_.load(std::memory_order_relaxed) != nullptr ||
         sleepers_.load(std::memory_order_relaxed) > 0 || hasCallbacks();
}

void Event::releaseGuard() noexcept { dependencyDone(CL_COMPLETE, false); }

void Event::holdAgain(uint32_t guards) noexcept {
  pending_.fetch_add(guards, std::memory_order_relaxed);
}

void Event::dropGuards(uint32_t guards) noexcept {
  step::point();
  pending_.fetch_sub(guards, std::memory_order_release);
}

void Event::dependencyDone(cl_int status, bool carries_failure) noexcept {
  step::point();
  if (carries_failure && status < 0) dependency_failed_.store(true, std::memory_order_release);
  // Only who is counted counts others: of the last one nobody else does.
  if (pending_.load(std::memory_order_acquire) == 1)
    pending_.store(0, std::memory_order_relaxed);
  else if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  CompletionList::run(*this);
}

void Event::advance(cl_int status) noexcept {
  status_.store(status, std::memory_order_release);
  if (has_callbacks_.load(std::memory_order_acquire)) fireCallbacks(status);
}

void Event::complete(cl_int status) noexcept {
  const RuntimeScope scope;
  step::point();
  if (tracing::on()) record(status);
  settle(status);
  finalize(status);
  step::point();
  if (queue_ && queue_->profiling())
    times_.completed.store(profiling::now(), std::memory_order_relaxed);
  // Sequentially consistent with the sleeper's count and the callbacks' flag: either this thread
  // sees them, or they see the final status.
  status_.store(status, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) wake();
  if (has_callbacks_.load(std::memory_order_seq_cst)) fireCallbacks(status);
  tell(close(waiters_), status);
  notified();
  release();  // the reference that kept the node alive until now
}

void Event::tell(Edge* edge, cl_int status) noexcept {
  while (edge) {
    // The waiter, which owns the edge, may be gone once it was told.
    Edge* const next = edge->next;
    edge->waiter()->dependencyDone(status, edge->carriesFailure());
    edge = next;
  }
}

void Event::wake() noexcept { futex(status_, FUTEX_WAKE, INT32_MAX); }

cl_int Event::poll() noexcept {
  // Not from what a driver calls: it must not be called there.
  if (!done() && queue_ && !inRuntimeScope()) queue_->poll();
  return status();
}

cl_int Event::wait(Scope scope) {
  if (!done() && queue_) {
    if (scope == Scope::whole_queue || queue_->mayAssist())
      queue_->stream().assist([this] {
        if (!done()) queue_->pollMembers();
        return done();
      });
    else
      queue_->flush();
  }
  constexpr int spins = 50;  // a few microseconds: the time a wake-up would take
  for (int i = 0; i < spins && !done(); ++i) relax();
  if (done()) return status();
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  for (cl_int seen = status_.load(std::memory_order_seq_cst); seen > CL_COMPLETE;
       seen = status_.load(std::memory_order_seq_cst))
    futex(status_, FUTEX_WAIT, seen);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  return status();
}

Event::CallbackList& Event::callbacks() {
  if (CallbackList* const made = callbacks_.load(std::memory_order_acquire)) return *made;
  auto fresh = std::make_unique<CallbackList>();
  CallbackList* found = nullptr;
  if (callbacks_.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *found;
}

void Event::addCallback(cl_int state, Callback callback, void* user) {
  callbacksOf(*context_).start();
  callbacks().with([&](auto& list) { list.push_back({state, callback, user}); });
  has_callbacks_.store(true, std::memory_order_seq_cst);
  const cl_int now = status_.load(std::memory_order_seq_cst);
  if (now <= state)
    fireCallbacks(now);
  else if (queue_)
    queue_->leave();  // who wants to be called back is not about to wait
}

void Event::fireCallbacks(cl_int status) noexcept {
  auto due = callbacks().with([&](auto& list) {
    std::vector<CallbackEntry> ready;
    std::erase_if(list, [&](const CallbackEntry& entry) {
      if (entry.state < status) return false;
      ready.push_back(entry);
      return true;
    });
    return ready;
  });
  for (const CallbackEntry& entry : due) {
    // "If the callback is called as the result of the command being abnormally terminated, the
    // status is a negative value"; otherwise it is the state that was asked for.
    const cl_int reported = status < 0 ? status : entry.state;
    const auto at = status <= CL_COMPLETE ? Callbacks::At::command_end : Callbacks::At::elsewhere;
    callbacksOf(*context_).post(
        [event = Ref<Event>(this), entry, reported] {
          entry.callback(event->handle(), reported, entry.user);
        },
        at);
  }
}

UserEvent::UserEvent(const Ref<Context>& context)
    : Event(*context, nullptr, CL_COMMAND_USER, CL_SUBMITTED) {
  if (tracing::on()) times_.queued.store(profiling::now(), std::memory_order_relaxed);
}

void UserEvent::setStatus(cl_int status) {
  require(!status_set_.exchange(true), CL_INVALID_OPERATION, "the status was already set");
  retain();  // complete() gives up one reference
  complete(status);
}

void UserEvent::onLastHandleReleased() noexcept {
  // Nobody can set it any more: what waits for it must not wait forever.
  if (!status_set_.exchange(true)) {
    retain();
    complete(CL_INVALID_EVENT);
  }
}

void waitForEvents(WaitList events) {
  bool failed = false;
  for (const Ref<Event>& event : events) failed |= event->wait() < 0;
  require(!failed, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

}  // namespace weft
