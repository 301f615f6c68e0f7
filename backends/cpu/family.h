// Device-side enqueue. A kernel that the host enqueued and whatever it and its children enqueue are
// a *family*. It takes the host's operation over and finishes it when the last of them has ended,
// so that to everybody else they are one operation: memory stays claimed for all of them, and what
// follows in a queue waits for all of them.
//
// A child is an operation of the family's own stream, which the device's workers serve like any
// other. Nothing waits for a child on a thread, so families need no threads and no stack, however
// deep they are. A child's room is given back to its queue when it has run, whatever became of its
// own children: these are counted by the nearest event of the program's that they are below, or by
// the family.
//
// What waits for something that never happens (a user event that nobody sets, a command below
// itself) is given up when nothing of the family runs any more.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/cpu/device_events.h"
#include "backends/cpu/module.h"
#include "backends/cpu/stream.h"
#include "core/ports/device.h"

namespace weft::cpu {

class Family;

// A kernel of the family while it runs: what it calls the host with.
struct Run : port::HostServices {
  Run(Family& family, Scope* scope);

  Family& family;
  Scope* scope;           // of what it enqueues
  Child* held = nullptr;  // those that wait for its end; under the family's lock
};

// A command that a kernel enqueued. What it takes of its queue's room is given back with it.
struct Child final : port::Operation, Run {
  Child(Family& family, Scope* scope, port::DeviceQueue& queue, uint64_t room)
      : Run(family, scope), queue(queue), room(room) {}
  ~Child() { queue.give(room); }

  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus status, port::Nanoseconds start,
                port::Nanoseconds end) noexcept override;

  port::DeviceQueue& queue;
  const uint64_t room;
  // Set before it is linked.
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> block;
  const void* block_address = nullptr;
  port::LaunchRecord record;
  std::vector<port::LaunchArgument> arguments;
  std::vector<Link> links;  // one for each event of its wait list
  // Under the family's lock.
  DeviceEvent* event = nullptr;  // its own, if the program asked for it
  uint32_t waits = 0;            // for events, and for its parent
  bool refused = false;          // one of them failed
  Child* next = nullptr;         // in the list that it is in
};

class Family {
 public:
  // Does the operation run a kernel that may enqueue others?
  static bool isNeeded(const port::Operation& operation) noexcept;

  // Takes over an operation of `stream`; the caller has the token if it is in-order. Then root() is
  // to be executed as if it came from stream(). nullptr: no memory.
  static Family* take(Executor& executor, StreamCore& stream, port::Operation& operation) noexcept;

  port::Operation& root() noexcept { return root_; }
  StreamCore& stream() noexcept { return *stream_; }

  // The calling thread has run groups of a kernel with these services: what waited for them goes
  // on.
  static void groupsEnded(const port::HostServices& services) noexcept;

 private:
  friend struct Child;
  friend struct Run;

  // The host's operation under the name of the family's first.
  struct Root final : port::Operation, Run {
    explicit Root(Family& family) : Run(family, &family.outermost_) {}
    void started(port::Nanoseconds when) noexcept override { family.operation_.started(when); }
    void finished(port::OperationStatus status, port::Nanoseconds start,
                  port::Nanoseconds end) noexcept override;

    port::LaunchRecord record;
    std::vector<port::LaunchArgument> arguments;
    std::vector<port::ImageDescriptor> images;  // blocks hold their addresses
  };

  // Children that the lock's holder set free: to run once it has let go of it, and to destroy.
  struct Freed {
    Child* ready = nullptr;
    Child* settling = nullptr;
    Child* dead = nullptr;
  };
  using Call = int64_t (Family::*)(Run&, port::DeviceRequest&);

  Family(Executor& executor, StreamCore& stream, port::Operation& operation);

  static int64_t call(const port::HostServices* self, port::DeviceRequest* request) noexcept;

  int64_t enqueueKernel(Run& run, port::DeviceRequest& request);
  int64_t enqueueMarker(Run& run, port::DeviceRequest& request);
  int64_t defaultQueue(Run& run, port::DeviceRequest& request);
  int64_t createUserEvent(Run& run, port::DeviceRequest& request);
  int64_t retainEvent(Run& run, port::DeviceRequest& request);
  int64_t releaseEvent(Run& run, port::DeviceRequest& request);
  int64_t setEventStatus(Run& run, port::DeviceRequest& request);
  int64_t isValidEvent(Run& run, port::DeviceRequest& request);
  int64_t captureProfiling(Run& run, port::DeviceRequest& request);
  int64_t workGroupSize(Run& run, port::DeviceRequest& request);
  int64_t workGroupMultiple(Run& run, port::DeviceRequest& request);
  int64_t subGroupCount(Run& run, port::DeviceRequest& request);
  int64_t subGroupSize(Run& run, port::DeviceRequest& request);
  int64_t subGroupLocalSize(Run& run, port::DeviceRequest& request);
  int64_t maxSubGroups(Run& run, port::DeviceRequest& request);

  struct SubGroups {
    int64_t items = 0, width = 1;
  };
  SubGroups subGroupsOf(const port::DeviceRequest& request) const;
  uint32_t widthOf(const port::DeviceRequest& request) const;
  const Module& module() const noexcept;
  std::optional<port::LaunchRecord> recordOf(const port::DeviceRange& range, uint32_t kernel) const;
  int64_t fill(Child& child, const port::DeviceRequest& request, uint32_t kernel,
               const port::LaunchRecord& record) const;
  // Null: the queue has not that much room left.
  std::unique_ptr<Child> childIn(port::DeviceQueue& queue, uint64_t room);
  int64_t place(Run& run, std::unique_ptr<Child> child, port::DeviceRequest& request);

  // --- under the lock ---
  bool waitsAreValid(const port::DeviceRequest& request);
  void link(Run& run, Child& child, const port::DeviceRequest& request);
  void arrive(Child& child, bool failed, Freed& freed) noexcept;
  void settle(Freed& freed) noexcept;
  void endOne(Scope& scope, port::OperationStatus status, Freed& freed) noexcept;
  void finishEvent(DeviceEvent& event, int32_t state, Freed& freed) noexcept;
  void giveUp(Freed& freed) noexcept;

  void ended(Run& run, Child* child, port::OperationStatus status, port::Nanoseconds start,
             port::Nanoseconds end) noexcept;
  void letGo(Child* list) noexcept;
  // Runs those that are ready. The family may be gone then.
  void go(const Freed& freed) noexcept;
  void finish() noexcept;

  Executor& executor_;
  StreamCore& host_stream_;
  const bool in_order_;
  port::Operation& operation_;
  const Ref<StreamCore> stream_;

  std::mutex mutex_;
  Scope outermost_{nullptr, 1, 0};
  DeviceEvents events_;
  uint64_t running_ = 1;
  uint64_t waiting_ = 0;
  port::Nanoseconds start_ = 0, end_ = 0;
  Root root_{*this};
};

}  // namespace weft::cpu
