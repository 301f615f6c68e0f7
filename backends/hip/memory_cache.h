// Device memory that was given back, kept for the next allocation of its size.
//
// The runtime's own calls take some fifty microseconds, and freeing waits for whatever a stream of
// the device waits for. Nothing uses memory that is given back: what is taken may be used at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "backends/hip/api.h"
#include "core/guarded.h"

namespace weft::hip {

// Thread-safe. With the device current.
class MemoryCache {
 public:
  MemoryCache(const Api& api, int device) : api_(api), device_(device) {}
  MemoryCache(const MemoryCache&) = delete;
  MemoryCache& operator=(const MemoryCache&) = delete;
  ~MemoryCache();

  // At least `bytes`; out of memory only when there is none without the cache, too.
  Status take(void** address, size_t bytes) noexcept;
  // `bytes` as they were asked for.
  void give(void* address, size_t bytes) noexcept;
  // Kept for others, and free to whoever asks.
  uint64_t bytes() const noexcept { return kept_.lock()->bytes; }

 private:
  struct Kept {
    std::map<size_t, std::vector<void*>> blocks;  // by their size
    uint64_t bytes = 0;
  };
  void release() noexcept;

  const Api& api_;
  int device_;
  Guarded<Kept> kept_;
};

}  // namespace weft::hip
