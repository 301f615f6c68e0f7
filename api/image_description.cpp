#include "api/image_description.h"

#include <algorithm>

namespace weft::api {
namespace {

template <class Predicate>
bool anyDevice(const Context& context, Predicate&& predicate) {
  const auto& devices = context.devices();
  return std::any_of(devices.begin(), devices.end(), [&](const Ref<Device>& device) {
    return device->capabilities().images && predicate(device->capabilities());
  });
}

// The dimensions that each type has.
struct TypeRow {
  cl_mem_object_type type;
  bool height, depth, array;
};
constexpr TypeRow type_rows[] = {
    {CL_MEM_OBJECT_IMAGE1D, false, false, false},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, false, false, false},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, false, false, true},
    {CL_MEM_OBJECT_IMAGE2D, true, false, false},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, true, false, true},
    {CL_MEM_OBJECT_IMAGE3D, true, true, false},
};

bool hasLevels(const Device& device) {
  const auto& names = device.features().extensions;
  return std::find(names.begin(), names.end(), "cl_khr_mipmap_image") != names.end();
}

void requireDescriptor(bool valid, const char* what) {
  require(valid, CL_INVALID_IMAGE_DESCRIPTOR, what);
}

size_t multiply(size_t a, size_t b) {
  size_t product = 0;
  requireDescriptor(!__builtin_mul_overflow(a, b, &product), "the image is larger than memory");
  return product;
}

// The dimensions alone, within what some device can do.
ImageShape toExtent(const Context& context, const cl_image_desc& desc) {
  const auto row = std::find_if(std::begin(type_rows), std::end(type_rows),
                                [&](const TypeRow& r) { return r.type == desc.image_type; });
  requireDescriptor(row != std::end(type_rows), "not a type of image");
  requireDescriptor(desc.num_samples == 0, "samples");
  ImageShape shape;
  shape.type = desc.image_type;
  shape.width = desc.image_width;
  if (row->height) shape.height = desc.image_height;
  if (row->depth) shape.depth = desc.image_depth;
  if (row->array) shape.array_size = desc.image_array_size;
  requireDescriptor(shape.width && shape.height && shape.depth && shape.array_size,
                    "a dimension of the image is zero");
  require(anyDevice(context, [&](const auto& device) { return shape.fits(device.image_limits); }),
          CL_INVALID_IMAGE_SIZE, "larger than images of any device");
  return shape;
}

// "image_row_pitch [...] can be either 0 or >= image_width * size of element in bytes [...] must be
// a multiple of the image element size."
void setRowPitch(ImageShape& shape, const ImageFormat& format, size_t pitch) {
  const size_t row = shape.width * format.pixel_bytes;
  requireDescriptor(pitch == 0 || (pitch >= row && pitch % format.pixel_bytes == 0), "row pitch");
  shape.row_pitch = pitch ? pitch : row;
}

// "image_slice_pitch can be either 0 or >= image_row_pitch * image_height for a 2D image array or
// 3D image, and can be either 0 or >= image_row_pitch for a 1D image array. [It] must be a multiple
// of the image_row_pitch."
void setSlicePitch(ImageShape& shape, size_t pitch) {
  const size_t slice = multiply(shape.row_pitch, shape.height);
  const bool ignored = !shape.isArray() && shape.type != CL_MEM_OBJECT_IMAGE3D;
  if (ignored) pitch = 0;
  requireDescriptor(pitch == 0 || (pitch >= slice && pitch % shape.row_pitch == 0), "slice pitch");
  shape.slice_pitch = pitch ? pitch : slice;
  multiply(shape.slice_pitch, shape.slices());
}

// cl_khr_mipmap_image. "CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR cannot be specified [...] The
// host_ptr argument to clCreateImage must be a NULL value". That depth images have no levels, as
// the extension says, the conformance suite does not know, nor OpenCL C, which reads them.
void setLevels(ImageShape& shape, const Context& context, cl_uint levels, bool has_host_ptr) {
  if (levels <= 1) return;
  const auto& devices = context.devices();
  requireDescriptor(std::any_of(devices.begin(), devices.end(),
                                [](const Ref<Device>& device) { return hasLevels(*device); }),
                    "no device has mip-mapped images");
  requireDescriptor(!has_host_ptr, "levels in the application's memory");
  // Small levels may repeat: the specification knows no greatest number of them.
  requireDescriptor(levels <= most_image_levels, "more levels than any image has");
  shape.levels = levels;
}

void requireView(bool valid, const char* what) {
  require(valid, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, what);
}

// "The pitch specified [...] must be a multiple of the maximum of the
// CL_DEVICE_IMAGE_PITCH_ALIGNMENT value for all devices in context that support images", and so for
// the base address.
void requireAlignedPixels(const MemObject& buffer, const ImageFormat& format,
                          const ImageShape& shape) {
  const auto address = reinterpret_cast<uintptr_t>(buffer.hostPointer());
  for (const Ref<Device>& device : buffer.context().devices()) {
    if (!device->capabilities().images) continue;
    const port::ImageLimits& limits = device->capabilities().image_limits;
    requireView(shape.row_pitch % (size_t{limits.pitch_alignment} * format.pixel_bytes) == 0,
                "the pitch is not aligned");
    requireView(address % (uintptr_t{limits.base_address_alignment} * format.pixel_bytes) == 0,
                "the buffer's host pointer is not aligned");
  }
}

ImageShape shapeOnBuffer(const MemObject& buffer, const ImageFormat& format,
                         const cl_image_desc& desc) {
  requireDescriptor(
      desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER || desc.image_type == CL_MEM_OBJECT_IMAGE2D,
      "no image of this type is made from a buffer");
  ImageShape shape = toExtent(buffer.context(), desc);
  requireDescriptor(desc.num_mip_levels <= 1, "levels of an image of a buffer");
  const bool rows = desc.image_type == CL_MEM_OBJECT_IMAGE2D;
  setRowPitch(shape, format, rows ? desc.image_row_pitch : 0);
  setSlicePitch(shape, 0);
  if (rows) requireAlignedPixels(buffer, format, shape);
  requireDescriptor(shape.bytes() <= buffer.size(), "the buffer is too small for the image");
  return shape;
}

// "image_channel_order of the new image": what may look at the same bits.
struct OrderPair {
  cl_channel_order a, b;
};
constexpr OrderPair compatible_orders[] = {
    {CL_sBGRA, CL_BGRA}, {CL_sRGBA, CL_RGBA}, {CL_sRGBx, CL_RGBx},
    {CL_sRGB, CL_RGB},   {CL_DEPTH, CL_R},
};

bool compatible(cl_channel_order a, cl_channel_order b) {
  return std::any_of(std::begin(compatible_orders), std::end(compatible_orders),
                     [&](const OrderPair& pair) {
                       return (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a);
                     });
}

// "All other fields of image_desc must match the image descriptor values associated with
// mem_object."
ImageShape shapeOnImage(const PixelImage& parent, const ImageFormat& format,
                        const cl_image_desc& desc) {
  requireDescriptor(
      desc.image_type == CL_MEM_OBJECT_IMAGE2D && parent.type() == CL_MEM_OBJECT_IMAGE2D,
      "only 2D images are made from 2D images");
  const ImageShape& shape = parent.shape();
  requireView(
      desc.image_width == shape.width && desc.image_height == shape.height &&
          (desc.image_row_pitch == 0 || desc.image_row_pitch == parent.toldShape().row_pitch) &&
          desc.num_mip_levels <= 1 && shape.levels == 1 && desc.num_samples == 0,
      "the image has another shape");
  requireView(format.type == parent.format().type &&
                  compatible(format.order->order, parent.format().order->order),
              "the image's format is not compatible");
  return shape;
}

}  // namespace

void requireImages(const Context& context) {
  require(anyDevice(context, [](const auto&) { return true; }), CL_INVALID_OPERATION,
          "no device of the context supports images");
}

const ImageFormat& toFormat(const cl_image_format* format) {
  const ImageFormat* found = format ? findImageFormat(*format) : nullptr;
  require(found != nullptr, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "not a format");
  return *found;
}

void requireSupported(const ImageFormat& format, cl_mem_object_type type, cl_mem_flags flags) {
  require(format.supports(type, imageUses(flags)), CL_IMAGE_FORMAT_NOT_SUPPORTED);
}

ImageShape toShape(const Context& context, const ImageFormat& format, const cl_image_desc& desc,
                   bool has_host_ptr) {
  requireDescriptor(desc.image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER, "no buffer");
  ImageShape shape = toExtent(context, desc);
  requireDescriptor(has_host_ptr || (!desc.image_row_pitch && !desc.image_slice_pitch),
                    "pitches without a host pointer");
  setRowPitch(shape, format, desc.image_row_pitch);
  setSlicePitch(shape, desc.image_slice_pitch);
  setLevels(shape, context, desc.num_mip_levels, has_host_ptr);
  require(
      anyDevice(context, [&](const auto& d) { return shape.bytes() <= d.max_allocation_bytes; }),
      CL_MEM_OBJECT_ALLOCATION_FAILURE, "more than one allocation may hold");
  return shape;
}

MemObject& toParent(const Context& context, const cl_image_desc& desc) {
  const cl_mem handle = desc.mem_object;
  requireDescriptor(handle->kind.load(std::memory_order_relaxed) == Kind::memory,
                    "not a memory object");
  auto& parent = fromHandle<MemObject>(handle);
  requireDescriptor(&parent.context() == &context, "a memory object of another context");
  return parent;
}

ImageShape toViewShape(const MemObject& parent, const ImageFormat& format,
                       const cl_image_desc& desc) {
  if (isImageType(parent.type()))
    return shapeOnImage(static_cast<const PixelImage&>(parent), format, desc);
  return shapeOnBuffer(parent, format, desc);
}

}  // namespace weft::api
