// Memory for what one thread makes and another ends by the million: commands and their parts. The
// general allocator takes a lock for each such block, and the two threads wake each other over it.
#pragma once

#include <cstddef>
#include <vector>

namespace weft::pool {

// Aligned to 16 bytes at least. Thread-safe; throws std::bad_alloc.
void* allocate(size_t bytes);
// `bytes` is what allocate() was asked for. From any thread.
void release(void* block, size_t bytes) noexcept;

// A base for classes whose objects live in the pool.
struct Pooled {
  static void* operator new(size_t bytes) { return allocate(bytes); }
  static void operator delete(void* block, size_t bytes) noexcept { release(block, bytes); }
};

constexpr size_t line_bytes = 64;  // of the caches

// Brings a line into this core's caches, and out of the others': it is going to be written. Not
// __builtin_prefetch(), which without the instruction among its options asks for a copy to read.
inline void prefetch(const void* line) {
  asm volatile("prefetchw %0" : : "m"(*static_cast<const std::byte*>(line)));
}
// All lines of an object that begins one.
inline void prefetch(const void* object, size_t bytes) {
  for (size_t line = 0; line < bytes; line += line_bytes)
    prefetch(static_cast<const std::byte*>(object) + line);
}

// For containers within such objects.
template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>&) {}

  T* allocate(size_t count) { return static_cast<T*>(pool::allocate(count * sizeof(T))); }
  void deallocate(T* values, size_t count) noexcept { pool::release(values, count * sizeof(T)); }
  bool operator==(const Allocator&) const { return true; }
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;

}  // namespace weft::pool
