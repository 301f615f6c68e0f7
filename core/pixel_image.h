// Image objects: pixels of a format in one, two or three dimensions. Specification 5.3. (An Image
// is a program's, see core/image.h.)
#pragma once

#include <array>

#include "core/image_format.h"
#include "core/memory.h"

namespace weft {

// As many as the encoding of samplers can tell apart (core/ports/launch.h).
inline constexpr uint32_t most_image_levels = 16;

// How an image's pixels lie in bytes.
struct ImageShape {
  cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D;
  // 1 where the type has no such dimension.
  size_t width = 1, height = 1, depth = 1, array_size = 1;
  size_t row_pitch = 0;    // bytes
  size_t slice_pitch = 0;  // bytes; of an array's layer, too
  // Of a mip-mapped image, whose levels lie one behind the other, each without gaps; else 1. The
  // members above are the first level's.
  uint32_t levels = 1;

  bool isArray() const {
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  }
  // Slices or layers.
  size_t slices() const { return depth * array_size; }
  size_t bytes() const { return levelOffset(levels); }

  // One level by itself, and where it begins. "Each successively smaller mipmap level is half the
  // size of the previous level, rounded down to the nearest integer."
  ImageShape level(uint32_t index) const;
  size_t levelOffset(uint32_t index) const;

  // What origins and regions count: a 1D array's second coordinate is the layer.
  std::array<size_t, 3> extent() const;
  // Bytes from one unit of the second and third coordinate to the next.
  size_t secondPitch() const {
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice_pitch : row_pitch;
  }

  // Within what a device can do.
  bool fits(const port::ImageLimits& limits) const;
};

class PixelImage final : public MemObject {
 public:
  // Arguments are checked by api/. The application's pixels at `host_ptr` lie as `told` says;
  // CL_MEM_COPY_HOST_PTR copies before returning. Throws CL_MEM_OBJECT_ALLOCATION_FAILURE.
  PixelImage(Ref<Context> context, cl_mem_flags flags, const ImageFormat& format,
             const ImageShape& told, const void* host_ptr,
             std::vector<cl_mem_properties> properties);
  // A view of a buffer or of another image: the same bytes from the parent's first on.
  PixelImage(Ref<MemObject> parent, cl_mem_flags flags, const ImageFormat& format,
             const ImageShape& shape, std::vector<cl_mem_properties> properties);

  const ImageFormat& format() const { return *format_; }
  // The same on every device and in maps. Rows may be longer than those that the application was
  // told, where its memory is not the image's and a device reads them faster then.
  const ImageShape& shape() const { return shape_; }
  const ImageShape& toldShape() const { return told_; }
  size_t pixelBytes() const { return format_->pixel_bytes; }
  // What kernels get, without the address.
  const port::ImageDescriptor& descriptor() const { return descriptor_; }

 private:
  PixelImage(const ImageShape& shape, Ref<Context> context, cl_mem_flags flags,
             const ImageFormat& format, const ImageShape& told, const void* host_ptr,
             std::vector<cl_mem_properties> properties);
  void copyFromHost(const void* host_ptr);

  const ImageFormat* format_;
  ImageShape told_, shape_;
  port::ImageDescriptor descriptor_;
};

bool isImageType(cl_mem_object_type type);

}  // namespace weft
