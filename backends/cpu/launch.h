// A kernel launch made ready to run: arguments converted once, then any range of its work-groups on
// any thread.
#pragma once

#include <vector>

#include "backends/cpu/module.h"
#include "backends/cpu/scratch.h"
#include "core/ports/device.h"

namespace weft::cpu {

class LaunchFrame {
 public:
  // Converts `launch`; keeps no pointer to it except argument values, which live as long as the
  // operation. Storage is kept between uses. Returns a failure's code or 0.
  port::OperationStatus prepare(const port::Launch& launch);

  uint64_t groups() const { return slice_.count(); }
  uint64_t itemsPerGroup() const { return items_per_group_; }
  KernelTiming& timing() const { return kernel_->timing; }

  // Runs the groups with linear indices [begin, end) within the slice, x fastest. Thread-safe.
  port::OperationStatus run(uint64_t begin, uint64_t end, Scratch& scratch) const noexcept;

 private:
  Kernel* kernel_ = nullptr;
  port::LaunchRecord record_;
  port::GroupBox slice_;
  uint64_t items_per_group_ = 1;
  size_t local_bytes_ = 0;
  size_t context_bytes_ = 0;
  std::vector<const void*> arguments_;
  std::vector<uint64_t> slots_;  // what pointer and local arguments point at
  std::vector<port::ImageDescriptor> images_;
};

}  // namespace weft::cpu
