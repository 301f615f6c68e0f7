// A loaded CPU image: an ELF shared object that the dynamic loader opened, so that gdb and perf see
// it like any library.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/pool.h"
#include "core/ports/device.h"

namespace weft::cpu {

// How long a work-item of a kernel takes, as a running average over its launches. Thread-safe.
class KernelTiming {
 public:
  // Nanoseconds for that many work-items; negative while nothing is known.
  double estimate(uint64_t items) const noexcept {
    return double(per_item_.load(std::memory_order_relaxed)) * double(items);
  }
  void record(port::Nanoseconds elapsed, uint64_t items) noexcept;

 private:
  std::atomic<float> per_item_{-1};
};

class Kernel {
 public:
  Kernel(KernelInfo info, port::CpuKernelEntry entry) : info(std::move(info)), entry(entry) {}

  const KernelInfo info;
  const port::CpuKernelEntry entry;
  // Others read what is above while this is written.
  alignas(pool::line_bytes) KernelTiming timing;
};

// Each instance is loaded from a file of its own, which gives it its own program-scope variables.
class Module final : public port::Module {
 public:
  // Throws CL_INVALID_BINARY unless the image is a host executable that holds all its symbols.
  explicit Module(const Image& image);
  ~Module() override;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // `kernel` indexes Image::kernels; nullptr beyond them.
  Kernel* kernel(uint32_t index) const noexcept {
    return index < kernels_.size() ? kernels_[index].get() : nullptr;
  }
  // The index of the kernel with that entry.
  std::optional<uint32_t> find(const void* entry) const noexcept;

 private:
  void* library_ = nullptr;
  void (*destroy_objects_)() = nullptr;  // null: the program has none to destroy
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace weft::cpu
