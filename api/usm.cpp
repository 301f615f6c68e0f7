// cl_intel_unified_shared_memory: allocations that know who owns them, over shared virtual memory.
#include <CL/cl_ext.h>

#include <algorithm>
#include <bit>
#include <span>

#include "api/checks.h"
#include "api/copy_arguments.h"
#include "api/entry.h"
#include "api/info.h"
#include "api/properties.h"
#include "api/ranges.h"
#include "core/svm.h"
#include "scheduler/enqueue.h"

namespace weft::api {
namespace {

constexpr size_t largest_type = sizeof(cl_long16);
constexpr cl_mem_alloc_flags_intel placement =
    CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;

// The device of a device allocation or a shared one, or null for all that have such memory.
// "CL_INVALID_DEVICE if device is not a valid device or is not associated with context."
// "CL_INVALID_OPERATION if [its capabilities are zero], [or] no devices in context support [it]."
Ref<Device> toOwner(const Context& context, cl_device_id handle) {
  if (!handle) {
    requireUsm(context);
    return nullptr;
  }
  Device& device = toDevice(handle);
  context.requireDevice(device);
  require(hasUsm(device), CL_INVALID_OPERATION, "the device has no unified shared memory");
  return Ref<Device>(&device);
}

// "CL_INVALID_PROPERTY if a memory property name in properties is not a supported property name, if
// the value specified for a supported property name is not valid, or if the same property name is
// specified more than once."
cl_mem_alloc_flags_intel toFlags(const cl_mem_properties_intel* properties,
                                 cl_unified_shared_memory_type_intel type) {
  cl_mem_alloc_flags_intel flags = 0;
  readProperties(properties, CL_INVALID_PROPERTY, [&](cl_bitfield name, cl_bitfield value) {
    require(name == CL_MEM_ALLOC_FLAGS_INTEL, CL_INVALID_PROPERTY, "unknown property");
    flags = value;
  });
  const cl_mem_alloc_flags_intel known =
      CL_MEM_ALLOC_WRITE_COMBINED_INTEL | (type == CL_MEM_TYPE_SHARED_INTEL ? placement : 0);
  require((flags & ~known) == 0 && (flags & placement) != placement, CL_INVALID_PROPERTY,
          "flags that the allocation does not take, or that exclude each other");
  return flags;
}

// "CL_INVALID_BUFFER_SIZE if size is zero or greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for device",
// or for any of the context that has such memory.
void checkSize(const Context& context, const Device* owner, size_t size) {
  require(size > 0, CL_INVALID_BUFFER_SIZE);
  for (const Ref<Device>& device : context.devices())
    if (owner ? device.get() == owner : hasUsm(*device))
      require(size <= device->capabilities().max_allocation_bytes, CL_INVALID_BUFFER_SIZE);
}

struct Wish {
  const cl_mem_properties_intel* properties;
  size_t size;
  cl_uint alignment;
};

void* allocate(cl_context context, cl_unified_shared_memory_type_intel type, cl_device_id device,
               const Wish& wish) {
  const Context& owner = toContext(context);
  UsmTraits traits;
  traits.type = type;
  traits.device = toOwner(owner, device);
  // "It must be a power of two and must be equal to or smaller than the size of the largest data
  // type supported."
  require(wish.alignment == 0 ||
              (std::has_single_bit(wish.alignment) && wish.alignment <= largest_type),
          CL_INVALID_VALUE, "alignment");
  traits.flags = toFlags(wish.properties, type);
  checkSize(owner, traits.device.get(), wish.size);
  const bool hidden = type == CL_MEM_TYPE_DEVICE_INTEL && hidesUsm(*traits.device);
  try {
    if (!hidden) return owner.svm().allocate(wish.size, std::move(traits));
    void* made = nullptr;
    allocateIn(owner, *traits.device, wish.size, [&](std::shared_ptr<void> room) {
      UsmTraits in_room = traits;
      in_room.room = std::move(room);
      made = owner.svm().allocate(wish.size, std::move(in_room));
    });
    return made;
  } catch (const Error& error) {
    // "CL_OUT_OF_RESOURCES if there is a failure to allocate resources required by the OpenCL
    // implementation on the device", and CL_OUT_OF_HOST_MEMORY on the host.
    if (error.code() != CL_MEM_OBJECT_ALLOCATION_FAILURE) throw;
    throw Error(hidden ? CL_OUT_OF_RESOURCES : CL_OUT_OF_HOST_MEMORY, error.what());
  }
}

void free(Context& context, const void* pointer) {
  require(context.svm().free(pointer, SvmTable::Sort::usm), CL_INVALID_VALUE, "not allocated");
}

// What a pointer points into: "if ptr does not point into a Unified Shared Memory allocation",
// null.
struct Found {
  Ref<SvmAllocation> allocation;

  UsmTraits traits() const { return allocation ? allocation->traits() : UsmTraits{}; }
};

constexpr InfoRow<const Found> rows[] = {
    {CL_MEM_ALLOC_TYPE_INTEL, [](const Found& found) { return found.traits().type; }},
    {CL_MEM_ALLOC_BASE_PTR_INTEL,
     [](const Found& found) -> void* {
       return found.allocation ? found.allocation->begin() : nullptr;
     }},
    {CL_MEM_ALLOC_SIZE_INTEL,
     [](const Found& found) { return found.allocation ? found.allocation->size() : size_t{0}; }},
    {CL_MEM_ALLOC_DEVICE_INTEL,
     [](const Found& found) -> cl_device_id {
       const Ref<Device> device = found.traits().device;
       return device ? device->handle() : nullptr;
     }},
    {CL_MEM_ALLOC_FLAGS_INTEL, [](const Found& found) { return found.traits().flags; }},
};

Queue& toUsmQueue(cl_command_queue handle) {
  Queue& queue = toQueue(handle);
  require(hasUsm(queue.device()), CL_INVALID_OPERATION, "the device has no unified shared memory");
  return queue;
}

cl_int enqueueFill(cl_command_queue command_queue, void* destination, const void* pattern,
                   size_t pattern_size, size_t size, cl_uint wait_count, const cl_event* wait_list,
                   cl_event* event) {
  return call([&] {
    Queue& queue = toUsmQueue(command_queue);
    SvmFillWork fill = checkSvmMemFill(queue, destination, pattern, pattern_size, size);
    const WaitArgument waits(queue.context(), wait_count, wait_list);
    giveEvent(enqueueWork(queue, std::move(fill), waits, CL_COMMAND_MEMFILL_INTEL), event);
  });
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

void* CL_API_CALL clHostMemAllocINTEL(cl_context context, const cl_mem_properties_intel* properties,
                                      size_t size, cl_uint alignment, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    return allocate(context, CL_MEM_TYPE_HOST_INTEL, nullptr, {properties, size, alignment});
  });
}

void* CL_API_CALL clDeviceMemAllocINTEL(cl_context context, cl_device_id device,
                                        const cl_mem_properties_intel* properties, size_t size,
                                        cl_uint alignment, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    toContext(context);
    require(device != nullptr, CL_INVALID_DEVICE);
    return allocate(context, CL_MEM_TYPE_DEVICE_INTEL, device, {properties, size, alignment});
  });
}

void* CL_API_CALL clSharedMemAllocINTEL(cl_context context, cl_device_id device,
                                        const cl_mem_properties_intel* properties, size_t size,
                                        cl_uint alignment, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    return allocate(context, CL_MEM_TYPE_SHARED_INTEL, device, {properties, size, alignment});
  });
}

cl_int CL_API_CALL clMemFreeINTEL(cl_context context, void* ptr) {
  return call([&] {
    Context& owner = toContext(context);
    if (ptr) api::free(owner, ptr);
  });
}

// Any command may be using it: kernels follow pointers, and queues of all devices copy.
cl_int CL_API_CALL clMemBlockingFreeINTEL(cl_context context, void* ptr) {
  return call([&] {
    Context& owner = toContext(context);
    if (!ptr) return;
    const Ref<SvmAllocation> allocation = owner.svm().find(ptr);
    require(allocation && allocation->begin() == ptr && allocation->traits().isUsm(),
            CL_INVALID_VALUE, "not allocated");
    Queue::finishAll(owner);
    api::free(owner, ptr);
  });
}

cl_int CL_API_CALL clGetMemAllocInfoINTEL(cl_context context, const void* ptr,
                                          cl_mem_info_intel param_name, size_t param_value_size,
                                          void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    Found found{toContext(context).svm().find(ptr)};
    if (found.allocation && !found.allocation->traits().isUsm()) found.allocation = nullptr;
    query<const Found>(rows, found, param_name, param_value_size, param_value,
                       param_value_size_ret);
  });
}

cl_int CL_API_CALL clEnqueueMemFillINTEL(cl_command_queue command_queue, void* dst_ptr,
                                         const void* pattern, size_t pattern_size, size_t size,
                                         cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event) {
  return api::enqueueFill(command_queue, dst_ptr, pattern, pattern_size, size,
                          num_events_in_wait_list, event_wait_list, event);
}

// What the extension had before it was published: the fill of one byte.
cl_int CL_API_CALL clEnqueueMemsetINTEL(cl_command_queue command_queue, void* dst_ptr, cl_int value,
                                        size_t size, cl_uint num_events_in_wait_list,
                                        const cl_event* event_wait_list, cl_event* event) {
  const auto byte = static_cast<cl_uchar>(value);
  return api::enqueueFill(command_queue, dst_ptr, &byte, sizeof byte, size, num_events_in_wait_list,
                          event_wait_list, event);
}

cl_int CL_API_CALL clEnqueueMemcpyINTEL(cl_command_queue command_queue, cl_bool blocking,
                                        void* dst_ptr, const void* src_ptr, size_t size,
                                        cl_uint num_events_in_wait_list,
                                        const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toUsmQueue(command_queue);
    SvmCopyWork copy = checkSvmMemcpy(queue, dst_ptr, src_ptr, size);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    finishCommand(enqueueWork(queue, std::move(copy), waits, CL_COMMAND_MEMCPY_INTEL), blocking,
                  event);
  });
}

cl_int CL_API_CALL clEnqueueMigrateMemINTEL(cl_command_queue command_queue, const void* ptr,
                                            size_t size, cl_mem_migration_flags flags,
                                            cl_uint num_events_in_wait_list,
                                            const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toUsmQueue(command_queue);
    checkSvmRange(queue, ptr, size, false);
    requireMigrationFlags(flags);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueSvmMigrate(queue, {&ptr, 1}, &size, flags, waits, CL_COMMAND_MIGRATEMEM_INTEL),
              event);
  });
}

cl_int CL_API_CALL clEnqueueMemAdviseINTEL(cl_command_queue command_queue, const void* ptr,
                                           size_t size, cl_mem_advice_intel advice,
                                           cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toUsmQueue(command_queue);
    checkSvmRange(queue, ptr, size, false);
    // The extension reserves numbers for advice and defines none.
    require(advice == 0, CL_INVALID_VALUE, "unknown advice");
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueSvmSync(queue, CL_COMMAND_MEMADVISE_INTEL, {&ptr, 1}, waits), event);
  });
}
