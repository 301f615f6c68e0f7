// What the memory objects of a context take up in the memory of its devices.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/ports/capabilities.h"

namespace weft {

class Residency;

// One memory space that a device owns, in a context of several. Used under the context's ticket
// lock.
class DeviceMemory {
 public:
  // `limit`: the bytes that allocations may take up there together.
  DeviceMemory(port::MemorySpace space, uint64_t limit) : space_(space), limit_(limit) {}

  port::MemorySpace space() const { return space_; }
  uint64_t limit() const { return limit_; }

  // The object takes up memory here from now on. No effect when it does so already.
  void add(Residency& residency);
  void remove(Residency& residency) noexcept;
  bool has(const Residency& residency) const;

  // Besides those of objects, for as long as the result lives: they stay where they are.
  std::shared_ptr<void> reserve(uint64_t bytes);
  uint64_t reserved() const { return reserved_->load(std::memory_order_relaxed); }

  // Bytes beyond the limit once `more` are added.
  uint64_t shortage(uint64_t more) const;
  std::vector<Residency*> leastRecentlyUsedFirst() const;

 private:
  port::MemorySpace space_;
  uint64_t limit_;
  uint64_t used_ = 0;
  // Reservations may outlive the context's scheduler, and end without its lock.
  std::shared_ptr<std::atomic<uint64_t>> reserved_ = std::make_shared<std::atomic<uint64_t>>(0);
  std::unordered_set<Residency*> residents_;
};

// Threads that allocate or release device memory right now. Thread-safe.
class MemoryTraffic {
 public:
  class Visit;
  void enter() noexcept { threads_.fetch_add(1, std::memory_order_acq_rel); }
  void leave() noexcept {
    departures_.fetch_add(1, std::memory_order_acq_rel);
    threads_.fetch_sub(1, std::memory_order_acq_rel);
    threads_.notify_all();
  }
  bool busy() const noexcept { return threads_.load(std::memory_order_acquire) > 0; }
  // How often one has left.
  uint64_t departures() const noexcept { return departures_.load(std::memory_order_acquire); }
  // One that has given memory back says so before it leaves. How often one did: who found too
  // little before that may find enough now, though nobody is there to be waited for.
  void noteRelease() noexcept { releases_.fetch_add(1, std::memory_order_acq_rel); }
  uint64_t releases() const noexcept { return releases_.load(std::memory_order_acquire); }
  // Until one has entered or left, if there are any. The caller is none of them.
  void waitForOthers() const noexcept {
    if (const uint32_t seen = threads_.load(std::memory_order_acquire))
      threads_.wait(seen, std::memory_order_acquire);
  }

 private:
  std::atomic<uint32_t> threads_{0};
  std::atomic<uint64_t> departures_{0}, releases_{0};
};

class MemoryTraffic::Visit {
 public:
  explicit Visit(MemoryTraffic& traffic) noexcept : traffic_(&traffic) { traffic.enter(); }
  Visit(Visit&& other) noexcept : traffic_(std::exchange(other.traffic_, nullptr)) {}
  ~Visit() {
    if (traffic_) traffic_->leave();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  MemoryTraffic* traffic_;
};

}  // namespace weft
