#include "backends/hip/runtime.h"

#include <algorithm>

#include "backends/hip/errors.h"

namespace weft::hip {
namespace {

constexpr size_t word_block_bytes = 4096;
// Each word on a line of its own: the device polls it while the host writes its neighbours.
constexpr size_t word_stride = 64;

uintptr_t key(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

}  // namespace

HostRegistry::Ranges::const_iterator HostRegistry::find(const Ranges& ranges, uintptr_t begin,
                                                        size_t bytes) {
  auto it = ranges.upper_bound(begin);
  if (it == ranges.begin()) return ranges.end();
  --it;
  return begin + bytes <= it->first + it->second.bytes ? it : ranges.end();
}

bool HostRegistry::pin(void* host, size_t bytes) {
  auto ranges = ranges_.lock();
  const auto found = find(*ranges, key(host), bytes);
  if (found != ranges->end()) {
    ++ranges->at(found->first).users;
    return true;
  }
  if (api_.hostRegister(host, bytes, host_portable | host_mapped) != success) return false;
  ranges->emplace(key(host), Range{bytes, 1, true});
  return true;
}

void HostRegistry::adopt(void* host, size_t bytes) {
  ranges_.lock()->emplace(key(host), Range{bytes, 1, false});
}

void HostRegistry::release(void* host) noexcept {
  auto ranges = ranges_.lock();
  const auto found = find(*ranges, key(host), 1);
  if (found == ranges->end()) return;
  Range& range = ranges->at(found->first);
  if (--range.users != 0) return;
  if (range.registered) api_.hostUnregister(reinterpret_cast<void*>(found->first));
  ranges->erase(found);
}

bool HostRegistry::covers(const void* host, size_t bytes) const noexcept {
  const auto ranges = ranges_.lock();
  return find(*ranges, key(host), bytes) != ranges->end();
}

bool HostRegistry::touches(const void* host, size_t bytes) const noexcept {
  const auto ranges = ranges_.lock();
  auto it = ranges->lower_bound(key(host) + bytes);  // the first that begins behind it
  if (it == ranges->begin()) return false;
  --it;
  return it->first + it->second.bytes > key(host);
}

WordPool::~WordPool() {
  const Current current(api_, 0);
  for (void* block : words_.lock()->blocks)
    api_.extMallocWithFlags ? api_.free(block) : api_.hostFree(block);
}

void WordPool::add(Words& words, HostWord word) {
  word.release(0);
  words.free.push_back({word, 0});
}

void WordPool::grow(Words& words) {
  void* host = nullptr;
  if (api_.extMallocWithFlags) {
    check(api_, api_.extMallocWithFlags(&host, sizeof(uint64_t), malloc_signal_memory),
          "a word to wait for");
    words.blocks.push_back(host);
    add(words, {static_cast<uint32_t*>(host), host});
    return;
  }
  check(api_, api_.hostMalloc(&host, word_block_bytes, host_portable | host_mapped),
        "words to wait for");
  words.blocks.push_back(host);
  void* device = nullptr;
  check(api_, api_.hostGetDevicePointer(&device, host, 0), "the address of a word");
  for (size_t at = 0; at < word_block_bytes; at += word_stride) {
    auto* const word = static_cast<std::byte*>(host) + at;
    add(words, {reinterpret_cast<uint32_t*>(word), static_cast<std::byte*>(device) + at});
  }
}

HostWord WordPool::take() {
  auto words = words_.lock();
  auto found = std::ranges::find_if(words->free, &Given::settled);
  if (found == words->free.end()) {
    grow(*words);
    found = words->free.end() - 1;
  }
  HostWord word = found->word;
  *found = words->free.back();
  words->free.pop_back();
  word.release(0);
  return word;
}

void WordPool::give(HostWord word, uint32_t last) noexcept {
  words_.lock()->free.push_back({word, last});
}

StagingPool::~StagingPool() {
  const Current current(api_, 0);
  auto free = free_.lock();
  for (const auto* list : {&free->small, &free->large})
    for (const Chunk& chunk : *list) api_.hostFree(chunk.host);
}

StagingPool::Chunk StagingPool::take(size_t bytes) {
  const bool small = bytes <= small_bytes;
  {
    auto free = free_.lock();
    std::vector<Chunk>& list = small ? free->small : free->large;
    if (!list.empty()) {
      const Chunk chunk = list.back();
      list.pop_back();
      return chunk;
    }
  }
  const size_t size = small ? small_bytes : large_bytes;
  void* host = nullptr;
  check(api_, api_.hostMalloc(&host, size, host_portable | host_mapped), "pinned staging memory");
  return {static_cast<std::byte*>(host), size};
}

void StagingPool::give(Chunk chunk) noexcept {
  auto free = free_.lock();
  (chunk.bytes == small_bytes ? free->small : free->large).push_back(chunk);
}

}  // namespace weft::hip
