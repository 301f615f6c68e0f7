// Shared virtual memory. Specification 5.6.
//
// An allocation is host memory that the devices of the context which have shared virtual memory use
// in place, at the host's address.
#pragma once

#include <map>

#include "core/guarded.h"
#include "core/memory.h"

namespace weft {

// One clSVMAlloc. Kept by its context until it is freed, and by commands in flight and buffers that
// use it until they are gone.
class SvmAllocation final : public Object {
 public:
  // Makes it usable on all devices that share memory. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  SvmAllocation(Context& context, size_t bytes);

  Storage& storage() { return storage_; }
  size_t size() const { return storage_.size(); }
  std::byte* begin() const { return begin_; }
  size_t offsetOf(const void* pointer) const {
    return reinterpret_cast<size_t>(pointer) - reinterpret_cast<size_t>(begin_);
  }
  // Is [pointer, pointer + size) inside? `pointer` is.
  bool holds(const void* pointer, size_t size) const {
    return size <= this->size() - offsetOf(pointer);
  }

 private:
  friend class SvmTable;
  void dispose() noexcept override;

  Ref<Context> context_;  // once the context's table does not hold the allocation any more
  Storage storage_;
  std::byte* begin_;
};

// The allocations of a context. Thread-safe.
class SvmTable {
 public:
  explicit SvmTable(Context& context) : context_(context) {}

  std::byte* allocate(size_t bytes);
  // False when no allocation begins there.
  bool free(const void* begin);
  // The allocation that holds the byte at `pointer`, or null.
  Ref<SvmAllocation> find(const void* pointer) const;

 private:
  Context& context_;
  Guarded<std::map<const std::byte*, Ref<SvmAllocation>>> allocations_;
};

}  // namespace weft
