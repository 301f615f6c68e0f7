// The buffer that one stream's kernels print into (core/printf.h), one launch after the other.
#pragma once

#include "backends/level_zero/context.h"
#include "core/printf.h"

namespace weft::level_zero {

class PrintBuffer {
 public:
  static constexpr size_t capacity = size_t(8) << 20;
  static constexpr size_t bytes = sizeof(PrintBufferHead) + capacity;

  explicit PrintBuffer(std::shared_ptr<DeviceContext> context) : context_(std::move(context)) {}
  PrintBuffer(const PrintBuffer&) = delete;
  PrintBuffer& operator=(const PrintBuffer&) = delete;
  ~PrintBuffer();

  // Allocates when it is first asked for. Throws. Where the device is full they are the same, and
  // it is asked for room again the next time.
  void* device();
  std::byte* host();

 private:
  std::shared_ptr<DeviceContext> context_;
  void* device_ = nullptr;
  void* host_ = nullptr;
};

}  // namespace weft::level_zero
