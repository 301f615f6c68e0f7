#include "core/pool.h"

#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/slab.h"
#include "core/thread_local.h"

namespace weft::pool {
namespace {

constexpr size_t granule = 64;      // bytes by which the size classes differ
constexpr size_t class_count = 32;  // larger blocks are the general allocator's
constexpr size_t batch_blocks = 64;
constexpr size_t depot_bytes = size_t{16} << 20;  // kept for each class; the rest is given back

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool reuse = false;  // every block is seen to be made and ended
#else
constexpr bool reuse = true;
#endif

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
};

// Full batches; the second word of a batch's first block links them.
struct FullBatch {
  Block* rest;
  FullBatch* next;
};

// Blocks move between threads in batches, so that the depot's lock is taken once for many.
class Depot {
 public:
  explicit Depot(size_t block_bytes)
      : slabs_(block_bytes), limit_(depot_bytes / (block_bytes * batch_blocks)) {}

  // Blocks to use again, or else fresh ones.
  Batch take(Fresh& fresh) {
    const std::lock_guard lock(mutex_);
    if (FullBatch* const full = batches_) {
      batches_ = full->next;
      --count_;
      return {new (full) Block{full->rest}, batch_blocks};
    }
    const SlabHeap::Supply supply = slabs_.take(batch_blocks);
    fresh = supply.fresh;
    return {supply.released, supply.count};
  }
  void* takeOne() {
    const std::lock_guard lock(mutex_);
    const SlabHeap::Supply supply = slabs_.take(1);
    return supply.released ? static_cast<void*>(supply.released) : supply.fresh.begin;
  }
  void put(Batch batch) noexcept {
    const std::lock_guard lock(mutex_);
    if (batch.count == batch_blocks && count_ < limit_) {
      batches_ = new (batch.first) FullBatch{batch.first->next, batches_};
      ++count_;
      return;
    }
    while (batch.count != 0) slabs_.give(batch.pop());
  }

 private:
  std::mutex mutex_;
  SlabHeap slabs_;
  size_t limit_;
  FullBatch* batches_ = nullptr;
  size_t count_ = 0;
};

template <size_t... c>
std::array<Depot, class_count>* makeDepots(std::index_sequence<c...>) {
  return new std::array<Depot, class_count>{Depot((c + 1) * granule)...};
}

// Never destroyed: objects end after static destructors, too.
std::array<Depot, class_count>& depots() {
  static auto* const instance = makeDepots(std::make_index_sequence<class_count>());
  return *instance;
}

size_t classOf(size_t bytes) { return (bytes + granule - 1) / granule - 1; }

// Two batches for each class: one in use, and a full or empty one to move without thrashing.
class ThreadCache {
 public:
  ~ThreadCache() {
    for (size_t c = 0; c < class_count; ++c) {
      Class& of = classes_[c];
      for (; of.fresh.begin != of.fresh.end; of.fresh.begin += (c + 1) * granule)
        release(of.fresh.begin, c);
      depots()[c].put(of.current);
      depots()[c].put(of.spare);
    }
  }

  void* allocate(size_t c) {
    auto& [current, spare, fresh] = classes_[c];
    if (!current.count) std::swap(current, spare);
    if (!current.count && fresh.begin == fresh.end) current = depots()[c].take(fresh);
    if (!current.count) return std::exchange(fresh.begin, fresh.begin + (c + 1) * granule);
    void* const block = current.pop();
    // It is in the caches of whoever released it, and who fills it would wait for one line after
    // the other.
    if (current.count) prefetch(current.first, (c + 1) * granule);
    return block;
  }
  void release(void* block, size_t c) noexcept {
    auto& [current, spare, fresh] = classes_[c];
    if (current.count == batch_blocks) {
      std::swap(current, spare);
      if (current.count == batch_blocks) depots()[c].put(std::exchange(current, {}));
    }
    current.push(block);
  }

 private:
  struct Class {
    Batch current, spare;
    Fresh fresh;
  };
  std::array<Class, class_count> classes_{};
};

// The calling thread's; and blocks that are made or end after it are the depot's.
WEFT_THREAD_LOCAL constinit ThreadCache* cache = nullptr;
WEFT_THREAD_LOCAL constinit bool cache_gone = false;

struct CacheOwner {
  ~CacheOwner() {
    cache = nullptr;
    cache_gone = true;
  }
  std::unique_ptr<ThreadCache> own;
};
WEFT_THREAD_LOCAL constinit CacheOwner owner;

// Null where there is no memory for it, too.
[[gnu::noinline]] ThreadCache* makeCache() noexcept {
  if (cache_gone) return nullptr;
  owner.own.reset(new (std::nothrow) ThreadCache);
  return cache = owner.own.get();
}

ThreadCache* threadCache() noexcept {
  ThreadCache* const known = cache;
  return known ? known : makeCache();
}

bool pooled(size_t bytes) { return reuse && bytes != 0 && bytes <= class_count * granule; }

}  // namespace

void* allocate(size_t bytes) {
  if (!pooled(bytes)) return ::operator new(bytes);
  const size_t c = classOf(bytes);
  ThreadCache* const own = threadCache();
  return own ? own->allocate(c) : depots()[c].takeOne();
}

void release(void* block, size_t bytes) noexcept {
  if (!block) return;
  if (!pooled(bytes)) return ::operator delete(block);
  const size_t c = classOf(bytes);
  if (ThreadCache* const own = threadCache()) return own->release(block, c);
  Batch one;
  one.push(block);
  depots()[c].put(one);
}

}  // namespace weft::pool
