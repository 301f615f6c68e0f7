#include "api/image_argument.h"

#include "api/ranges.h"

namespace weft::api {

PixelImage& toImage(cl_mem handle) {
  MemObject& object = toMemObject(handle);
  require(isImageType(object.type()), CL_INVALID_MEM_OBJECT, "not an image");
  return static_cast<PixelImage&>(object);
}

PixelImage& imageFor(const Queue& queue, cl_mem handle) {
  const port::Capabilities& device = queue.device().capabilities();
  require(device.images, CL_INVALID_OPERATION, "the device does not support images");
  PixelImage& image = toImage(handle);
  requireSameContext(queue, image);
  require(image.shape().fits(device.image_limits), CL_INVALID_IMAGE_SIZE,
          "the image is larger than the device's");
  return image;
}

bool hasSlices(const PixelImage& image) {
  return image.shape().isArray() || image.type() == CL_MEM_OBJECT_IMAGE3D;
}

namespace {

// Which coordinate of an origin names the level of a mip-mapped image.
size_t levelPlace(cl_mem_object_type type) {
  switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
      return 1;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    case CL_MEM_OBJECT_IMAGE2D:
      return 2;
    default:
      return 3;
  }
}

}  // namespace

ImageBox toBox(const PixelImage& image, const size_t* origin, const size_t* region) {
  require(origin != nullptr, CL_INVALID_VALUE, "no origin");
  const Region pixels = toRegion(region);
  std::array<size_t, 4> at{origin[0], origin[1], origin[2], 0};
  cl_uint level = 0;
  if (image.shape().levels > 1) {
    const size_t place = levelPlace(image.type());
    require(origin[place] < image.shape().levels, CL_INVALID_MIP_LEVEL);
    level = static_cast<cl_uint>(origin[place]);
    at[place] = 0;
  }
  const ImageShape shape = image.shape().level(level);
  const auto extent = shape.extent();
  for (size_t d = 0; d < extent.size(); ++d) requireRange(at[d], pixels[d], extent[d]);
  const size_t size = image.pixelBytes();
  ImageBox box{{at[0], at[1], at[2]}, pixels, {}, {pixels[0] * size}, shape, level};
  box.layout = {{image.shape().levelOffset(level) + at[0] * size, at[1], at[2]},
                shape.secondPitch(),
                shape.slice_pitch};
  box.bytes = {pixels[0] * size, pixels[1], pixels[2]};
  return box;
}

RectLayout hostLayout(const PixelImage& image, const ImageBox& box, size_t row_pitch,
                      size_t slice_pitch) {
  const bool layered_rows = image.type() == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  require(row_pitch == 0 || row_pitch >= box.bytes[0], CL_INVALID_VALUE, "row pitch too small");
  require(slice_pitch == 0 || hasSlices(image), CL_INVALID_VALUE,
          "a slice pitch for an image without slices");
  const size_t row = row_pitch ? row_pitch : box.bytes[0];
  const size_t slice = multiplyAdd(layered_rows ? 1 : box.pixels[1], row, 0);
  require(slice_pitch == 0 || slice_pitch >= slice, CL_INVALID_VALUE, "slice pitch too small");
  const size_t pitch = slice_pitch ? slice_pitch : slice;
  multiplyAdd(layered_rows ? box.pixels[1] : box.pixels[2], pitch, 0);  // the end is an address
  return {{0, 0, 0}, layered_rows ? pitch : row, pitch};
}

}  // namespace weft::api
