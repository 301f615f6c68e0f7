// cl_command_queue. Specification 5.1.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/context.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "core/spin_lock.h"
#include "scheduler/event.h"
#include "scheduler/lazy_stream.h"

namespace weft {

class Command;
struct DeviceCounters;

// Completes when everything it expects has arrived and it was closed. Linear: no edges. It holds
// guards for more than it will expect, so that only who arrives changes what it waits for: the
// thread that enqueues and the one that completes commands do not hand that line to and fro.
// expect() and close() are for one thread at a time.
class Join final : public Event {
 public:
  // `ahead`: for how many it has guards at a time.
  explicit Join(Context& context, uint32_t ahead = uint32_t{1} << 30);

  void expect() noexcept {
    if (++expected_ == ahead_) renew();
  }
  // Of one that was expected. The join may be gone then: it lives until it was closed and the last
  // one has arrived.
  void arrive() noexcept { releaseGuard(); }
  // Nothing more will be expected.
  void close() noexcept {
    retain();  // complete() gives up one reference
    dropGuards(ahead_ - expected_);
    releaseGuard();
  }

 private:
  void renew() noexcept { holdAgain(std::exchange(expected_, 0)); }
  void ready() noexcept override { complete(CL_COMPLETE); }

  const uint32_t ahead_;
  uint32_t expected_ = 0;
};

// A property of queues of unified devices: CL_QUEUE_SPLIT_POLICY_WEFT, a cl_split_policy_weft.
inline constexpr cl_queue_properties split_policy = 0x10F013;
enum class SplitPolicy : cl_queue_properties { automatic, never, always };

// Thread-safe. Kept alive by its commands until they complete and by their events.
class Queue final : public HandleObject<_cl_command_queue> {
 public:
  // `list` is the property list as passed, 0-terminated, or empty (CL_QUEUE_PROPERTIES_ARRAY).
  Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
        std::vector<cl_queue_properties> list);

  Context& context() const { return *context_; }
  Device& device() const { return *device_; }
  cl_command_queue_properties properties() const { return properties_; }
  const std::vector<cl_queue_properties>& propertyList() const { return property_list_; }
  // Of the list; 0 for what it does not name.
  cl_queue_properties property(cl_queue_properties name) const;
  bool outOfOrder() const { return properties_ & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE; }
  bool profiling() const { return properties_ & CL_QUEUE_PROFILING_ENABLE; }

  // In order, and commands may go to a device while it is still at earlier ones.
  bool runsAhead() const { return runs_ahead_ && !outOfOrder(); }
  // May a thread that waits for one command only have assist() deal with others of the queue? Where
  // the device runs ahead that runs nothing, but looks for ends.
  bool mayAssist() const { return device_->capabilities().runs_ahead || !outOfOrder(); }
  // The device's, or a member's: port::Capabilities::fence_group.
  uint64_t fenceGroup() const { return fence_group_; }

  void flush();
  // Has ends told that can be told at once, on whichever device its commands are.
  void poll() noexcept;
  void leave() noexcept;
  // The same on the members of its device alone: what it is made of runs in other streams, too.
  void flushMembers();
  void pollMembers() noexcept;
  // Blocks until everything enqueued before the call has completed.
  void finish();

  port::Stream& stream() const { return *stream_; }
  // Of the queue's order, on a member of its device. Made on first use.
  port::Stream& streamOn(const Device& member);

  // An unordered one of the same device, policy and profiling, for what a command of this queue
  // consists of. Made on first use; the application has no part in it.
  Ref<Queue> inner();

  // Blocks until everything enqueued before the call has completed in every queue of the context.
  static void finishAll(const Context& context);

 private:
  friend class Command;
  friend class Event;
  friend class MarkerCommand;
  enum class Ordering : uint8_t { command, marker, barrier };

  struct Tail {
    Ref<Event> last;     // in-order: the newest command
    Ref<Event> barrier;  // out-of-order: the newest barrier
    Ref<Join> epoch;     // out-of-order: join of the commands since the last marker or barrier
  };

  // Places `command` behind what it must follow by the queue's rules (specification 5.13). Returns
  // the command before it in an in-order queue.
  Ref<Event> order(Command& command, Ordering ordering, bool has_wait_list);
  void startEpoch(Tail& tail, Command& marker);
  // Of a command that has ended: gives the reference up, as a ReleaseBatch does while the
  // application has the queue.
  static void giveUp(Ref<Queue> reference) noexcept;
  void onLastHandleReleased() noexcept override;
  void dispose() noexcept override;

  // What all commands look at is not in a line that each of them writes: that of the count, or that
  // of the tail.
  alignas(pool::line_bytes) Ref<Context> context_;
  std::atomic<bool> given_up_{false};  // by the application
  Ref<Device> device_;
  cl_command_queue_properties properties_;
  std::vector<cl_queue_properties> property_list_;
  DeviceCounters& counters_;
  const bool runs_ahead_;  // the device does, or a member of it
  const uint64_t fence_group_;
  std::unique_ptr<port::Stream> createStream(Device& device) const;

  std::unique_ptr<port::Stream> stream_;
  std::vector<LazyStream> member_streams_;  // parallel to the device's members
  alignas(pool::line_bytes) Guarded<Tail, SpinLock> tail_;
  Guarded<Ref<Queue>> inner_;
};

}  // namespace weft
