// Device-side enqueue on the CPU. A family (core/enqueued_commands.h) takes the host's operation
// over and finishes it when the last of its commands has ended, so that to everybody else they are
// one operation: memory stays claimed for all of them, and what follows in a queue waits for all of
// them.
//
// A child is an operation of the family's own stream, which the device's workers serve like any
// other. Its room is given back to its queue when it has run, whatever became of its own children.
//
// What waits for something that never happens (a user event that nobody sets, a command below
// itself) is given up when nothing of the family runs any more.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/cpu/module.h"
#include "backends/cpu/stream.h"
#include "core/enqueued_commands.h"
#include "core/ports/device.h"
#include "core/ports/pixels.h"

namespace weft::cpu {

class Family;

// A kernel of the family while it runs: what it calls the host with.
struct Run : port::HostServices {
  Run(Family& family, CommandScope* scope);

  Family& family;
  CommandScope* scope;              // of what it enqueues
  EnqueuedCommand* held = nullptr;  // those that wait for its end; under the family's lock
};

// A command that a kernel enqueued. What it takes of its queue's room is given back with it.
struct Child final : port::Operation, EnqueuedCommand, Run {
  Child(Family& family, port::DeviceQueue& queue, uint64_t room)
      : Run(family, nullptr), queue(queue), room(room) {}
  ~Child() override { queue.give(room); }

  bool hasWork() const noexcept override { return !std::holds_alternative<std::monostate>(work); }

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
};

class Family final : EnqueuedCommands {
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
    explicit Root(Family& family) : Run(family, &family.outermost()) {}
    void started(port::Nanoseconds when) noexcept override { family.operation_.started(when); }
    void finished(port::OperationStatus status, port::Nanoseconds start,
                  port::Nanoseconds end) noexcept override;

    port::LaunchRecord record;
    std::vector<port::LaunchArgument> arguments;
    std::vector<port::CpuImage> images;  // blocks hold their addresses
  };

  using Call = int64_t (Family::*)(Run&, port::DeviceRequest&);

  Family(Executor& executor, StreamCore& stream, port::Operation& operation);

  port::Nanoseconds now() const noexcept override;
  void writeProfile(uint64_t address, DeviceEvent::Profile profile) noexcept override;

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
  void hold(Run& run, Child& child, int32_t flags) noexcept;
  void arriveAll(EnqueuedCommand* list, Freed& freed) noexcept;

  void ended(Run& run, Child* child, port::OperationStatus status, port::Nanoseconds start,
             port::Nanoseconds end) noexcept;
  void letGo(EnqueuedCommand* list) noexcept;
  // Runs those that are ready. The family may be gone then.
  void go(Freed& freed) noexcept;
  void finish() noexcept;

  Executor& executor_;
  StreamCore& host_stream_;
  const bool in_order_;
  port::Operation& operation_;
  const Ref<StreamCore> stream_;

  std::mutex mutex_;  // of the commands and events
  port::Nanoseconds start_ = 0, end_ = 0;
  Root root_{*this};
};

}  // namespace weft::cpu
