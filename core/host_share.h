// A share of the host's memory.
#pragma once

#include <cstdint>
#include <utility>

namespace weft {

// Held as long as the object lives. Whoever makes memory objects of the host's memory has one of
// what it makes, on one account: drivers and the system promise more than there is, and a process
// that believes them is killed.
class HostShare {
 public:
  HostShare() = default;
  // Throws CL_MEM_OBJECT_ALLOCATION_FAILURE where all shares of the process would be more than the
  // machine, or its control group, lets it have.
  explicit HostShare(uint64_t bytes);
  ~HostShare();
  HostShare(HostShare&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  HostShare& operator=(HostShare&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

 private:
  uint64_t bytes_ = 0;
};

}  // namespace weft
