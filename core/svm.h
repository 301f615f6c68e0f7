// Shared virtual memory. Specification 5.6.
//
// An allocation is host memory that the devices of the context which have shared virtual memory use
// in place, at the host's address. So is one of unified shared memory
// (cl_intel_unified_shared_memory), which knows besides who owns it; but the device allocations of
// a device with memory of its own are in that, at the device's address.
#pragma once

#include <CL/cl_ext.h>

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/guarded.h"
#include "core/memory.h"

namespace weft {

// What unified shared memory was asked for with. Other shared virtual memory has nothing of it.
struct UsmTraits {
  cl_unified_shared_memory_type_intel type = CL_MEM_TYPE_UNKNOWN_INTEL;
  Ref<Device> device;  // null: all of the context
  cl_mem_alloc_flags_intel flags = 0;
  std::shared_ptr<void> room;  // in the device's memory, kept as long as the allocation lives

  bool isUsm() const { return type != CL_MEM_TYPE_UNKNOWN_INTEL; }
};

// Has the device unified shared memory? Where kernels and the host use host memory at the same
// time.
bool hasUsm(const Device& device);
// What it may do with it, by the query for that sort of memory.
cl_device_unified_shared_memory_capabilities_intel usmCapabilities(const Device& device,
                                                                   cl_device_info sort);
// Are the device's own allocations out of the host's reach?
bool hidesUsm(const Device& device);
// Throws CL_INVALID_OPERATION when no device of the context has any.
void requireUsm(const Context& context);

// One clSVMAlloc, or one of cl*MemAllocINTEL. Kept by its context until it is freed, and by
// commands in flight and buffers that use it until they are gone.
class SvmAllocation final : public Object {
 public:
  // Makes it usable on all devices that share memory. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  SvmAllocation(Context& context, size_t bytes, UsmTraits traits);

  // Of the host's memory; nothing is ever allocated of one of a device's.
  Storage& storage() { return storage_; }
  // Whose memory it is in; null when it is the host's, in place for all.
  Device* home() const { return own_ ? traits_.device.get() : nullptr; }
  // The memory that a command uses which runs in `space`.
  port::Memory& in(port::MemorySpace space) { return own_ ? *own_ : storage_.in(space); }
  // Can the kernels of a device that has unified shared memory use it?
  bool usableBy(const Device& device) const;
  size_t size() const { return storage_.size(); }
  std::byte* begin() const { return begin_; }
  const UsmTraits& traits() const { return traits_; }
  size_t offsetOf(const void* pointer) const {
    return reinterpret_cast<size_t>(pointer) - reinterpret_cast<size_t>(begin_);
  }
  // The host is going to use `size` bytes from `pointer` on until it has unmapped as often.
  void map(const void* pointer, size_t size);
  // The most bytes that were mapped there; 0: it was not mapped.
  size_t unmap(const void* pointer);
  // Of managed memory, as far as is known: is any of it with the host, and is all of it?
  bool isWithHost() const { return host_steps_.load(std::memory_order_relaxed) > 0; }
  bool isAllWithHost() const {
    return host_steps_.load(std::memory_order_relaxed) == stepsOf(size());
  }
  // Who looked found nothing there so often that it is not worth while, until the host is given
  // more.
  bool isSought() const { return in_vain_.load(std::memory_order_relaxed) < most_in_vain; }
  void noteInVain() { in_vain_.fetch_add(1, std::memory_order_relaxed); }
  // All steps of the host's that [begin, end) has a part in go to a device: appends them, as ranges
  // of bytes.
  using Ranges = std::vector<std::pair<size_t, size_t>>;
  void takeFromHost(size_t begin, size_t end, Ranges& taken);
  // [begin, end) has gone to a device; of steps that it has a part in the rest has not.
  void leaveHost(size_t begin, size_t end);
  void giveToHost(size_t begin, size_t end);
  // Is [pointer, pointer + size) inside? `pointer` is.
  bool holds(const void* pointer, size_t size) const {
    return size <= this->size() - offsetOf(pointer);
  }

 private:
  friend class SvmTable;
  void dispose() noexcept override;
  static constexpr size_t step_bytes = size_t(2) << 20;
  static constexpr uint32_t most_in_vain = 8;
  static size_t stepsOf(size_t bytes) { return (bytes + step_bytes - 1) / step_bytes; }

  Ref<Context> context_;  // once the context's table does not hold the allocation any more
  UsmTraits traits_;
  Storage storage_;
  std::unique_ptr<port::Memory> own_;
  std::byte* begin_;
  struct Mapped {
    size_t bytes = 0;  // the most
    uint64_t times = 0;
  };
  Guarded<std::map<const void*, Mapped>> mapped_;
  Guarded<std::vector<bool>> with_devices_;  // by steps
  std::atomic<size_t> host_steps_;
  std::atomic<uint32_t> in_vain_{0};
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
  // Is any of them in memory of a device's own?
  bool hidesAny() const { return hidden_.load(std::memory_order_relaxed) > 0; }

 private:
  Context& context_;
  std::atomic<size_t> hidden_{0};
  Guarded<std::map<const std::byte*, Ref<SvmAllocation>>> allocations_;
};

}  // namespace weft
