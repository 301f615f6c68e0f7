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

bool HostRegistry::share(const void* host, size_t bytes) {
  auto ranges = ranges_.lock();
  const auto found = find(*ranges, key(host), bytes);
  if (found == ranges->end()) return false;
  ++ranges->at(found->first).users;
  return true;
}

bool HostRegistry::pin(void* host, size_t bytes) {
  const std::lock_guard one_at_a_time(registering_);
  if (share(host, bytes)) return true;
  if (api_.hostRegister(host, bytes, host_portable | host_mapped) != success) return false;
  ranges_.lock()->emplace(key(host), Range{bytes, 1, true});
  return true;
}

void HostRegistry::adopt(void* host, size_t bytes) {
  ranges_.lock()->emplace(key(host), Range{bytes, 1, false});
}

void HostRegistry::release(void* host) noexcept {
  const std::lock_guard one_at_a_time(registering_);
  void* begin = nullptr;
  {
    auto ranges = ranges_.lock();
    const auto found = find(*ranges, key(host), 1);
    if (found == ranges->end()) return;
    Range& range = ranges->at(found->first);
    if (--range.users != 0) return;
    if (range.registered) begin = reinterpret_cast<void*>(found->first);
    ranges->erase(found);
  }
  if (begin) api_.hostUnregister(begin);
}

bool HostRegistry::covers(const void* host, size_t bytes) const noexcept {
  const auto ranges = ranges_.lock();
  return find(*ranges, key(host), bytes) != ranges->end();
}

bool HostRegistry::adopted(const void* host, size_t bytes) const noexcept {
  const auto ranges = ranges_.lock();
  const auto found = find(*ranges, key(host), bytes);
  return found != ranges->end() && !found->second.registered;
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

void WordPool::grow() {
  const bool alone = api_.extMallocWithFlags != nullptr;
  const size_t bytes = alone ? sizeof(uint64_t) : word_block_bytes;
  void* host = nullptr;
  const Status status = alone ? api_.extMallocWithFlags(&host, bytes, malloc_signal_memory)
                              : api_.hostMalloc(&host, bytes, host_portable | host_mapped);
  check(api_, status, "words to wait for");
  words_.lock()->blocks.push_back(host);
  void* device = host;
  if (!alone) check(api_, api_.hostGetDevicePointer(&device, host, 0), "the address of a word");
  auto words = words_.lock();
  for (size_t at = 0; at < bytes; at += word_stride) {
    auto* const word = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(host) + at);
    words->free.push_back({{word, static_cast<std::byte*>(device) + at}, 0});
    words->free.back().word.release(0);
  }
}

bool WordPool::takeSettled(HostWord& word) {
  auto words = words_.lock();
  const auto found = std::ranges::find_if(words->free, &Given::settled);
  if (found == words->free.end()) return false;
  word = found->word;
  *found = words->free.back();
  words->free.pop_back();
  return true;
}

HostWord WordPool::take() {
  HostWord word;
  while (!takeSettled(word)) grow();
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
