// What the functions have in common that record a command.
#pragma once

#include "api/checks.h"
#include "api/entry.h"
#include "scheduler/command_buffer.h"

namespace weft::api {

inline CommandBuffer& toCommandBuffer(cl_command_buffer_khr handle) {
  return fromHandle<CommandBuffer>(handle);
}

// The arguments that each of them has.
struct RecordArguments {
  cl_command_queue command_queue;
  const cl_command_properties_khr* properties;
  cl_uint num_sync_points_in_wait_list;
  const cl_sync_point_khr* sync_point_wait_list;
  cl_sync_point_khr* sync_point;
  cl_mutable_command_khr* mutable_handle;

  // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and
  // num_sync_points_in_wait_list is > 0, or sync_point_wait_list is not NULL and
  // num_sync_points_in_wait_list is 0 [...]"
  CommandBuffer::SyncPoints waits() const;
};

// A command buffer that records. "CL_INVALID_COMMAND_QUEUE if the
// cl_khr_command_buffer_multi_device extension is not supported and command_queue is not NULL."
// "CL_INVALID_OPERATION if command_buffer has been finalized."
CommandBuffer& toRecording(cl_command_buffer_khr handle, const RecordArguments& arguments);

// The body of a function that records what `make` makes for the buffer's queue, and whose commands
// have neither properties nor handles.
template <class Make>
cl_int record(cl_command_buffer_khr handle, const RecordArguments& arguments, Make&& make) {
  return call([&] {
    CommandBuffer& buffer = toRecording(handle, arguments);
    require(!arguments.properties || *arguments.properties == 0, CL_INVALID_VALUE,
            "such a command has no properties");
    require(!arguments.mutable_handle, CL_INVALID_VALUE, "such a command has no handle");
    const auto waits = arguments.waits();
    const cl_sync_point_khr point = buffer.record(make(buffer.queue()), waits);
    if (arguments.sync_point) *arguments.sync_point = point;
  });
}

}  // namespace weft::api
