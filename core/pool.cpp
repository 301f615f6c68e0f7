#include "core/pool.h"

#include <array>
#include <memory>
#include <mutex>
#include <new>

namespace weft::pool {
namespace {

// Blocks move between threads in batches, so that the depot's lock is taken once for many.
constexpr size_t granule = 64;      // bytes by which the size classes differ
constexpr size_t class_count = 32;  // larger blocks are the general allocator's
constexpr size_t batch_blocks = 64;
constexpr size_t depot_bytes = size_t{16} << 20;  // kept for each class; the rest is given back

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool reuse = false;  // every block is seen to be made and ended
#else
constexpr bool reuse = true;
#endif

struct Block {
  Block* next;
};

// A list of blocks, and of such lists.
struct Batch {
  Block* first = nullptr;
  size_t count = 0;

  void push(void* block) {
    first = new (block) Block{first};
    ++count;
  }
  void* pop() {
    Block* const block = first;
    first = block->next;
    --count;
    return block;
  }
  void free() {
    while (count) ::operator delete(pop());
  }
};

// Full batches; the second word of a batch's first block links them.
struct FullBatch {
  Block* rest;
  FullBatch* next;
};

class Depot {
 public:
  Batch take() {
    const std::lock_guard lock(mutex_);
    FullBatch* const full = batches_;
    if (!full) return {};
    batches_ = full->next;
    --count_;
    return {new (full) Block{full->rest}, batch_blocks};
  }
  // False when it holds enough.
  bool put(const Batch& batch, size_t limit) {
    const std::lock_guard lock(mutex_);
    if (count_ >= limit) return false;
    batches_ = new (batch.first) FullBatch{batch.first->next, batches_};
    ++count_;
    return true;
  }

 private:
  std::mutex mutex_;
  FullBatch* batches_ = nullptr;
  size_t count_ = 0;
};

// Never destroyed: objects end after static destructors, too.
std::array<Depot, class_count>& depots() {
  static auto* const instance = new std::array<Depot, class_count>;
  return *instance;
}

size_t classOf(size_t bytes) { return (bytes + granule - 1) / granule - 1; }

// Two batches for each class: one in use, and a full or empty one to move without thrashing.
class ThreadCache {
 public:
  ~ThreadCache() {
    for (size_t c = 0; c < class_count; ++c)
      for (Batch& batch : classes_[c]) {
        if (batch.count == batch_blocks && depots()[c].put(batch, limitOf(c))) continue;
        batch.free();
      }
    gone = true;
  }

  void* allocate(size_t c) {
    auto& [current, spare] = classes_[c];
    if (!current.count) std::swap(current, spare);
    if (!current.count) current = depots()[c].take();
    return current.count ? current.pop() : ::operator new((c + 1) * granule);
  }
  void release(void* block, size_t c) noexcept {
    auto& [current, spare] = classes_[c];
    if (current.count == batch_blocks) {
      std::swap(current, spare);
      if (current.count == batch_blocks) {
        if (!depots()[c].put(current, limitOf(c))) current.free();
        current = {};
      }
    }
    current.push(block);
  }

  // Blocks that end after their thread's cache go to the general allocator.
  static thread_local bool gone;

 private:
  static size_t limitOf(size_t c) { return depot_bytes / ((c + 1) * granule * batch_blocks); }

  std::array<std::array<Batch, 2>, class_count> classes_{};
};

thread_local bool ThreadCache::gone = false;
thread_local ThreadCache cache;

bool pooled(size_t bytes) {
  return reuse && bytes != 0 && bytes <= class_count * granule && !ThreadCache::gone;
}

}  // namespace

void* allocate(size_t bytes) {
  if (pooled(bytes)) return cache.allocate(classOf(bytes));
  // Rounded up, since release() may put it into the pool.
  return ::operator new(bytes && bytes <= class_count * granule ? (classOf(bytes) + 1) * granule
                                                                : bytes);
}

void release(void* block, size_t bytes) noexcept {
  if (!block) return;
  if (pooled(bytes))
    cache.release(block, classOf(bytes));
  else
    ::operator delete(block);
}

}  // namespace weft::pool
