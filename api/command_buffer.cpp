// cl_khr_command_buffer: objects, enqueueing and queries. docs/command-buffers.md.
#include "scheduler/command_buffer.h"

#include "api/command_buffer_argument.h"
#include "api/command_buffer_entry_points.h"
#include "api/properties.h"
#include "api/tables.h"

namespace weft::api {
namespace {

constexpr InfoRow<CommandBuffer> rows[] = {
    {khr::buffer_num_queues, always<cl_uint{1}>},
    {khr::buffer_queues, [](CommandBuffer& b) { return b.queue().handle(); }},
    {khr::buffer_reference_count, [](CommandBuffer& b) { return cl_uint{b.handleReferences()}; }},
    {khr::buffer_state, [](CommandBuffer& b) { return b.state(); }},
    {khr::buffer_properties_array, [](CommandBuffer& b) { return b.properties(); }},
    {khr::buffer_context, [](CommandBuffer& b) { return b.context().handle(); }},
};

cl_command_buffer_khr makeCommandBuffer(cl_uint num_queues, const cl_command_queue* queues,
                                        const cl_command_buffer_properties_khr* properties) {
  require(num_queues == 1 && queues, CL_INVALID_VALUE, "a command buffer has one queue");
  Queue& queue = toQueue(queues[0]);
  cl_bitfield flags = 0, asserts = 0;
  auto list = readProperties(properties, CL_INVALID_VALUE, [&](auto name, cl_bitfield value) {
    constexpr cl_bitfield known_flags = khr::flag_simultaneous_use | khr::flag_mutable;
    if (name == khr::buffer_flags) {
      require((value & ~known_flags) == 0, CL_INVALID_VALUE, "unknown flags");
      flags = value;
    } else {
      require(name == khr::buffer_asserts, CL_INVALID_VALUE, "unknown property");
      require((value & ~khr::assert_no_additional_work_groups) == 0, CL_INVALID_VALUE,
              "unknown assertions");
      asserts = value;
    }
  });
  return give(make<CommandBuffer>(Ref<Queue>(&queue), flags, asserts, std::move(list)));
}

// "CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue
// set on command_buffer creation at the same list index." Of their properties all are compatible.
Queue& toSubstitute(const CommandBuffer& buffer, cl_uint num_queues,
                    const cl_command_queue* queues) {
  require((num_queues == 0) == (queues == nullptr), CL_INVALID_VALUE, "queues and their number");
  if (!queues) return buffer.queue();
  require(num_queues == 1, CL_INVALID_VALUE, "a command buffer has one queue");
  Queue& queue = toQueue(queues[0]);
  requireSameContext(queue, buffer);
  require(&queue.device() == &buffer.queue().device(), CL_INVALID_DEVICE,
          "a queue of another device");
  return queue;
}

}  // namespace

constinit const InfoTable<CommandBuffer> command_buffer_info = rows;

cl_command_buffer_khr CL_API_CALL
clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue* queues,
                         const cl_command_buffer_properties_khr* properties, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return makeCommandBuffer(num_queues, queues, properties); });
}

cl_int CL_API_CALL clFinalizeCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return call([&] { toCommandBuffer(command_buffer).finalize(); });
}

cl_int CL_API_CALL clRetainCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return call([&] { toCommandBuffer(command_buffer).retainHandle(); });
}

cl_int CL_API_CALL clReleaseCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return call([&] { toCommandBuffer(command_buffer).releaseHandle(); });
}

cl_int CL_API_CALL clEnqueueCommandBufferKHR(cl_uint num_queues, cl_command_queue* queues,
                                             cl_command_buffer_khr command_buffer,
                                             cl_uint num_events_in_wait_list,
                                             const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    CommandBuffer& buffer = toCommandBuffer(command_buffer);
    Queue& queue = toSubstitute(buffer, num_queues, queues);
    const WaitArgument waits(buffer.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(buffer.enqueue(queue, waits), event);
  });
}

cl_int CL_API_CALL clGetCommandBufferInfoKHR(cl_command_buffer_khr command_buffer,
                                             cl_uint param_name, size_t param_value_size,
                                             void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    query(command_buffer_info, toCommandBuffer(command_buffer), param_name, param_value_size,
          param_value, param_value_size_ret);
  });
}

}  // namespace weft::api
