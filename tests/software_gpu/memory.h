// Memory of the software GPUs and of the host that both can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace weft::software {

// Memory that processes can share, at one address in all of them.
class SharedBlock {
 public:
  // `for_host`: the host may use the address. Otherwise touching it faults, and the runtime's own
  // copies use another mapping.
  SharedBlock(const char* name, size_t bytes, bool for_host);
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  ~SharedBlock();

  int descriptor() const { return descriptor_; }
  size_t bytes() const { return bytes_; }
  std::byte* address() const { return address_; }
  bool holds(const void* address) const;
  // Where the runtime itself finds what lies at `address`.
  std::byte* access(const void* address) const;
  // Gives the pages back to the system.
  void discard(size_t offset, size_t bytes) const;

 private:
  size_t bytes_;
  int descriptor_;
  std::byte* address_;
  std::byte* access_;
};

// Bytes of a file that processes can map; the descriptor is whoever closes it's.
struct SharedPages {
  int descriptor = -1;  // -1: they cannot
  size_t offset = 0;
};

// Of the application's memory, which has to be whole pages. What is shared already, by whatever it
// comes from, stays as it is; else memory that processes can map takes its place, with the same
// contents, and nobody may write it meanwhile.
SharedPages makeShared(void* host, size_t bytes);

// Parts of a block. Thread-safe.
class Heap {
 public:
  explicit Heap(const SharedBlock& block) : block_(block), free_{{0, block.bytes()}} {}

  void* allocate(size_t bytes);  // nullptr when there is no room
  bool release(void* address);   // false when nothing begins there
  struct Range {
    void* begin;
    size_t bytes;
  };
  // The allocation that holds the byte at `address`, which lies in the block.
  std::optional<Range> rangeOf(const void* address) const;
  // Does one allocation hold all of it?
  bool holds(const void* address, size_t bytes) const;
  size_t available() const;

 private:
  using Ranges = std::map<size_t, size_t>;  // offset and bytes

  const SharedBlock& block_;
  mutable std::mutex mutex_;
  Ranges free_, used_;
};

}  // namespace weft::software
