// Specification 5.10 (executing kernels), native kernels, and 5.12 (markers, barriers).
#include <algorithm>
#include <cstring>

#include "api/buffer_argument.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "scheduler/enqueue.h"

namespace weft::api {
namespace {

constexpr cl_uint max_dimensions = 3;

void launch(cl_command_queue command_queue, cl_kernel kernel, const NDRange& range,
            cl_command_type type, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
            cl_event* event) {
  Queue& queue = toQueue(command_queue);
  Kernel& target = toKernel(kernel);
  requireSameContext(queue, target);
  require(range.dimensions >= 1 && range.dimensions <= max_dimensions, CL_INVALID_WORK_DIMENSION);
  const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
  giveEvent(enqueueLaunch(queue, target, range, waits.wanting(event), type), event);
}

void suggest(cl_command_queue command_queue, cl_kernel kernel, const NDRange& range,
             size_t* suggestion) {
  const Queue& queue = toQueue(command_queue);
  const Kernel& target = toKernel(kernel);
  requireSameContext(queue, target);
  require(range.dimensions >= 1 && range.dimensions <= max_dimensions, CL_INVALID_WORK_DIMENSION);
  require(range.global != nullptr, CL_INVALID_GLOBAL_WORK_SIZE, "no global size");
  require(suggestion != nullptr, CL_INVALID_VALUE, "nowhere to put the size");
  std::copy_n(suggestLocalSize(queue, target, range).begin(), range.dimensions, suggestion);
}

// The places in `args` where the addresses of buffers go.
std::vector<NativeMemory> nativeMemory(const Queue& queue, const void* args, size_t cb_args,
                                       cl_uint count, const cl_mem* objects,
                                       const void** locations) {
  require((count == 0) == (objects == nullptr) && (count == 0) == (locations == nullptr),
          CL_INVALID_VALUE, "memory list and its length");
  std::vector<NativeMemory> result;
  for (cl_uint i = 0; i < count; ++i) {
    const size_t offset = reinterpret_cast<size_t>(locations[i]) - reinterpret_cast<size_t>(args);
    require(cb_args >= sizeof(void*) && offset <= cb_args - sizeof(void*), CL_INVALID_VALUE,
            "a location outside of the arguments");
    // "The memory object values specified in mem_list are memory object handles or NULL."
    result.push_back({objects[i] ? &bufferFor(queue, objects[i]) : nullptr, offset});
  }
  return result;
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel,
                                          cl_uint work_dim, const size_t* global_work_offset,
                                          const size_t* global_work_size,
                                          const size_t* local_work_size,
                                          cl_uint num_events_in_wait_list,
                                          const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    launch(command_queue, kernel, {work_dim, global_work_offset, global_work_size, local_work_size},
           CL_COMMAND_NDRANGE_KERNEL, num_events_in_wait_list, event_wait_list, event);
  });
}

cl_int CL_API_CALL clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue command_queue,
                                                        cl_kernel kernel, cl_uint work_dim,
                                                        const size_t* global_work_offset,
                                                        const size_t* global_work_size,
                                                        size_t* suggested_local_work_size) {
  return call([&] {
    suggest(command_queue, kernel, {work_dim, global_work_offset, global_work_size, nullptr},
            suggested_local_work_size);
  });
}

// "Equivalent to calling clEnqueueNDRangeKernel with work_dim set to 1, global_work_offset set to
// NULL, global_work_size[0] set to 1, and local_work_size[0] set to 1."
cl_int CL_API_CALL clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
                                 cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                 cl_event* event) {
  return call([&] {
    const size_t one = 1;
    launch(command_queue, kernel, {1, nullptr, &one, &one}, CL_COMMAND_TASK,
           num_events_in_wait_list, event_wait_list, event);
  });
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue command_queue, NativeFunction user_func,
                                         void* args, size_t cb_args, cl_uint num_mem_objects,
                                         const cl_mem* mem_list, const void** args_mem_loc,
                                         cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    require(queue.device().capabilities().native_kernels, CL_INVALID_OPERATION,
            "the device runs no native kernels");
    require(user_func != nullptr, CL_INVALID_VALUE);
    require((args == nullptr) == (cb_args == 0), CL_INVALID_VALUE, "arguments and their size");
    require(args || num_mem_objects == 0, CL_INVALID_VALUE, "memory objects without arguments");
    const auto objects =
        nativeMemory(queue, args, cb_args, num_mem_objects, mem_list, args_mem_loc);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueNative(queue, user_func, args, cb_args, objects, waits), event);
  });
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue command_queue,
                                               cl_uint num_events_in_wait_list,
                                               const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueMarker(queue, waits), event);
  });
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueBarrier(queue, waits), event);
  });
}

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue command_queue, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    require(event != nullptr, CL_INVALID_VALUE);
    giveEvent(enqueueMarker(queue, {}), event);
  });
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue command_queue) {
  return call([&] { enqueueBarrier(toQueue(command_queue), {}); });
}

// A barrier that waits for the events only: what is enqueued later runs after them.
cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint num_events,
                                          const cl_event* event_list) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    require(num_events > 0 && event_list, CL_INVALID_VALUE);
    enqueueBarrier(queue, eventList(queue.context(), num_events, event_list));
  });
}
