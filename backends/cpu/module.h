// A loaded CPU image: shared objects.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/library.h"
#include "backends/cpu/own_copies.h"
#include "backends/cpu/trials.h"
#include "core/deferred_code.h"
#include "core/pool.h"
#include "core/ports/code_maker.h"
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
  // About how long it has run, in all threads together: what threads record at once may be lost.
  port::Nanoseconds spent() const noexcept { return spent_.load(std::memory_order_relaxed); }

 private:
  std::atomic<float> per_item_{-1};
  std::atomic<port::Nanoseconds> spent_{0};
};

class Kernel {
 public:
  explicit Kernel(KernelInfo of)
      : info(std::move(of)),
        combines(hasCombinedArguments(info)),
        context_bytes(info.lane_context_bytes),
        has_trials(info.other_forms != 0),
        untried(info.other_forms) {}

  const KernelInfo info;
  const bool combines;
  std::atomic<port::CpuKernelEntry> entry{nullptr};  // null: its code was left for later
  // Of the entry against another, while that goes on.
  std::atomic<Contest*> contest{nullptr};
  std::atomic<uint64_t> context_bytes;  // per lane, of all forms that may run
  // The module's Trials'.
  std::atomic<bool> has_trials;
  std::atomic<port::Nanoseconds> worthwhile{0};  // of the next trial, if more than of others
  uint8_t untried;                               // forms
  std::shared_ptr<Trials::Delivery> delivery;
  // Others read what is above while this is written.
  alignas(pool::line_bytes) KernelTiming timing;
};

// Each instance is loaded from a file of its own, which gives it its own program-scope variables.
class Module final : public port::Module {
 public:
  // Throws CL_INVALID_BINARY unless the image is a host executable that holds all its symbols, or
  // leaves its code for later (core/deferred_code.h) and there is a `maker`, who may be asked for
  // `at_once` parts at once. Forms of its kernels are made by `background`.
  explicit Module(const Image& image, std::shared_ptr<const port::CodeMaker> maker = nullptr,
                  size_t at_once = 1, TrialPolicy trials = TrialPolicy::never,
                  std::shared_ptr<Background> background = nullptr);
  ~Module() override;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // `kernel` indexes Image::kernels; nullptr beyond them.
  Kernel* kernel(uint32_t index) const noexcept {
    return index < kernels_.size() ? kernels_[index].get() : nullptr;
  }
  // The kernel's code, which is made if it was left for later; nullptr when that failed.
  port::CpuKernelEntry entry(uint32_t index) noexcept {
    const auto made = kernels_[index]->entry.load(std::memory_order_acquire);
    return made || !later_ ? made : makeEntry(index);
  }
  bool prepare(uint32_t kernel) noexcept override { return entry(kernel) != nullptr; }
  Trials& trials() noexcept { return trials_; }
  // The index of the kernel with that entry.
  std::optional<uint32_t> find(const void* entry) const noexcept;

 private:
  // Code that is made when it is wanted.
  struct Later {
    Later(const Image& from, DeferredCode left, std::shared_ptr<const port::CodeMaker> by,
          size_t most);
    Image image;  // without kernels and payload
    const DeferredCode code;
    const std::shared_ptr<const port::CodeMaker> maker;
    const size_t at_once;
    std::mutex making;  // of `libraries_`, too
  };

  void add(std::span<const std::byte> payload, std::span<const uint32_t> kernels);
  port::CpuKernelEntry makeEntry(uint32_t kernel) noexcept;
  std::vector<uint32_t> wanted(uint32_t part) const;
  std::vector<uint32_t> kernelsOf(uint32_t part) const;

  std::vector<std::unique_ptr<Library>> libraries_;
  void (*destroy_objects_)() = nullptr;  // null: the program has none to destroy
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unique_ptr<Later> later_;  // null: all code is there
  Trials trials_;
};

}  // namespace weft::cpu
