#include "core/pixel_image.h"

#include <algorithm>
#include <cstring>

#include "core/context.h"
#include "core/device.h"
#include "core/ports/native_images.h"

namespace weft {
namespace {

port::ImageDescriptor describe(const ImageFormat& format, const ImageShape& shape) {
  port::ImageDescriptor descriptor;
  descriptor.row_pitch = shape.row_pitch;
  descriptor.slice_pitch = shape.slice_pitch;
  descriptor.width = static_cast<uint32_t>(shape.width);
  descriptor.height = static_cast<uint32_t>(shape.height);
  descriptor.depth = static_cast<uint32_t>(shape.depth);
  descriptor.array_size = static_cast<uint32_t>(shape.array_size);
  descriptor.type = shape.type;
  descriptor.channel_order = format.order->order;
  descriptor.channel_type = format.type->type;
  descriptor.pixel_bytes = format.pixel_bytes;
  descriptor.levels = static_cast<uint16_t>(shape.levels);
  return descriptor;
}

// What all devices that read images by themselves want of rows.
size_t rowAlignment(const Context& context) {
  size_t alignment = 1;
  for (const Ref<Device>& device : context.devices()) {
    const port::Target& target = device->port().target();
    alignment = std::max(alignment, port::nativeRowAlignment(target));
    if (target.kind == port::TargetKind::spirv) return 1;  // it wants none of what lies between
  }
  return alignment;
}

ImageShape layOut(const Context& context, cl_mem_flags flags, const ImageFormat& format,
                  const ImageShape& told) {
  const bool has_rows = told.height * told.slices() > 1;
  if (flags & CL_MEM_USE_HOST_PTR || told.levels > 1 || !has_rows) return told;
  const size_t alignment = rowAlignment(context), row = told.width * format.pixel_bytes;
  if (alignment == 1 || alignment % format.pixel_bytes != 0) return told;
  ImageShape shape = told;
  shape.row_pitch = (row + alignment - 1) / alignment * alignment;
  shape.slice_pitch = shape.row_pitch * shape.height;
  return shape;
}

const ImageShape& toldOf(const MemObject& parent, const ImageShape& shape) {
  return isImageType(parent.type()) ? static_cast<const PixelImage&>(parent).toldShape() : shape;
}

}  // namespace

// CL_MEM_OBJECT_IMAGE2D to CL_MEM_OBJECT_IMAGE1D_BUFFER are consecutive.
bool isImageType(cl_mem_object_type type) {
  return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

std::array<size_t, 3> ImageShape::extent() const {
  if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {width, array_size, 1};
  return {width, height, slices()};
}

ImageShape ImageShape::level(uint32_t index) const {
  ImageShape result = *this;
  result.levels = 1;
  if (index == 0) return result;
  const auto shrink = [&](size_t size) { return std::max<size_t>(size >> index, 1); };
  const size_t pixel_bytes = row_pitch / width;
  result.width = shrink(width);
  result.height = shrink(height);
  result.depth = shrink(depth);
  result.row_pitch = result.width * pixel_bytes;
  result.slice_pitch = result.row_pitch * result.height;
  return result;
}

size_t ImageShape::levelOffset(uint32_t index) const {
  size_t offset = 0;
  for (uint32_t i = 0; i < index; ++i) {
    const ImageShape one = level(i);
    offset += one.slice_pitch * one.slices();
  }
  return offset;
}

bool ImageShape::fits(const port::ImageLimits& limits) const {
  if (array_size > limits.array_size) return false;
  if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER) return width <= limits.buffer_pixels;
  if (type == CL_MEM_OBJECT_IMAGE3D)
    return width <= limits.width_3d && height <= limits.height_3d && depth <= limits.depth_3d;
  return width <= limits.width_2d && height <= limits.height_2d;
}

PixelImage::PixelImage(Ref<Context> context, cl_mem_flags flags, const ImageFormat& format,
                       const ImageShape& told, const void* host_ptr,
                       std::vector<cl_mem_properties> properties)
    : PixelImage(layOut(*context, flags, format, told), context, flags, format, told, host_ptr,
                 std::move(properties)) {}

PixelImage::PixelImage(const ImageShape& shape, Ref<Context> context, cl_mem_flags flags,
                       const ImageFormat& format, const ImageShape& told, const void* host_ptr,
                       std::vector<cl_mem_properties> properties)
    : MemObject(std::move(context), shape.type, flags, shape.bytes(), const_cast<void*>(host_ptr),
                std::move(properties)),
      format_(&format),
      told_(told),
      shape_(shape),
      descriptor_(describe(format, shape)) {
  if (flags & CL_MEM_COPY_HOST_PTR)
    copyFromHost(host_ptr);
  else if (this->context().singleSpace() || flags & CL_MEM_USE_HOST_PTR)
    storage().in(port::host_space);
}

PixelImage::PixelImage(Ref<MemObject> parent, cl_mem_flags flags, const ImageFormat& format,
                       const ImageShape& shape, std::vector<cl_mem_properties> properties)
    : MemObject(parent, shape.type, flags, 0, shape.bytes(), std::move(properties)),
      format_(&format),
      told_(toldOf(*parent, shape)),
      shape_(shape),
      descriptor_(describe(format, shape)) {}

// Pixels only: what lies between them need not be the application's.
void PixelImage::copyFromHost(const void* host_ptr) {
  std::byte* const to = storage().in(port::host_space).host();
  const auto* const from = static_cast<const std::byte*>(host_ptr);
  for (size_t slice = 0; slice < shape_.slices(); ++slice)
    for (size_t row = 0; row < shape_.height; ++row) {
      std::memcpy(to + slice * shape_.slice_pitch + row * shape_.row_pitch,
                  from + slice * told_.slice_pitch + row * told_.row_pitch,
                  shape_.width * pixelBytes());
    }
}

}  // namespace weft
