#include "core/slab.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace weft::pool {
namespace {

// Also the size of a huge page. Only the pages that are used take up memory.
constexpr size_t slab_bytes = size_t{2} << 20;
constexpr size_t header_bytes = 64;

// Aligned to its size, so that a block's address gives its slab.
void* mapSlab() {
  void* const wide = mmap(nullptr, 2 * slab_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (wide == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(wide);
  const size_t skip = (slab_bytes - reinterpret_cast<uintptr_t>(begin) % slab_bytes) % slab_bytes;
  if (skip != 0) munmap(begin, skip);
  munmap(begin + skip + slab_bytes, slab_bytes - skip);
  return begin + skip;
}

}  // namespace

struct SlabHeap::Slab {
  Slab* next = nullptr;
  Slab* previous = nullptr;
  Block* released = nullptr;
  Fresh fresh;
  size_t in_use = 0;

  bool hasRoom() const { return released || fresh.begin != fresh.end; }
  static Slab& of(void* block) {
    return *reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(slab_bytes - 1));
  }
};

SlabHeap::Slab& SlabHeap::makeSlab() {
  static_assert(sizeof(Slab) <= header_bytes);
  void* const memory = mapSlab();
  // A program with so many blocks is better off with fewer misses in the page tables.
  if (++slabs_ > 1) madvise(memory, slab_bytes, MADV_HUGEPAGE);
  Slab& slab = *new (memory) Slab;
  auto* const first = static_cast<std::byte*>(memory) + header_bytes;
  slab.fresh = {first, first + (slab_bytes - header_bytes) / block_bytes_ * block_bytes_};
  link(slab);
  return slab;
}

void SlabHeap::link(Slab& slab) noexcept {
  slab.previous = nullptr;
  slab.next = roomy_;
  if (roomy_) roomy_->previous = &slab;
  roomy_ = &slab;
}

void SlabHeap::unlink(Slab& slab) noexcept {
  (slab.previous ? slab.previous->next : roomy_) = slab.next;
  if (slab.next) slab.next->previous = slab.previous;
}

SlabHeap::Supply SlabHeap::take(size_t most) {
  Slab& slab = roomy_ ? *roomy_ : makeSlab();
  Supply supply;
  if (slab.released) {
    supply.released = slab.released;
    Block* last = slab.released;
    for (supply.count = 1; supply.count < most && last->next; ++supply.count) last = last->next;
    slab.released = std::exchange(last->next, nullptr);
    slab.in_use += supply.count;
  } else {
    const auto left = static_cast<size_t>(slab.fresh.end - slab.fresh.begin);
    const size_t bytes = std::min(most * block_bytes_, left);
    supply.fresh = {slab.fresh.begin, slab.fresh.begin + bytes};
    slab.fresh.begin += bytes;
    slab.in_use += bytes / block_bytes_;
  }
  if (!slab.hasRoom()) unlink(slab);
  return supply;
}

void SlabHeap::give(void* block) noexcept {
  Slab& slab = Slab::of(block);
  if (!slab.hasRoom()) link(slab);
  slab.released = new (block) Block{slab.released};
  if (--slab.in_use != 0 || slabs_ == 1) return;
  unlink(slab);
  --slabs_;
  munmap(&slab, slab_bytes);
}

}  // namespace weft::pool
