#include "scheduler/queue.h"

#include <algorithm>

#include "core/reaper.h"
#include "core/release_batch.h"
#include "scheduler/command.h"
#include "scheduler/enqueue.h"
#include "scheduler/state.h"
#include "scheduler/step.h"
#include "scheduler/tracing.h"

namespace weft {

Join::Join(Context& context, uint32_t ahead)
    : Event(context, nullptr, CL_COMMAND_MARKER, CL_QUEUED), ahead_(ahead) {
  holdAgain(ahead);
}

namespace {

// Any device that commands of the queue may go to: the first one that it is true of counts.
template <class Value>
Value ofAny(const Device& device, Value port::Capabilities::* what) {
  Value found = device.capabilities().*what;
  for (const Ref<Device>& member : device.members())
    if (!found) found = member->capabilities().*what;
  return found;
}

}  // namespace

Queue::Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
             std::vector<cl_queue_properties> list)
    : context_(std::move(context)),
      device_(std::move(device)),
      properties_(properties),
      property_list_(std::move(list)),
      counters_(State::of(*context_).counters(*device_)),
      runs_ahead_(ofAny(*device_, &port::Capabilities::runs_ahead)),
      fence_group_(ofAny(*device_, &port::Capabilities::fence_group)),
      stream_(createStream(*device_)),
      member_streams_(device_->members().size()) {
  // Not first while the ticket lock is held.
  for (const Ref<Device>& member : device_->members()) State::of(*context_).transferStream(*member);
  State::of(*context_).queues().with([&](auto& queues) { queues.push_back(this); });
  tracing::noteQueue(*this);
}

Ref<Event> Queue::order(Command& command, Ordering ordering, bool has_wait_list) {
  step::point();
  const step::Quiet quiet;
  auto tail = tail_.lock();
  if (!outOfOrder()) {
    if (tail->last) command.follow(tail->last);
    command.retainUnshared();  // nobody else has got it yet
    return std::exchange(tail->last, Ref<Event>::adopt(&command));
  }
  if (tail->barrier) {
    if (tail->barrier->done())
      tail->barrier = nullptr;
    else
      command.waitFor(*tail->barrier, false);
  }
  if (ordering != Ordering::command && !has_wait_list) startEpoch(*tail, command);
  if (ordering == Ordering::barrier) tail->barrier = Ref<Event>(&command);
  if (!tail->epoch) tail->epoch = make<Join>(*context_);
  tail->epoch->expect();
  command.epoch_ = tail->epoch.get();
  return nullptr;
}

// `marker` waits for everything so far; what comes after is counted anew, on top of it.
void Queue::startEpoch(Tail& tail, Command& marker) {
  if (!tail.epoch) return;
  auto next = make<Join>(*context_);
  next->waitFor(*tail.epoch, false);
  marker.waitFor(*tail.epoch, false);
  tail.epoch->close();
  tail.epoch = std::move(next);
}

cl_queue_properties Queue::property(cl_queue_properties name) const {
  for (size_t i = 0; i + 1 < property_list_.size(); i += 2)
    if (property_list_[i] == name) return property_list_[i + 1];
  return 0;
}

std::unique_ptr<port::Stream> Queue::createStream(Device& device) const {
  return device.port().createStream(outOfOrder() ? port::Order::unordered : port::Order::in_order);
}

port::Stream& Queue::streamOn(const Device& member) {
  const auto& members = device().members();
  const auto found =
      std::ranges::find(members, &member, [](const auto& each) { return each.get(); });
  return member_streams_[static_cast<size_t>(found - members.begin())].get(
      [&] { return createStream(**found); });
}

Ref<Queue> Queue::inner() {
  const auto inner = inner_.lock();
  if (!*inner)
    *inner = make<Queue>(
        context_, device_,
        (properties_ & CL_QUEUE_PROFILING_ENABLE) | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        property_list_);
  return *inner;
}

// Without a lock: what comes of it may ask for a stream.
void Queue::flush() {
  stream_->flush();
  flushMembers();
}

void Queue::flushMembers() {
  for (const LazyStream& entry : member_streams_)
    if (port::Stream* const made = entry.made()) made->flush();
}

void Queue::poll() noexcept {
  stream_->poll();
  pollMembers();
}

void Queue::leave() noexcept {
  stream_->leave();
  for (const LazyStream& entry : member_streams_)
    if (port::Stream* const made = entry.made()) made->leave();
}

void Queue::pollMembers() noexcept {
  for (size_t i = 0; i < member_streams_.size(); ++i) {
    if (port::Stream* const made = member_streams_[i].made()) made->poll();
    State::of(*context_).pollTransfers(*device_->members()[i]);
  }
}

// Its own stream flushes who waits: in a way that costs less where that is all there is to do.
void Queue::finish() {
  flushMembers();
  if (outOfOrder()) {
    enqueueMarker(*this, {})->wait(Event::Scope::whole_queue);
    return;
  }
  const Ref<Event> last = tail_.with([](Tail& tail) { return tail.last; });
  if (last) last->wait();
}

void Queue::finishAll(const Context& context) {
  std::vector<Ref<Queue>> live;
  State::of(context).queues().with([&](auto& queues) {
    for (Queue* queue : queues)
      if (queue->tryRetain()) live.push_back(Ref<Queue>::adopt(queue));
  });
  // What one of them waits for may be in another.
  for (const Ref<Queue>& queue : live) queue->flush();
  for (const Ref<Queue>& queue : live) queue->finish();
}

void Queue::giveUp(Ref<Queue> reference) noexcept {
  if (!reference->given_up_.load(std::memory_order_relaxed))
    ReleaseBatch::give(std::move(reference));
}

void Queue::onLastHandleReleased() noexcept {
  given_up_.store(true, std::memory_order_relaxed);
  // Nothing can be enqueued any more; commands in flight keep the queue, not the other way round.
  const Tail tail = tail_.with([](Tail& tail) { return std::exchange(tail, {}); });
  if (tail.epoch) tail.epoch->close();
  ReleaseBatch::reclaim(*this);
}

void Queue::dispose() noexcept {
  State::of(*context_).queues().with([&](auto& queues) { std::erase(queues, this); });
  reap(this, [](Object* object) { delete static_cast<Queue*>(object); });
}

}  // namespace weft
