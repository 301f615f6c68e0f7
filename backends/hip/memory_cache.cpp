#include "backends/hip/memory_cache.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace weft::hip {
namespace {

// Of a device with tens of GiB; larger blocks take the runtime longer to fill than to allocate.
constexpr uint64_t most_kept = uint64_t(256) << 20;
constexpr size_t largest_kept = size_t(32) << 20;
constexpr size_t least_step = 512;

// Eight sizes between a power of two and the next.
size_t roundUp(size_t bytes) {
  if (bytes > largest_kept) return bytes;
  const size_t step = std::max(std::bit_floor(std::max<size_t>(bytes, 1)) / 8, least_step);
  return (std::max<size_t>(bytes, 1) + step - 1) / step * step;
}

}  // namespace

MemoryCache::~MemoryCache() {
  const Current current(api_, device_);
  release();
}

Status MemoryCache::take(void** address, size_t bytes) noexcept {
  const size_t size = roundUp(bytes);
  {
    auto kept = kept_.lock();
    const auto found = kept->blocks.find(size);
    if (found != kept->blocks.end() && !found->second.empty()) {
      *address = found->second.back();
      found->second.pop_back();
      kept->bytes -= size;
      return success;
    }
  }
  const Status status = api_.malloc(address, size);
  if (status != out_of_memory) return status;
  release();
  return api_.malloc(address, size);
}

void MemoryCache::give(void* address, size_t bytes) noexcept {
  const size_t size = roundUp(bytes);
  try {
    auto kept = kept_.lock();
    if (size <= largest_kept && kept->bytes + size <= most_kept) {
      kept->blocks[size].push_back(address);
      kept->bytes += size;
      return;
    }
  } catch (const std::bad_alloc&) {  // then it is not kept
  }
  api_.free(address);
}

void MemoryCache::release() noexcept {
  const auto blocks = kept_.with([](Kept& kept) {
    kept.bytes = 0;
    return std::exchange(kept.blocks, {});
  });
  for (const auto& [size, addresses] : blocks)
    for (void* address : addresses) api_.free(address);
}

}  // namespace weft::hip
