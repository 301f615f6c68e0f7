// Memory in blocks of one size, out of slabs that go back to the system when nothing of them is in
// use. For core/pool.cpp.
#pragma once

#include <cstddef>
#include <utility>

namespace weft::pool {

// A list of free blocks.
struct Block {
  Block* next;
};

// Consecutive blocks that were never used.
struct Fresh {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};

// Not thread-safe. Never destroyed.
class SlabHeap {
 public:
  // A multiple of 64; blocks are aligned to 64.
  explicit SlabHeap(size_t block_bytes) : block_bytes_(block_bytes) {}
  SlabHeap(const SlabHeap&) = delete;
  SlabHeap& operator=(const SlabHeap&) = delete;

  struct Supply {
    Block* released = nullptr;
    size_t count = 0;  // of released ones
    Fresh fresh;
  };
  // At least one block and at most so many. Throws std::bad_alloc.
  Supply take(size_t most);
  void give(void* block) noexcept;

 private:
  struct Slab;

  Slab& makeSlab();
  void link(Slab& slab) noexcept;
  void unlink(Slab& slab) noexcept;

  size_t block_bytes_;
  size_t slabs_ = 0;
  Slab* roomy_ = nullptr;  // those that have a block to give
};

}  // namespace weft::pool
