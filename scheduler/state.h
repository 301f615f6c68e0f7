// The scheduler's side of a context.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/brief_mutex.h"
#include "core/context.h"
#include "core/guarded.h"
#include "partition/earliest_finish.h"
#include "profiling/store.h"
#include "scheduler/callbacks.h"
#include "scheduler/context_state.h"
#include "scheduler/device_memory.h"
#include "scheduler/device_work.h"
#include "scheduler/family_turns.h"
#include "scheduler/lazy_stream.h"

namespace weft {

class Queue;

// Counted with relaxed order: read for reports only.
struct DeviceCounters {
  DeviceWork work;  // without transfers
  std::atomic<uint64_t> bytes_in{0}, bytes_out{0}, transfers{0}, evictions{0};
};

// Thread-safe.
class State final : public ContextState {
 public:
  // Held while a command resolves all its memory objects. The number is the ticket it draws: every
  // edge that residency adds points to a lower one.
  struct Tickets {
    uint64_t next = 0;
    uint64_t announced = 0;  // commands that said what they are going to write
    // Of the spaces that devices own, other than the host's.
    std::vector<DeviceMemory> memories;

    DeviceMemory* memoryIn(port::MemorySpace space);
  };

  explicit State(Context& context);
  ~State() override;

  static State& of(const Context& context) { return static_cast<State&>(context.state()); }

  Guarded<Tickets, BriefMutex>& tickets() { return tickets_; }
  Callbacks& callbacks() { return callbacks_; }
  // Of the context. One whose last reference is gone stays until it is disposed of.
  Guarded<std::vector<Queue*>>& queues() { return queues_; }
  MemoryTraffic& memoryTraffic() { return memory_traffic_; }
  // Bytes that memory objects may take up together where the device has its memory. Takes the
  // ticket lock.
  uint64_t memoryFor(const Device& device) const;
  DeviceCounters& counters(const Device& device);
  // Of the device that owns the space; null for the host's space when no device lives there.
  Device* owner(port::MemorySpace space) const;
  // The device whose streams can copy from one space to the other; null when it takes two steps
  // through host memory.
  Device* mover(port::MemorySpace source, port::MemorySpace target) const;
  // Has any command failed while it wrote, ever?
  bool hasLosses() const noexcept { return losses_.load(std::memory_order_acquire); }
  void noteLoss() noexcept { losses_.store(true, std::memory_order_release); }
  // Bytes of copies that memory objects keep for later launches (Residency::spares).
  std::atomic<uint64_t>& spareBytes() { return spare_bytes_; }
  // True when some pair of spaces has no mover.
  bool needsStaging() const { return needs_staging_; }
  // Is one of the devices unified, so that times of kernels and transfers are worth knowing?
  bool balances() const { return balances_; }
  // What this one still has to do of kernels that could have run on other devices, too, and of its
  // parts of those that were divided.
  Guarded<partition::ExpectedLoad, BriefMutex>& expectedLoad(const Device& device) {
    return find(device).expected_load;
  }
  // Nanoseconds of a copy between the memories of two of the devices, measured or else estimated;
  // null stands for the host.
  double transferTime(const Device* source, const Device* target, uint64_t bytes);
  // Has anything of a unified device's queue ever run on another member than the first? Then so may
  // be its bytes.
  bool runsElsewhere() const { return elsewhere_.load(std::memory_order_relaxed); }
  void noteElsewhere() { elsewhere_.store(true, std::memory_order_relaxed); }
  // The unordered stream that moves data on behalf of this device; made on first use.
  port::Stream& transferStream(Device& device) { return streamOf(find(device).transfers, device); }
  // port::Stream::poll() of that, if it was used.
  void pollTransfers(const Device& device) noexcept;
  // The unordered stream of what kernels on it enqueued; made on first use.
  port::Stream& familyStream(Device& device) { return streamOf(find(device).families, device); }
  FamilyTurns& familyTurns(Device& device) { return find(device).turns; }

 private:
  struct PerDevice {
    Device* device;
    DeviceCounters counters;
    Guarded<partition::ExpectedLoad, BriefMutex> expected_load;
    LazyStream transfers, families;
    FamilyTurns turns;
  };
  PerDevice& find(const Device& device);
  static port::Stream& streamOf(LazyStream& stream, Device& device);

  Callbacks callbacks_;
  Guarded<Tickets, BriefMutex> tickets_;
  std::vector<std::unique_ptr<PerDevice>> devices_;
  bool needs_staging_ = false;
  bool balances_ = false;
  std::atomic<bool> losses_{false}, elsewhere_{false};
  std::atomic<uint64_t> spare_bytes_{0};  // changed under the ticket lock
  MemoryTraffic memory_traffic_;
  Guarded<std::vector<Queue*>> queues_;
  using Ends = std::pair<const Device*, const Device*>;
  Guarded<std::map<Ends, profiling::PerformanceStore::Link>> links_;
};

inline Callbacks& callbacksOf(const Context& context) { return State::of(context).callbacks(); }

}  // namespace weft
