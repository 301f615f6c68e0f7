// Shared virtual memory. Specification 5.6.
//
// An allocation is host memory that the devices of the context which have shared virtual memory use
// in place, at the host's address. So is one of unified shared memory
// (cl_intel_unified_shared_memory), which knows besides who owns it.
#pragma once

#include <CL/cl_ext.h>

#include <map>

#include "core/guarded.h"
#include "core/memory.h"

namespace weft {

// What unified shared memory was asked for with. Other shared virtual memory has nothing of it.
struct UsmTraits {
  cl_unified_shared_memory_type_intel type = CL_MEM_TYPE_UNKNOWN_INTEL;
  Ref<Device> device;  // null: all of the context
  cl_mem_alloc_flags_intel flags = 0;

  bool isUsm() const { return type != CL_MEM_TYPE_UNKNOWN_INTEL; }
};

// What a device may do with unified shared memory of any type, the system's included: everything
// where kernels use all of the host's memory in place, with atomics. Nothing elsewhere: memory of a
// GPU's own that the host does not see is not what core/svm.h has to give.
cl_device_unified_shared_memory_capabilities_intel usmCapabilities(const Device& device);
// Throws CL_INVALID_OPERATION when no device of the context has any.
void requireUsm(const Context& context);

// One clSVMAlloc, or one of cl*MemAllocINTEL. Kept by its context until it is freed, and by
// commands in flight and buffers that use it until they are gone.
class SvmAllocation final : public Object {
 public:
  // Makes it usable on all devices that share memory. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  SvmAllocation(Context& context, size_t bytes, UsmTraits traits);

  Storage& storage() { return storage_; }
  size_t size() const { return storage_.size(); }
  std::byte* begin() const { return begin_; }
  const UsmTraits& traits() const { return traits_; }
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
  UsmTraits traits_;
};

// The allocations of a context. Thread-safe.
class SvmTable {
 public:
  explicit SvmTable(Context& context) : context_(context) {}

  std::byte* allocate(size_t bytes, UsmTraits traits = {});
  // False when no allocation begins there, or one of the other sort.
  enum class Sort : uint8_t { svm, usm };
  bool free(const void* begin, Sort sort = Sort::svm);
  // The allocation that holds the byte at `pointer`, or null.
  Ref<SvmAllocation> find(const void* pointer) const;

 private:
  Context& context_;
  Guarded<std::map<const std::byte*, Ref<SvmAllocation>>> allocations_;
};

}  // namespace weft
