// cl_khr_command_buffer: recording of all commands but kernels.
#include "api/command_buffer_argument.h"
#include "api/command_buffer_entry_points.h"
#include "api/copy_arguments.h"

namespace weft::api {

CommandBuffer::SyncPoints RecordArguments::waits() const {
  require((num_sync_points_in_wait_list == 0) == (sync_point_wait_list == nullptr),
          khr::invalid_sync_point_wait_list, "wait list and its length");
  return {sync_point_wait_list, num_sync_points_in_wait_list};
}

CommandBuffer& toRecording(cl_command_buffer_khr handle, const RecordArguments& arguments) {
  CommandBuffer& buffer = toCommandBuffer(handle);
  require(!arguments.command_queue, CL_INVALID_COMMAND_QUEUE, "the command buffer has its queue");
  require(buffer.state() == khr::state_recording, CL_INVALID_OPERATION,
          "the command buffer was finalized");
  return buffer;
}

cl_int CL_API_CALL clCommandBarrierWithWaitListKHR(cl_command_buffer_khr command_buffer,
                                                   cl_command_queue command_queue,
                                                   const cl_command_properties_khr* properties,
                                                   cl_uint num_sync_points_in_wait_list,
                                                   const cl_sync_point_khr* sync_point_wait_list,
                                                   cl_sync_point_khr* sync_point,
                                                   cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue&) { return Ref<const RecordedWork>(); });
}

cl_int CL_API_CALL clCommandCopyBufferKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_mem src_buffer, cl_mem dst_buffer,
    size_t src_offset, size_t dst_offset, size_t size, cl_uint num_sync_points_in_wait_list,
    const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
    cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(checkCopyBuffer(queue, src_buffer, dst_buffer, src_offset, dst_offset, size));
  });
}

cl_int CL_API_CALL clCommandCopyBufferRectKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_mem src_buffer, cl_mem dst_buffer,
    const size_t* src_origin, const size_t* dst_origin, const size_t* region, size_t src_row_pitch,
    size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(checkCopyBufferRect(queue, src_buffer, dst_buffer, src_origin, dst_origin,
                                        region, {src_row_pitch, src_slice_pitch},
                                        {dst_row_pitch, dst_slice_pitch}));
  });
}

cl_int CL_API_CALL clCommandCopyBufferToImageKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_mem src_buffer, cl_mem dst_image,
    size_t src_offset, const size_t* dst_origin, const size_t* region,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(
        checkCopyBufferToImage(queue, src_buffer, dst_image, src_offset, dst_origin, region));
  });
}

cl_int CL_API_CALL clCommandCopyImageKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_mem src_image, cl_mem dst_image,
    const size_t* src_origin, const size_t* dst_origin, const size_t* region,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(checkCopyImage(queue, src_image, dst_image, src_origin, dst_origin, region));
  });
}

cl_int CL_API_CALL clCommandCopyImageToBufferKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_mem src_image, cl_mem dst_buffer,
    const size_t* src_origin, const size_t* region, size_t dst_offset,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(
        checkCopyImageToBuffer(queue, src_image, dst_buffer, src_origin, region, dst_offset));
  });
}

cl_int CL_API_CALL clCommandFillBufferKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, cl_mem buffer, const void* pattern,
    size_t pattern_size, size_t offset, size_t size, cl_uint num_sync_points_in_wait_list,
    const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
    cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(checkFillBuffer(queue, buffer, pattern, pattern_size, offset, size));
  });
}

cl_int CL_API_CALL clCommandFillImageKHR(cl_command_buffer_khr command_buffer,
                                         cl_command_queue command_queue,
                                         const cl_command_properties_khr* properties, cl_mem image,
                                         const void* fill_color, const size_t* origin,
                                         const size_t* region, cl_uint num_sync_points_in_wait_list,
                                         const cl_sync_point_khr* sync_point_wait_list,
                                         cl_sync_point_khr* sync_point,
                                         cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    return recorded(checkFillImage(queue, image, fill_color, origin, region));
  });
}

cl_int CL_API_CALL clCommandSVMMemcpyKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const cl_command_properties_khr* properties, void* dst_ptr, const void* src_ptr, size_t size,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    requireSharedMemory(queue);
    SvmCopyWork copy = checkSvmMemcpy(queue, dst_ptr, src_ptr, size);
    require(copy.reachedBy(queue.device()), CL_INVALID_OPERATION, "memory of another device's own");
    return recorded(std::move(copy));
  });
}

cl_int CL_API_CALL clCommandSVMMemFillKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue,
                                          const cl_command_properties_khr* properties,
                                          void* svm_ptr, const void* pattern, size_t pattern_size,
                                          size_t size, cl_uint num_sync_points_in_wait_list,
                                          const cl_sync_point_khr* sync_point_wait_list,
                                          cl_sync_point_khr* sync_point,
                                          cl_mutable_command_khr* mutable_handle) {
  const RecordArguments arguments{command_queue,        properties, num_sync_points_in_wait_list,
                                  sync_point_wait_list, sync_point, mutable_handle};
  return record(command_buffer, arguments, [&](const Queue& queue) {
    requireSharedMemory(queue);
    SvmFillWork fill = checkSvmMemFill(queue, svm_ptr, pattern, pattern_size, size);
    require(!fill.home() || fill.isOn(queue.device()), CL_INVALID_OPERATION,
            "memory of another device's own");
    return recorded(std::move(fill));
  });
}

}  // namespace weft::api
