#pragma once

#include <cstddef>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::test {

// Memory that ends where none may be read.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t bytes) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size_ = (bytes + page_ - 1) / page_ * page_;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(base_), MAP_FAILED);
    EXPECT_EQ(mprotect(base_ + size_, page_, PROT_NONE), 0);
    begin_ = base_ + size_ - bytes;
    for (size_t i = 0; i < bytes; ++i) begin_[i] = static_cast<std::byte>(i * 37 % 101 & 63);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer() { munmap(base_, size_ + page_); }

  const void* begin() const { return begin_; }

 private:
  size_t page_, size_ = 0;
  std::byte *base_ = nullptr, *begin_ = nullptr;
};

}  // namespace weft::test
