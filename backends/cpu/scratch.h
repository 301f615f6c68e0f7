// Memory that a thread keeps for the kernels it runs, and the state of its floating-point unit.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace weft::cpu {

// The most local memory, or lane context, that one thread reserves.
inline constexpr size_t scratch_limit = size_t(256) << 20;

// The stack of a worker thread, and what of it a kernel may use.
inline constexpr size_t worker_stack_bytes = size_t(16) << 20;
inline constexpr size_t kernel_stack_bytes = worker_stack_bytes - (size_t(256) << 10);

// A block that grows to the largest request and is used again; contents are not kept.
class ScratchBlock {
 public:
  // 128-byte aligned; nullptr when the system has no memory or `bytes` is beyond scratch_limit.
  std::byte* reserve(size_t bytes) noexcept;

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> block_;
  size_t size_ = 0;
};

struct Scratch {
  ScratchBlock local;
  ScratchBlock context;
  ScratchBlock copies;  // OwnCopies
};

// Puts the calling thread into the state kernels are compiled for: round to nearest, denormals on,
// exceptions masked.
void setKernelFloatState() noexcept;

// The same for a scope; the caller's state comes back at its end.
class KernelFloatScope {
 public:
  KernelFloatScope() noexcept;
  ~KernelFloatScope();
  KernelFloatScope(const KernelFloatScope&) = delete;
  KernelFloatScope& operator=(const KernelFloatScope&) = delete;

 private:
  unsigned control_;
};

}  // namespace weft::cpu
