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

// Puts memory that other processes can map in the place of the application's, with the same
// contents; nobody may write it meanwhile. -1 unless it is whole pages, which nothing else shares.
int makeShared(void* host, size_t bytes);

// Parts of a block. Thread-safe.
class Heap {
 public:
  explicit Heap(const SharedBlock& block) : block_(block), free_{{0, block.bytes()}} {}

  void* allocate(size_t bytes);  // nullptr when there is no room
  bool release(void* address);   // false when nothing begins there
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
