// Pages straight from the system.
#pragma once

#include <cstddef>
#include <utility>

namespace weft::cpu {

// A private range of addresses of its own, unmapped at the end or kept for another one.
class Mapping {
 public:
  // Throws CL_MEM_OBJECT_ALLOCATION_FAILURE. May be longer, by up to a quarter. May hold what one
  // that was kept held. Thread-safe.
  static Mapping ofAtLeast(size_t bytes);
  // The same, but new and no longer.
  static Mapping fresh(size_t bytes);

  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_), is_new_(other.is_new_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(is_new_, other.is_new_);
    return *this;
  }
  ~Mapping();

  std::byte* base() const { return base_; }
  size_t size() const { return bytes_; }
  // Full of zeros, and not yet backed by memory.
  bool isNew() const { return is_new_; }

  // A few mappings are kept, the latest ones, of up to 32 MiB each and 128 MiB together: having the
  // system take pages and give others costs as much as kernels take to use them. Meanwhile the
  // system takes the memory of the huge pages in it as soon as it wants some. Thread-safe.
  static void keep(Mapping mapping) noexcept;
  // Gives those up, because memory is short; those two do before they fail. False when there were
  // none. Thread-safe.
  static bool dropKept() noexcept;

 private:
  Mapping(std::byte* base, size_t bytes) : base_(base), bytes_(bytes) {}

  std::byte* base_;
  size_t bytes_;
  bool is_new_ = true;
};

}  // namespace weft::cpu
