// The software GPUs of this process, and what they share.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tests/software_gpu/faults.h"
#include "tests/software_gpu/memory.h"
#include "tests/software_gpu/pace.h"
#include "tests/software_gpu/processor.h"

namespace weft::software {

inline constexpr unsigned max_work_group = 1024;
inline constexpr unsigned max_local_bytes = 65536;
inline constexpr int texture_pitch_alignment = 32;

// What of the host's memory kernels use in place: what the runtime registers, and with `managed`
// what it makes for that, too.
enum class Shares : uint8_t { nothing, pinned, managed };

// From the environment: scripts/software-gpus says what is what.
struct Settings {
  int devices = 2;
  size_t memory_bytes = size_t(1) << 30;  // each
  Shares shares = Shares::managed;
  double link_bytes_per_ns = 0;  // 0: as fast as it can
  std::vector<double> speeds;    // of kernels, by device; missing ones are 1
  std::vector<double> group_ns;  // of a work-group, by device; missing ones: it is run
  Pace::Profile profile = Pace::Profile::flat;

  static Settings fromEnvironment(Faults& faults);
};

// Registered memory of the application.
struct HostRange {
  void* address = nullptr;
  size_t bytes = 0;
  SharedPages pages{};
};

class Device {
 public:
  // `shared`: what the host and every device use at one address.
  Device(int ordinal, const Settings& settings, std::vector<const SharedBlock*> shared);

  int ordinal() const { return ordinal_; }
  Pace& pace() { return pace_; }
  const SharedBlock& memory() const { return memory_; }
  Heap& heap() { return heap_; }
  // Starts it when it is first asked for. Throws.
  Processor& processor();
  // Host memory that kernels may use while it is registered; false when they cannot.
  bool share(const HostRange& range);
  void unshare(const HostRange& range);
  // From now on the device's kernels may use the memory of `peer`.
  bool enablePeer(Device& peer);
  bool lost() const;
  void lose() { lost_ = true; }

 private:
  const int ordinal_;
  Pace pace_;
  const std::vector<const SharedBlock*> blocks_;
  SharedBlock memory_;
  Heap heap_{memory_};
  std::mutex starting_;
  std::unique_ptr<Processor> processor_;
  std::set<int> peers_;
  std::set<const void*> shared_;
  std::atomic<bool> lost_{false};
};

// Made on the first call and never destroyed: streams of a library that is never unloaded.
struct Machine {
  Machine();

  Faults faults;
  const Settings settings = Settings::fromEnvironment(faults);
  SharedBlock host_block;
  Heap host_heap{host_block};
  SharedBlock managed_block;
  Heap managed_heap{managed_block};
  std::vector<std::unique_ptr<Device>> devices;

  // Registered memory that the devices share.
  std::vector<HostRange> sharedRanges() const;
  bool isShared(const void* host) const;
  // The device whose memory this is; nullptr for none.
  Device* owner(const void* address) const;
  // Is all of it host memory that the devices know?
  bool pinned(const void* host, size_t bytes) const;
  // False when a part of it is registered already, or for unregister, when it does not begin there.
  bool registerHost(void* host, size_t bytes);
  bool unregisterHost(void* host);

 private:
  mutable std::mutex mutex_;
  const HostRange* find(uintptr_t begin, size_t bytes) const;
  std::map<uintptr_t, HostRange> registered_;
};
Machine& machine();

// The one that is current on this thread.
Device& current();
int currentOrdinal();
void setCurrent(int ordinal);

}  // namespace weft::software
