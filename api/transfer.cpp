// Specification 5.2.2 to 5.2.4: reading, writing, copying and filling buffers.
#include "api/buffer_argument.h"
#include "api/copy_arguments.h"
#include "api/entry.h"
#include "api/ranges.h"
#include "scheduler/enqueue.h"

namespace weft::api {
namespace {

// Are two buffers the same memory, sub-buffers included?
bool sameMemory(const Buffer& a, const Buffer& b) { return &a.storage() == &b.storage(); }

// The buffer's side of a rectangular transfer, in bounds.
RectLayout layoutIn(const Buffer& buffer, const size_t* origin, const Region& region,
                    size_t row_pitch, size_t slice_pitch) {
  const RectLayout layout = toLayout(origin, region, row_pitch, slice_pitch);
  requireRange(layout.offset(), spanOf(layout, region), buffer.size());
  return layout;
}

}  // namespace

CopyWork checkCopyBuffer(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                         size_t src_offset, size_t dst_offset, size_t size) {
  Buffer& source = bufferFor(queue, src_buffer);
  Buffer& target = bufferFor(queue, dst_buffer);
  requireRange(src_offset, size, source.size());
  requireRange(dst_offset, size, target.size());
  const size_t from = source.origin() + src_offset;
  const size_t to = target.origin() + dst_offset;
  require(!sameMemory(source, target) || from + size <= to || to + size <= from,
          CL_MEM_COPY_OVERLAP);
  return {CopyEnd::linear(source, src_offset), CopyEnd::linear(target, dst_offset), {size, 1, 1}};
}

CopyWork checkCopyBufferRect(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                             const size_t* src_origin, const size_t* dst_origin,
                             const size_t* region, RectPitches src_pitches,
                             RectPitches dst_pitches) {
  Buffer& source = bufferFor(queue, src_buffer);
  Buffer& target = bufferFor(queue, dst_buffer);
  const Region box = toRegion(region);
  const RectLayout from = layoutIn(source, src_origin, box, src_pitches.row, src_pitches.slice);
  const RectLayout to = layoutIn(target, dst_origin, box, dst_pitches.row, dst_pitches.slice);
  // "CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and src_row_pitch
  // is not equal to dst_row_pitch", and likewise for the slices.
  require(
      &source != &target || (from.row_pitch == to.row_pitch && from.slice_pitch == to.slice_pitch),
      CL_INVALID_VALUE, "unequal pitches in one buffer");
  require(!sameMemory(source, target) || !overlaps(source.origin() + from.offset(), from,
                                                   target.origin() + to.offset(), to, box),
          CL_MEM_COPY_OVERLAP);
  return {CopyEnd::rect(source, from), CopyEnd::rect(target, to), box};
}

FillWork checkFillBuffer(const Queue& queue, cl_mem buffer, const void* pattern,
                         size_t pattern_size, size_t offset, size_t size) {
  Buffer& target = bufferFor(queue, buffer);
  requireRange(offset, size, target.size());
  requirePattern(pattern, pattern_size);
  require(offset % pattern_size == 0 && size % pattern_size == 0, CL_INVALID_VALUE,
          "offset or size is not a multiple of the pattern's size");
  return FillWork(target, pattern, pattern_size, {{offset, 0, 0}, size, size}, {size, 1, 1});
}

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer,
                                       cl_bool blocking_read, size_t offset, size_t size, void* ptr,
                                       cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    Buffer& source = bufferFor(queue, buffer);
    requireRange(offset, size, source.size());
    require(ptr != nullptr, CL_INVALID_VALUE);
    requireHostAccess(queue, ptr);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    requireHostMayRead(source);
    finishCommand(enqueueRead(queue, source, offset, size, ptr, waits.wanting(event)),
                  blocking_read, event);
  });
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer,
                                        cl_bool blocking_write, size_t offset, size_t size,
                                        const void* ptr, cl_uint num_events_in_wait_list,
                                        const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    Buffer& target = bufferFor(queue, buffer);
    requireRange(offset, size, target.size());
    require(ptr != nullptr, CL_INVALID_VALUE);
    requireHostAccess(queue, ptr);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    requireHostMayWrite(target);
    finishCommand(enqueueWrite(queue, target, offset, size, ptr, waits.wanting(event)),
                  blocking_write, event);
  });
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                           cl_bool blocking_read, const size_t* buffer_origin,
                                           const size_t* host_origin, const size_t* region,
                                           size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                           size_t host_row_pitch, size_t host_slice_pitch,
                                           void* ptr, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    Buffer& source = bufferFor(queue, buffer);
    const Region box = toRegion(region);
    const RectLayout there =
        layoutIn(source, buffer_origin, box, buffer_row_pitch, buffer_slice_pitch);
    const RectLayout here = toLayout(host_origin, box, host_row_pitch, host_slice_pitch);
    require(ptr != nullptr, CL_INVALID_VALUE);
    requireHostAccess(queue, ptr);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    requireHostMayRead(source);
    finishCommand(enqueueReadRect(queue, source, there, here, box, ptr, waits.wanting(event)),
                  blocking_read, event);
  });
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                            cl_bool blocking_write, const size_t* buffer_origin,
                                            const size_t* host_origin, const size_t* region,
                                            size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                            size_t host_row_pitch, size_t host_slice_pitch,
                                            const void* ptr, cl_uint num_events_in_wait_list,
                                            const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    Buffer& target = bufferFor(queue, buffer);
    const Region box = toRegion(region);
    const RectLayout there =
        layoutIn(target, buffer_origin, box, buffer_row_pitch, buffer_slice_pitch);
    const RectLayout here = toLayout(host_origin, box, host_row_pitch, host_slice_pitch);
    require(ptr != nullptr, CL_INVALID_VALUE);
    requireHostAccess(queue, ptr);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    requireHostMayWrite(target);
    finishCommand(enqueueWriteRect(queue, target, there, here, box, ptr, waits.wanting(event)),
                  blocking_write, event);
  });
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer,
                                       cl_mem dst_buffer, size_t src_offset, size_t dst_offset,
                                       size_t size, cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    CopyWork copy = checkCopyBuffer(queue, src_buffer, dst_buffer, src_offset, dst_offset, size);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, CL_COMMAND_COPY_BUFFER, std::move(copy), waits.wanting(event)),
              event);
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer,
                                           cl_mem dst_buffer, const size_t* src_origin,
                                           const size_t* dst_origin, const size_t* region,
                                           size_t src_row_pitch, size_t src_slice_pitch,
                                           size_t dst_row_pitch, size_t dst_slice_pitch,
                                           cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    CopyWork copy =
        checkCopyBufferRect(queue, src_buffer, dst_buffer, src_origin, dst_origin, region,
                            {src_row_pitch, src_slice_pitch}, {dst_row_pitch, dst_slice_pitch});
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(
        enqueueWork(queue, CL_COMMAND_COPY_BUFFER_RECT, std::move(copy), waits.wanting(event)),
        event);
  });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer,
                                       const void* pattern, size_t pattern_size, size_t offset,
                                       size_t size, cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    FillWork fill = checkFillBuffer(queue, buffer, pattern, pattern_size, offset, size);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, CL_COMMAND_FILL_BUFFER, std::move(fill), waits.wanting(event)),
              event);
  });
}
