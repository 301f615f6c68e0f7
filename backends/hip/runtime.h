// What the devices of one opened runtime share: its table, and the host memory it can reach.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/hip/copy_crew.h"
#include "backends/hip/provider.h"
#include "core/guarded.h"

namespace weft::hip {

// Host memory pinned for the runtime, whoever pinned it. A range is registered with the runtime
// once, for all devices: registering it again is an error there, not a count.
class HostRegistry {
 public:
  explicit HostRegistry(const Api& api) : api_(api) {}

  // Pins [host, host + bytes), or shares a registration that covers it; false when the runtime
  // refuses. Every true has its release(). With the runtime's context current.
  bool pin(void* host, size_t bytes);
  // The runtime made the memory, pages and all: those of managed memory move.
  void adopt(void* host, size_t bytes);
  void release(void* host) noexcept;
  bool covers(const void* host, size_t bytes) const noexcept;
  // And did the runtime make it?
  bool adopted(const void* host, size_t bytes) const noexcept;
  // Is any of it pinned?
  bool touches(const void* host, size_t bytes) const noexcept;

 private:
  struct Range {
    size_t bytes;
    unsigned users;
    bool registered;  // by us, so to be unregistered
  };
  using Ranges = std::map<uintptr_t, Range>;
  static Ranges::const_iterator find(const Ranges& ranges, uintptr_t begin, size_t bytes);
  bool share(const void* host, size_t bytes);

  const Api& api_;
  // Taken before `ranges_`, which those who submit look at: the runtime takes its time.
  std::mutex registering_;
  Guarded<Ranges> ranges_;
};

// A 32-bit word that the host writes and streams wait for.
class HostWord {
 public:
  void release(uint32_t value) noexcept {
    std::atomic_ref<uint32_t>(*host).store(value, std::memory_order_release);
  }
  uint32_t value() const noexcept {
    return std::atomic_ref<uint32_t>(*host).load(std::memory_order_acquire);
  }
  uint32_t* host = nullptr;
  void* device = nullptr;
};

// Words come in blocks; AMD's runtime waits only on memory of a kind of its own, one word each.
class WordPool {
 public:
  explicit WordPool(const Api& api) : api_(api) {}
  ~WordPool();
  // A word of value 0. Throws. With the runtime's context current.
  HostWord take();
  // It is taken again only when it has the value of the `last` write, which may be under way.
  void give(HostWord word, uint32_t last) noexcept;

 private:
  struct Given {
    HostWord word;
    uint32_t last = 0;
    bool settled() const noexcept { return word.value() == last; }
  };
  struct Words {
    std::vector<Given> free;
    std::vector<void*> blocks;
  };
  bool takeSettled(HostWord& word);
  void grow();

  const Api& api_;
  Guarded<Words> words_;
};

// Pinned memory through which copies of ordinary host memory go.
class StagingPool {
 public:
  static constexpr size_t small_bytes = size_t(64) << 10, large_bytes = size_t(4) << 20;

  struct Chunk {
    std::byte* host = nullptr;
    size_t bytes = 0;
  };

  explicit StagingPool(const Api& api) : api_(api) {}
  ~StagingPool();
  // A small chunk if `bytes` fit into it, else a large one. Throws. With a context current.
  Chunk take(size_t bytes);
  void give(Chunk chunk) noexcept;

 private:
  struct Free {
    std::vector<Chunk> small, large;
  };
  const Api& api_;
  Guarded<Free> free_;
};

struct Runtime {
  explicit Runtime(std::unique_ptr<Provider> opened) : provider(std::move(opened)) {}

  std::unique_ptr<Provider> provider;
  const Api& api = provider->api;
  HostRegistry registry{api};
  WordPool words{api};
  StagingPool staging{api};
  CopyCrew crew;
};

}  // namespace weft::hip
