#include "backends/cpu/scratch.h"

#include <xmmintrin.h>

namespace weft::cpu {
namespace {

constexpr size_t alignment = 128;
constexpr size_t page = 4096;
constexpr unsigned default_control = 0x1f80;  // all exceptions masked, nearest, no FTZ, no DAZ
constexpr unsigned sticky_flags = 0x3f;

}  // namespace

std::byte* ScratchBlock::reserve(size_t bytes) noexcept {
  if (bytes <= size_ && size_ != 0) return block_.get();
  if (bytes > scratch_limit) return nullptr;
  const size_t size = (bytes + page) / page * page;
  block_.reset();
  size_ = 0;
  block_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, size)));
  if (block_) size_ = size;
  return block_.get();
}

void setKernelFloatState() noexcept {
  if ((_mm_getcsr() & ~sticky_flags) != default_control) _mm_setcsr(default_control);
}

KernelFloatScope::KernelFloatScope() noexcept : control_(_mm_getcsr()) { setKernelFloatState(); }
KernelFloatScope::~KernelFloatScope() { _mm_setcsr(control_); }

}  // namespace weft::cpu
