// Specification 5.6: shared virtual memory.
#include "core/svm.h"

#include <bit>

#include "api/checks.h"
#include "api/copy_arguments.h"
#include "api/entry.h"
#include "api/ranges.h"
#include "scheduler/enqueue.h"

namespace weft::api {
namespace {

constexpr cl_svm_mem_flags access_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr size_t largest_type = sizeof(cl_long16);

Queue& toSvmQueue(cl_command_queue handle) {
  Queue& queue = toQueue(handle);
  requireSharedMemory(queue);
  return queue;
}

// Throws anything where clSVMAlloc returns NULL.
void checkAllocation(const Context& context, cl_svm_mem_flags flags, size_t size,
                     cl_uint alignment) {
  constexpr cl_svm_mem_flags known =
      access_flags | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
  const bool fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER;
  const bool atomics = flags & CL_MEM_SVM_ATOMICS;
  const uint32_t shared = context.sharedMemory();
  require((flags & ~known) == 0 && std::popcount(flags & access_flags) <= 1, CL_INVALID_VALUE,
          "unknown flags, or flags that exclude each other");
  require(fine || !atomics, CL_INVALID_VALUE, "atomics need fine-grained memory");
  require(shared & port::shares_coarse_buffers, CL_INVALID_OPERATION, "no SVM in this context");
  require(!fine || shared & port::shares_fine_buffers, CL_INVALID_OPERATION, "no fine-grained SVM");
  require(!atomics || shared & port::shares_atomics, CL_INVALID_OPERATION, "no SVM atomics");
  // "It must be a power of two up to the largest data type supported by the OpenCL device."
  require(alignment == 0 || (std::has_single_bit(alignment) && alignment <= largest_type),
          CL_INVALID_VALUE, "alignment");
  // "... size is 0 or > CL_DEVICE_MAX_MEM_ALLOC_SIZE value for any device in context."
  require(size > 0, CL_INVALID_BUFFER_SIZE);
  for (const Ref<Device>& device : context.devices())
    require(size <= device->capabilities().max_allocation_bytes, CL_INVALID_BUFFER_SIZE);
}

// "CL_INVALID_VALUE if sizes[i] is non-zero range [svm_pointers[i], svm_pointers[i] + sizes[i]) is
// not contained within an existing clSVMAlloc allocation."
void checkMigration(const Context& context, std::span<const void* const> pointers,
                    const size_t* sizes) {
  for (size_t i = 0; i < pointers.size(); ++i) {
    const Ref<SvmAllocation> allocation = context.svm().find(pointers[i]);
    require(allocation && allocation->holds(pointers[i], sizes ? sizes[i] : 0), CL_INVALID_VALUE,
            "not in an SVM allocation");
  }
}

bool overlap(const void* a, const void* b, size_t size) {
  const auto x = reinterpret_cast<size_t>(a);
  const auto y = reinterpret_cast<size_t>(b);
  return (x > y ? x - y : y - x) < size;
}

}  // namespace

void requireHostAccess(const Queue& queue, const void* pointer) {
  if (!queue.context().svm().hidesAny()) return;
  const Ref<SvmAllocation> allocation = queue.context().svm().find(pointer);
  require(!allocation || !allocation->home(), CL_INVALID_VALUE, "not the host's memory");
}

void checkSvmRange(const Queue& queue, const void* pointer, size_t size, bool may_be_anywhere) {
  require(pointer != nullptr, CL_INVALID_VALUE, "no memory");
  if (const Ref<SvmAllocation> allocation = queue.context().svm().find(pointer))
    require(allocation->holds(pointer, size), CL_INVALID_VALUE, "beyond the SVM allocation");
  else
    require(
        may_be_anywhere || queue.device().capabilities().shared_memory & port::shares_all_memory,
        CL_INVALID_VALUE, "not shared virtual memory");
}

void requireSharedMemory(const Queue& queue) {
  require(queue.device().capabilities().shared_memory != port::shares_nothing, CL_INVALID_OPERATION,
          "the device does not support shared virtual memory");
}

SvmCopyWork checkSvmMemcpy(const Queue& queue, void* dst_ptr, const void* src_ptr, size_t size) {
  checkSvmRange(queue, dst_ptr, size, true);
  checkSvmRange(queue, src_ptr, size, true);
  require(!overlap(dst_ptr, src_ptr, size), CL_MEM_COPY_OVERLAP);
  const Context& context = queue.context();
  return {{context, dst_ptr}, {context, src_ptr}, size};
}

SvmFillWork checkSvmMemFill(const Queue& queue, void* svm_ptr, const void* pattern,
                            size_t pattern_size, size_t size) {
  checkSvmRange(queue, svm_ptr, size, false);
  requirePattern(pattern, pattern_size);
  require(reinterpret_cast<size_t>(svm_ptr) % pattern_size == 0 && size % pattern_size == 0,
          CL_INVALID_VALUE, "address or size is not a multiple of the pattern's size");
  return SvmFillWork(queue.context(), svm_ptr, pattern, pattern_size, size);
}

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

void* CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                             cl_uint alignment) {
  return create(nullptr, [&]() -> void* {
    const Context& owner = toContext(context);
    checkAllocation(owner, flags, size, alignment);
    return owner.svm().allocate(size);
  });
}

void CL_API_CALL clSVMFree(cl_context context, void* svm_pointer) {
  call([&] {
    const Context& owner = toContext(context);
    // "If NULL is passed in svm_pointer, no action occurs."
    if (svm_pointer) require(owner.svm().free(svm_pointer), CL_INVALID_VALUE, "not allocated");
  });
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                    void* svm_pointers[], SvmFreeFunction pfn_free_func,
                                    void* user_data, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toSvmQueue(command_queue);
    require((num_svm_pointers == 0) == (svm_pointers == nullptr), CL_INVALID_VALUE,
            "pointers and their number");
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(
        enqueueSvmFree(queue, {svm_pointers, num_svm_pointers}, pfn_free_func, user_data, waits),
        event);
  });
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy,
                                      void* dst_ptr, const void* src_ptr, size_t size,
                                      cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toSvmQueue(command_queue);
    SvmCopyWork copy = checkSvmMemcpy(queue, dst_ptr, src_ptr, size);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    finishCommand(enqueueWork(queue, std::move(copy), waits), blocking_copy, event);
  });
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue command_queue, void* svm_ptr,
                                       const void* pattern, size_t pattern_size, size_t size,
                                       cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toSvmQueue(command_queue);
    SvmFillWork fill = checkSvmMemFill(queue, svm_ptr, pattern, pattern_size, size);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, std::move(fill), waits), event);
  });
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map,
                                   cl_map_flags map_flags, void* svm_ptr, size_t size,
                                   cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                   cl_event* event) {
  return call([&] {
    Queue& queue = toSvmQueue(command_queue);
    require(size > 0, CL_INVALID_VALUE, "nothing to map");
    checkSvmRange(queue, svm_ptr, size, false);
    requireHostAccess(queue, svm_ptr);
    requireMapFlags(map_flags);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    const void* const pointer = svm_ptr;
    finishCommand(enqueueSvmMigrate(queue, {&pointer, 1}, &size, CL_MIGRATE_MEM_OBJECT_HOST, waits,
                                    CL_COMMAND_SVM_MAP),
                  blocking_map, event);
  });
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue command_queue, void* svm_ptr,
                                     cl_uint num_events_in_wait_list,
                                     const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toSvmQueue(command_queue);
    checkSvmRange(queue, svm_ptr, 0, false);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    const void* const pointer = svm_ptr;
    giveEvent(enqueueSvmMigrate(queue, {&pointer, 1}, nullptr, 0, waits, CL_COMMAND_SVM_UNMAP),
              event);
  });
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                          const void** svm_pointers, const size_t* sizes,
                                          cl_mem_migration_flags flags,
                                          cl_uint num_events_in_wait_list,
                                          const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toSvmQueue(command_queue);
    require(num_svm_pointers > 0 && svm_pointers, CL_INVALID_VALUE, "no pointers");
    requireMigrationFlags(flags);
    const std::span<const void* const> pointers(svm_pointers, num_svm_pointers);
    checkMigration(queue.context(), pointers, sizes);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueSvmMigrate(queue, pointers, sizes, flags, waits), event);
  });
}
