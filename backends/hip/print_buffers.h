// The buffers that kernels print into (core/printf.h).
#pragma once

#include <vector>

#include "backends/hip/api.h"
#include "core/guarded.h"
#include "core/printf.h"

namespace weft::hip {

// Kernels write their records over the link as they print: no launch copies more than the head.
struct PrintBuffer {
  void* device = nullptr;     // the head, where adding to it is cheap; none where that was full
  std::byte* host = nullptr;  // pinned: the head after the launch, and the records
  std::byte* seen = nullptr;  // the same, as the device sees it

  void* head() const { return device ? device : seen; }
  std::byte* records() const { return seen + sizeof(PrintBufferHead); }
};

class PrintBuffers {
 public:
  static constexpr size_t capacity = size_t(8) << 20;
  static constexpr size_t bytes = sizeof(PrintBufferHead) + capacity;

  PrintBuffers(const Api& api, int device) : api_(api), device_(device) {}
  ~PrintBuffers();

  // Throws. With the device current.
  PrintBuffer take();
  void give(PrintBuffer buffer) noexcept { free_.lock()->push_back(buffer); }

  // Before the launch on `stream`, and behind it: the buffer is emptied, and printed.
  Status begin(StreamHandle stream, const PrintBuffer& buffer) const;
  Status end(StreamHandle stream, const PrintBuffer& buffer) const;

 private:
  const Api& api_;
  int device_;
  Guarded<std::vector<PrintBuffer>> free_;
};

}  // namespace weft::hip
