// What a fake device hands out.
#pragma once

#include <sys/mman.h>

#include <algorithm>

#include "backends/cpu/module.h"
#include "core/error.h"
#include "tests/support/fake_device.h"

namespace weft::test {

class FakeModule final : public port::Module {
 public:
  std::unique_ptr<cpu::Module> library;  // of images with a payload
  std::vector<std::string> names;
  std::vector<FakeKernel> functions;  // of images without
};

class FakeMemory final : public port::Memory {
 public:
  FakeMemory(FakeDevice& device, size_t bytes)
      : device_(device), space(device.options_.memory_space), size_(bytes) {
    void* mapped = mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(mapped != MAP_FAILED, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
    bytes_ = static_cast<std::byte*>(mapped);
    constexpr int poison = 0xa5;  // never what a test expects of new memory
    std::memset(bytes_, poison, bytes);
    device_.allocated_ += bytes;
  }
  ~FakeMemory() override {
    if (device_.releasing_) device_.releasing_();
    munmap(bytes_, std::max<size_t>(size_, 1));
    device_.allocated_ -= size_;
  }
  size_t size() const override { return size_; }
  std::byte* host() const override { return nullptr; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(bytes_); }

 private:
  FakeDevice& device_;

 public:
  const port::MemorySpace space;

 private:
  size_t size_;
  std::byte* bytes_;
};

// The host's, at the same address for all.
class FakeSharedMemory final : public port::Memory {
 public:
  // Of somebody else.
  FakeSharedMemory(void* host, size_t bytes)
      : bytes_(static_cast<std::byte*>(host)), size_(bytes) {}
  // Takes up nothing before it is touched.
  explicit FakeSharedMemory(size_t bytes) : size_(bytes), owned_(true) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(mapped != MAP_FAILED, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
    bytes_ = static_cast<std::byte*>(mapped);
  }
  ~FakeSharedMemory() override {
    if (owned_) munmap(bytes_, size_);
  }
  FakeSharedMemory(const FakeSharedMemory&) = delete;
  FakeSharedMemory& operator=(const FakeSharedMemory&) = delete;
  size_t size() const override { return size_; }
  std::byte* host() const override { return bytes_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(bytes_); }

 private:
  std::byte* bytes_ = nullptr;
  size_t size_;
  bool owned_ = false;
};

}  // namespace weft::test
