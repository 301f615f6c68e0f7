// What tests make software GPUs do wrong, and what they count. Exported by both runtimes as
// weftSoftwareGpuFaults().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace weft::software {

// So many calls fail, after so many that do not.
struct Fault {
  std::atomic<int> spared{0}, failing{0};

  bool strikes() {
    if (failing.load() <= 0) return false;
    if (spared.load() > 0 && spared.fetch_sub(1) > 0) return false;
    return failing.fetch_sub(1) > 0;
  }
};

struct Faults {
  Fault copies, launches, allocations;  // the call fails
  Fault kernels;                        // the launch succeeds, and then the device is lost
  Fault signals;                        // Level Zero: appending what signals an event fails
  std::atomic<bool> lost{false};        // every device is lost for as long as this is set
  std::atomic<bool> old{false};         // Level Zero: the driver is of the first version in use
  std::atomic<int> lost_device{-1};     // or the one of this number
  // Freeing a device's memory waits for as long as this is set, as for what the device is at.
  std::atomic<bool> holds_memory{false};
  // Level Zero: by how many nanoseconds the clock that is asked for is ahead of the commands'.
  std::atomic<int64_t> clock_ahead{0};
  // Images, or textures, that there are; Level Zero: copies of memory into them; and launches that
  // take any.
  std::atomic<int> images{0}, image_copies{0}, image_launches{0};
  std::atomic<int> questions{0};   // Level Zero: has an event been signalled?
  std::atomic<int> prefetches{0};  // of managed memory
  // The device that may not use it while the host does; -1: all may.
  std::atomic<int> exclusive_device{-1};
  std::atomic<int> alive{0};  // handles and allocations that were not given back

  // By looking: what waits on an atomic of one library is not woken by another one.
  void waitForMemory() const {
    while (holds_memory) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

using GetFaults = Faults* (*)();

}  // namespace weft::software
