// Specification 5.3.3 to 5.3.5: reading, writing, filling and copying images.
#include "api/buffer_argument.h"
#include "api/copy_arguments.h"
#include "api/entry.h"
#include "api/image_argument.h"
#include "api/ranges.h"

namespace weft::api {
namespace {

// In one image boxes meet when they do in each dimension; images that share memory are compared by
// their bytes.
bool overlap(const PixelImage& a, const ImageBox& from, const PixelImage& b, const ImageBox& to) {
  if (&a.storage() != &b.storage()) return false;
  if (&a != &b)
    return overlaps(a.origin() + from.layout.offset(), from.layout, b.origin() + to.layout.offset(),
                    to.layout, from.bytes);
  if (from.level != to.level) return false;
  for (size_t d = 0; d < 3; ++d)
    if (from.origin[d] + from.pixels[d] <= to.origin[d] ||
        to.origin[d] + from.pixels[d] <= from.origin[d])
      return false;
  return true;
}

// The box's pixels one behind the other in a buffer.
RectLayout packedAt(const Buffer& buffer, size_t offset, const ImageBox& box) {
  const size_t row = box.bytes[0];
  const size_t slice = row * box.bytes[1];
  requireRange(offset, slice * box.bytes[2], buffer.size());
  return {{offset, 0, 0}, row, slice};
}

void requireApart(const PixelImage& image, const ImageBox& box, const Buffer& buffer,
                  const RectLayout& packed) {
  require(&image.storage() != &buffer.storage() ||
              !overlaps(image.origin() + box.layout.offset(), box.layout,
                        buffer.origin() + packed.offset(), packed, box.bytes),
          CL_MEM_COPY_OVERLAP);
}

}  // namespace

FillWork checkFillImage(const Queue& queue, cl_mem image, const void* fill_color,
                        const size_t* origin, const size_t* region) {
  PixelImage& target = imageFor(queue, image);
  require(fill_color != nullptr, CL_INVALID_VALUE, "no colour");
  const ImageBox box = toBox(target, origin, region);
  const PixelBytes pixel = encodePixel(target.format(), fill_color);
  return FillWork(target, pixel.data(), target.pixelBytes(), box.layout, box.bytes);
}

CopyWork checkCopyImage(const Queue& queue, cl_mem src_image, cl_mem dst_image,
                        const size_t* src_origin, const size_t* dst_origin, const size_t* region) {
  PixelImage& source = imageFor(queue, src_image);
  PixelImage& target = imageFor(queue, dst_image);
  require(&source.format() == &target.format(), CL_IMAGE_FORMAT_MISMATCH);
  const ImageBox from = toBox(source, src_origin, region);
  const ImageBox to = toBox(target, dst_origin, region);
  require(!overlap(source, from, target, to), CL_MEM_COPY_OVERLAP);
  return {CopyEnd::rect(source, from.layout), CopyEnd::rect(target, to.layout), from.bytes};
}

CopyWork checkCopyImageToBuffer(const Queue& queue, cl_mem src_image, cl_mem dst_buffer,
                                const size_t* src_origin, const size_t* region, size_t dst_offset) {
  PixelImage& source = imageFor(queue, src_image);
  Buffer& target = bufferFor(queue, dst_buffer);
  const ImageBox box = toBox(source, src_origin, region);
  const RectLayout packed = packedAt(target, dst_offset, box);
  requireApart(source, box, target, packed);
  return {CopyEnd::rect(source, box.layout), CopyEnd::rect(target, packed), box.bytes};
}

CopyWork checkCopyBufferToImage(const Queue& queue, cl_mem src_buffer, cl_mem dst_image,
                                size_t src_offset, const size_t* dst_origin, const size_t* region) {
  PixelImage& target = imageFor(queue, dst_image);
  Buffer& source = bufferFor(queue, src_buffer);
  const ImageBox box = toBox(target, dst_origin, region);
  const RectLayout packed = packedAt(source, src_offset, box);
  requireApart(target, box, source, packed);
  return {CopyEnd::rect(source, packed), CopyEnd::rect(target, box.layout), box.bytes};
}

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem image,
                                      cl_bool blocking_read, const size_t* origin,
                                      const size_t* region, size_t row_pitch, size_t slice_pitch,
                                      void* ptr, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    PixelImage& source = imageFor(queue, image);
    const ImageBox box = toBox(source, origin, region);
    const RectLayout here = hostLayout(source, box, row_pitch, slice_pitch);
    require(ptr != nullptr, CL_INVALID_VALUE);
    requireHostAccess(queue, ptr);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    requireHostMayRead(source);
    finishCommand(enqueueReadRect(queue, source, box.layout, here, box.bytes, ptr, waits,
                                  CL_COMMAND_READ_IMAGE),
                  blocking_read, event);
  });
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image,
                                       cl_bool blocking_write, const size_t* origin,
                                       const size_t* region, size_t input_row_pitch,
                                       size_t input_slice_pitch, const void* ptr,
                                       cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    PixelImage& target = imageFor(queue, image);
    const ImageBox box = toBox(target, origin, region);
    const RectLayout here = hostLayout(target, box, input_row_pitch, input_slice_pitch);
    require(ptr != nullptr, CL_INVALID_VALUE);
    requireHostAccess(queue, ptr);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    requireHostMayWrite(target);
    finishCommand(enqueueWriteRect(queue, target, box.layout, here, box.bytes, ptr, waits,
                                   CL_COMMAND_WRITE_IMAGE),
                  blocking_write, event);
  });
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem image,
                                      const void* fill_color, const size_t* origin,
                                      const size_t* region, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    FillWork fill = checkFillImage(queue, image, fill_color, origin, region);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, CL_COMMAND_FILL_IMAGE, std::move(fill), waits), event);
  });
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image,
                                      cl_mem dst_image, const size_t* src_origin,
                                      const size_t* dst_origin, const size_t* region,
                                      cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    CopyWork copy = checkCopyImage(queue, src_image, dst_image, src_origin, dst_origin, region);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, CL_COMMAND_COPY_IMAGE, std::move(copy), waits), event);
  });
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                              cl_mem dst_buffer, const size_t* src_origin,
                                              const size_t* region, size_t dst_offset,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    CopyWork copy =
        checkCopyImageToBuffer(queue, src_image, dst_buffer, src_origin, region, dst_offset);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, std::move(copy), waits), event);
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                              cl_mem dst_image, size_t src_offset,
                                              const size_t* dst_origin, const size_t* region,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) {
  return call([&] {
    Queue& queue = toQueue(command_queue);
    CopyWork copy =
        checkCopyBufferToImage(queue, src_buffer, dst_image, src_offset, dst_origin, region);
    const WaitArgument waits(queue.context(), num_events_in_wait_list, event_wait_list);
    giveEvent(enqueueWork(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, std::move(copy), waits), event);
  });
}
