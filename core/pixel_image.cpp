#include "core/pixel_image.h"

#include <algorithm>
#include <cstring>

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
                       const ImageShape& shape, const void* host_ptr,
                       std::vector<cl_mem_properties> properties)
    : MemObject(std::move(context), shape.type, flags, shape.bytes(), const_cast<void*>(host_ptr),
                std::move(properties)),
      format_(&format),
      shape_(shape),
      descriptor_(describe(format, shape)) {
  if (flags & CL_MEM_COPY_HOST_PTR)
    copyFromHost(host_ptr);
  else if (this->context().singleSpace() || flags & CL_MEM_USE_HOST_PTR)
    storage().in(port::host_space);
}

PixelImage::PixelImage(Ref<MemObject> parent, cl_mem_flags flags, const ImageFormat& format,
                       const ImageShape& shape, std::vector<cl_mem_properties> properties)
    : MemObject(std::move(parent), shape.type, flags, 0, shape.bytes(), std::move(properties)),
      format_(&format),
      shape_(shape),
      descriptor_(describe(format, shape)) {}

// Pixels only: what lies between them need not be the application's.
void PixelImage::copyFromHost(const void* host_ptr) {
  std::byte* const to = storage().in(port::host_space).host();
  const auto* const from = static_cast<const std::byte*>(host_ptr);
  for (size_t slice = 0; slice < shape_.slices(); ++slice)
    for (size_t row = 0; row < shape_.height; ++row) {
      const size_t at = slice * shape_.slice_pitch + row * shape_.row_pitch;
      std::memcpy(to + at, from + at, shape_.width * pixelBytes());
    }
}

}  // namespace weft
