// Specification 5.2.5 (mapping buffers), 5.3.6 (mapping images), 5.5.2 (unmapping) and 5.5.3
// (migrating memory objects).
#include "api/buffer_argument.h"
#include "api/entry.h"
#include "api/image_argument.h"
#include "api/ranges.h"
#include "scheduler/enqueue.h"

namespace weft::api {
namespace {

constexpr cl_map_flags write_flags = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

void checkMapFlags(const MemObject& object, cl_map_flags flags) {
  requireMapFlags(flags);
  if (flags & CL_MAP_READ) requireHostMayRead(object);
  if (flags & write_flags) requireHostMayWrite(object);
}

// Waits for a blocking map. One that failed leaves nothing to be unmapped.
void finishMap(MemObject& object, const Mapped& mapped) {
  const cl_int status = mapped.event->wait();
  if (status == CL_COMPLETE) return;
  object.dropMapping(mapped);
  throw Error(status, "the blocking map failed");
}

// "CL_INVALID_VALUE if image_row_pitch is NULL", and if image_slice_pitch is for an image that has
// slices or layers; 0 for the others.
size_t slicePitch(const PixelImage& image, const ImageBox& box, const size_t* row_pitch_out,
                  const size_t* slice_pitch_out) {
  require(row_pitch_out && (slice_pitch_out || !hasSlices(image)), CL_INVALID_VALUE,
          "nowhere to put a pitch");
  return hasSlices(image) ? box.shape.slice_pitch : 0;
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer,
                                     cl_bool blocking_map, cl_map_flags map_flags, size_t offset,
                                     size_t size, cl_uint num_events_in_wait_list,
                                     const cl_event* event_wait_list, cl_event* event,
                                     cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Queue& queue = toQueue(command_queue);
    Buffer& target = bufferFor(queue, buffer);
    requireRange(offset, size, target.size());
    require(size > 0, CL_INVALID_VALUE, "nothing to map");
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    checkMapFlags(target, map_flags);
    Mapped mapped = enqueueMap(queue, target, map_flags, offset, size, waits);
    if (blocking_map) finishMap(target, mapped);
    giveEvent(std::move(mapped.event), event);
    return mapped.pointer;
  });
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem image,
                                    cl_bool blocking_map, cl_map_flags map_flags,
                                    const size_t* origin, const size_t* region,
                                    size_t* image_row_pitch, size_t* image_slice_pitch,
                                    cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event,
                                    cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Queue& queue = toQueue(command_queue);
    PixelImage& target = imageFor(queue, image);
    const ImageBox box = toBox(target, origin, region);
    const size_t slice_pitch = slicePitch(target, box, image_row_pitch, image_slice_pitch);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    checkMapFlags(target, map_flags);
    Mapped mapped = enqueueMapRect(queue, target, map_flags, box.layout, box.bytes, waits);
    if (blocking_map) finishMap(target, mapped);
    *image_row_pitch = box.shape.row_pitch;
    if (image_slice_pitch) *image_slice_pitch = slice_pitch;
    giveEvent(std::move(mapped.event), event);
    return mapped.pointer;
  });
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj,
                                           void* mapped_ptr, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    MemObject& object = toMemObject(memobj);
    requireSameContext(queue, object);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueUnmap(queue, object, mapped_ptr, waits), event);
  });
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue command_queue,
                                              cl_uint num_mem_objects, const cl_mem* mem_objects,
                                              cl_mem_migration_flags flags,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    require(num_mem_objects > 0 && mem_objects, CL_INVALID_VALUE, "no memory objects");
    requireMigrationFlags(flags);
    std::vector<MemObject*> objects;
    for (const cl_mem handle : std::span(mem_objects, num_mem_objects)) {
      objects.push_back(&toMemObject(handle));
      requireSameContext(queue, *objects.back());
    }
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueMigrate(queue, objects, flags, waits), event);
  });
}
