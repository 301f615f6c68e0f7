#include "backends/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/cpu/system.h"
#include "core/error.h"
#include "core/guarded.h"

namespace weft::cpu {
namespace {

constexpr size_t default_alignment = 128;
constexpr size_t huge_page = size_t(2) << 20;
// From this size on an allocation is checked against what is free now, which reads /proc.
constexpr size_t checked_bytes = size_t(64) << 20;

std::atomic<uint64_t> allocated_bytes{0};

// A share of physical memory, held for as long as the object lives.
class Reservation {
 public:
  explicit Reservation(uint64_t bytes) : bytes_(bytes) {
    static const uint64_t limit = physicalMemoryBytes();
    const uint64_t before = allocated_bytes.fetch_add(bytes, std::memory_order_relaxed);
    const bool fits = bytes <= limit && before <= limit - bytes;
    if (fits && (bytes < checked_bytes || bytes <= availableMemoryBytes())) return;
    allocated_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    throw Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "more than the machine's memory");
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { allocated_bytes.fetch_sub(bytes_, std::memory_order_relaxed); }

 private:
  uint64_t bytes_;
};

class HostMemory final : public port::Memory {
 public:
  HostMemory(void* host, size_t bytes) : host_(static_cast<std::byte*>(host)), bytes_(bytes) {}
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(host_); }

 private:
  std::byte* host_;
  size_t bytes_;
};

class HeapMemory final : public port::Memory {
 public:
  HeapMemory(size_t bytes, size_t alignment)
      : reservation_(bytes),
        // Room for a whole vector at the end: nothing reads beyond its object by design, but
        // aligned_alloc wants a multiple of the alignment anyway.
        host_(static_cast<std::byte*>(
            std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))),
        bytes_(bytes) {
    require(host_ != nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE, "out of memory");
  }
  ~HeapMemory() override { std::free(host_); }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(host_); }

 private:
  Reservation reservation_;
  std::byte* host_;
  size_t bytes_;
};

// Whole pages straight from the system, aligned so that huge pages fit, untouched until used.
class MappedMemory final : public port::Memory {
 public:
  MappedMemory(size_t bytes, size_t alignment)
      : reservation_(bytes), bytes_(bytes), mapped_(bytes + std::max(alignment, huge_page)) {
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(base_ != MAP_FAILED, CL_MEM_OBJECT_ALLOCATION_FAILURE, "mmap");
    const uint64_t step = std::max(alignment, huge_page);
    const uint64_t start = (reinterpret_cast<uint64_t>(base_) + step - 1) / step * step;
    host_ = reinterpret_cast<std::byte*>(start);
    // Advice only: where it is refused the memory has small pages.
    madvise(host_, bytes_, MADV_HUGEPAGE);
  }
  ~MappedMemory() override { munmap(base_, mapped_); }
  size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }
  uint64_t deviceAddress() const override { return reinterpret_cast<uint64_t>(host_); }

  bool settled() const noexcept { return settled_.load(std::memory_order_relaxed); }
  void place(const Home& home) noexcept {
    auto own = home_.lock();
    settled_.store(true, std::memory_order_relaxed);
    if (*own == home.nodes) return;
    if (home.topology->placeMemory(host_, bytes_, home.nodes)) *own = home.nodes;
  }
  NodeSet home() const { return *home_.lock(); }

 private:
  Reservation reservation_;
  size_t bytes_;
  size_t mapped_;
  void* base_;
  std::byte* host_;
  std::atomic<bool> settled_{false};
  mutable Guarded<NodeSet> home_;
};

}  // namespace

std::unique_ptr<port::Memory> allocateMemory(size_t bytes, size_t alignment) {
  bytes = std::max<size_t>(bytes, 1);
  alignment = std::max(alignment, default_alignment);
  if (bytes >= huge_page) return std::make_unique<MappedMemory>(bytes, alignment);
  return std::make_unique<HeapMemory>(bytes, alignment);
}

std::unique_ptr<port::Memory> importMemory(void* host, size_t bytes) {
  return std::make_unique<HostMemory>(host, bytes);
}

void settle(port::Memory& memory, const Home& home) noexcept {
  auto* const mapped = home.nodes.empty() ? nullptr : dynamic_cast<MappedMemory*>(&memory);
  if (mapped && !mapped->settled()) mapped->place(home);
}

void moveHome(port::Memory& memory, const Home& home) noexcept {
  auto* const mapped = home.nodes.empty() ? nullptr : dynamic_cast<MappedMemory*>(&memory);
  if (mapped) mapped->place(home);
}

NodeSet homeOf(const port::Memory& memory) {
  const auto* const mapped = dynamic_cast<const MappedMemory*>(&memory);
  return mapped ? mapped->home() : NodeSet();
}

}  // namespace weft::cpu
