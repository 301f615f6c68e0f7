// A kernel launch made ready to run: arguments converted once, then any range of its work-groups on
// any thread.
#pragma once

#include <span>
#include <vector>

#include "backends/cpu/module.h"
#include "backends/cpu/scratch.h"
#include "core/pool.h"
#include "core/ports/device.h"
#include "core/ports/pixels.h"

namespace weft::cpu {

class LaunchFrame {
 public:
  // Converts `launch`; keeps no pointer to it except to large values of arguments, which live as
  // long as the operation. Storage is kept between uses. Returns a failure's code or 0.
  port::OperationStatus prepare(const port::Launch& launch);
  // Becomes like `other`. Only what differs is written: where programs run the same kernel again
  // and again, those who read this one have most of it in their caches. Throws when there is no
  // memory.
  void assign(const LaunchFrame& other);
  // Begins to bring it into this core's caches.
  void fetch() const noexcept;

  uint64_t groups() const { return head_.slice.count(); }
  uint64_t itemsPerGroup() const { return head_.items_per_group; }
  KernelTiming& timing() const { return head_.kernel->timing; }
  size_t stackBytes() const { return head_.kernel->info.stack_bytes; }
  // The arguments as the kernel takes them.
  std::span<const void* const> arguments() const { return arguments_; }
  bool combines() const { return head_.kernel->combines; }
  const KernelInfo& info() const { return head_.kernel->info; }

  // Runs the groups with linear indices [begin, end) within the slice, x fastest; with the launch's
  // arguments where `arguments` is null. Thread-safe.
  port::OperationStatus run(uint64_t begin, uint64_t end, Scratch& scratch,
                            const void* const* arguments = nullptr) const noexcept;

 private:
  template <class Run>
  uint64_t takeTurns(Contest& contest, uint64_t begin, uint64_t end, Run&& run) const noexcept;

  struct alignas(pool::line_bytes) Head {
    Kernel* kernel = nullptr;
    port::CpuKernelEntry entry = nullptr;
    Contest* contest = nullptr;  // of the entry and another, or null
    uint64_t items_per_group = 1;
    size_t local_bytes = 0;
    size_t context_bytes = 0;
    port::GroupBox slice;
    port::LaunchRecord record;
  };
  // What a pointer or local argument points at, or a small value.
  struct alignas(16) Slot {
    std::byte bytes[16];
  };

  Head head_;
  std::vector<const void*> arguments_;
  std::vector<Slot> slots_;
  std::vector<port::CpuImage> images_;
};

}  // namespace weft::cpu
