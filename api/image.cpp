// Specification 5.3.1 (creating image objects), 5.3.2 (supported formats), 5.3.7 (queries).
#include "api/checks.h"
#include "api/entry.h"
#include "api/image_argument.h"
#include "api/image_description.h"
#include "api/memory_flags.h"
#include "api/properties.h"
#include "api/tables.h"

namespace weft::api {
namespace {

bool hasHeight(const ImageShape& shape) {
  return shape.type == CL_MEM_OBJECT_IMAGE2D || shape.type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
         shape.type == CL_MEM_OBJECT_IMAGE3D;
}

cl_mem bufferOf(const PixelImage& image) {
  MemObject* parent = image.parent();
  return parent && parent->type() == CL_MEM_OBJECT_BUFFER ? parent->handle() : nullptr;
}

// "For a 1D image [...] height = 0", and likewise for what the other types do not have.
constexpr InfoRow<PixelImage> rows[] = {
    {CL_IMAGE_FORMAT, [](PixelImage& i) { return i.format().descriptor(); }},
    {CL_IMAGE_ELEMENT_SIZE, [](PixelImage& i) { return i.pixelBytes(); }},
    {CL_IMAGE_ROW_PITCH, [](PixelImage& i) { return i.toldShape().row_pitch; }},
    {CL_IMAGE_SLICE_PITCH,
     [](PixelImage& i) { return hasSlices(i) ? i.toldShape().slice_pitch : size_t{0}; }},
    {CL_IMAGE_WIDTH, [](PixelImage& i) { return i.shape().width; }},
    {CL_IMAGE_HEIGHT,
     [](PixelImage& i) { return hasHeight(i.shape()) ? i.shape().height : size_t{0}; }},
    {CL_IMAGE_DEPTH,
     [](PixelImage& i) { return i.type() == CL_MEM_OBJECT_IMAGE3D ? i.shape().depth : size_t{0}; }},
    {CL_IMAGE_ARRAY_SIZE,
     [](PixelImage& i) { return i.shape().isArray() ? i.shape().array_size : size_t{0}; }},
    {CL_IMAGE_BUFFER, [](PixelImage& i) { return bufferOf(i); }},
    {CL_IMAGE_NUM_MIP_LEVELS,
     [](PixelImage& i) { return i.shape().levels > 1 ? i.shape().levels : cl_uint{0}; }},
    {CL_IMAGE_NUM_SAMPLES, always<cl_uint{0}>},
};

cl_mem makeImage(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                 const cl_image_format* image_format, const cl_image_desc* desc, void* host_ptr) {
  Context& owner = toContext(context);
  requireImages(owner);
  auto list = readProperties(properties, CL_INVALID_PROPERTY, [](auto, auto) {
    throw Error(CL_INVALID_PROPERTY, "unknown image property");
  });
  checkFlags(flags);
  const ImageFormat& format = toFormat(image_format);
  require(desc != nullptr, CL_INVALID_IMAGE_DESCRIPTOR, "no descriptor");
  checkHostPtr(owner, flags, host_ptr);
  if (desc->mem_object) {
    MemObject& parent = toParent(owner, *desc);
    const cl_mem_flags all_flags = inheritFlags(parent.flags(), flags);
    const ImageShape shape = toViewShape(parent, format, *desc);
    requireSupported(format, shape.type, all_flags);
    return give(
        make<PixelImage>(Ref<MemObject>(&parent), all_flags, format, shape, std::move(list)));
  }
  const ImageShape shape = toShape(owner, format, *desc, host_ptr != nullptr);
  requireSupported(format, shape.type, flags);
  require(fitsSvm(owner, flags, host_ptr, shape.bytes()), CL_INVALID_IMAGE_SIZE,
          "larger than the SVM allocation");
  return give(
      make<PixelImage>(Ref<Context>(&owner), flags, format, shape, host_ptr, std::move(list)));
}

// The functions of OpenCL 1.0: "CL_INVALID_IMAGE_SIZE if image_width or image_height are 0 [...] or
// if values specified by image_row_pitch do not follow rules described in the argument
// description". That is all that a descriptor of theirs can have wrong.
cl_mem makeOldImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                    const cl_image_desc& desc, void* host_ptr) {
  try {
    return makeImage(context, nullptr, flags, format, &desc, host_ptr);
  } catch (const Error& error) {
    const bool size = error.code() == CL_INVALID_IMAGE_DESCRIPTOR;
    throw Error(size ? CL_INVALID_IMAGE_SIZE : error.code(), error.what());
  }
}

std::vector<cl_image_format> supportedFormats(const Context& context, cl_mem_flags flags,
                                              cl_mem_object_type type) {
  std::vector<cl_image_format> list;
  const auto& devices = context.devices();
  const auto has_images = [](const Ref<Device>& d) { return d->capabilities().images; };
  if (std::none_of(devices.begin(), devices.end(), has_images)) return list;
  for (const ImageFormat& format : imageFormats())
    if (format.supports(type, imageUses(flags))) list.push_back(format.descriptor());
  return list;
}

}  // namespace

constinit const InfoTable<PixelImage> image_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                 const cl_image_format* image_format,
                                 const cl_image_desc* image_desc, void* host_ptr,
                                 cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    return makeImage(context, nullptr, flags, image_format, image_desc, host_ptr);
  });
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context,
                                               const cl_mem_properties* properties,
                                               cl_mem_flags flags,
                                               const cl_image_format* image_format,
                                               const cl_image_desc* image_desc, void* host_ptr,
                                               cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    return makeImage(context, properties, flags, image_format, image_desc, host_ptr);
  });
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* image_format, size_t image_width,
                                   size_t image_height, size_t image_row_pitch, void* host_ptr,
                                   cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = image_width;
    desc.image_height = image_height;
    desc.image_depth = 1;
    desc.image_row_pitch = image_row_pitch;
    return makeOldImage(context, flags, image_format, desc, host_ptr);
  });
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* image_format, size_t image_width,
                                   size_t image_height, size_t image_depth, size_t image_row_pitch,
                                   size_t image_slice_pitch, void* host_ptr, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE3D;
    desc.image_width = image_width;
    desc.image_height = image_height;
    desc.image_depth = image_depth;
    desc.image_row_pitch = image_row_pitch;
    desc.image_slice_pitch = image_slice_pitch;
    return makeOldImage(context, flags, image_format, desc, host_ptr);
  });
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type image_type, cl_uint num_entries,
                                              cl_image_format* image_formats,
                                              cl_uint* num_image_formats) {
  return call([&] {
    Context& owner = toContext(context);
    // An image itself is not made with that flag.
    checkFlags(flags & ~cl_mem_flags{CL_MEM_KERNEL_READ_AND_WRITE});
    require(isImageType(image_type), CL_INVALID_VALUE, "no type of an image");
    require(num_entries > 0 || !image_formats, CL_INVALID_VALUE);
    const auto list = supportedFormats(owner, flags, image_type);
    if (image_formats)
      std::copy_n(list.begin(), std::min<size_t>(num_entries, list.size()), image_formats);
    if (num_image_formats) *num_image_formats = static_cast<cl_uint>(list.size());
  });
}

// "CL_INVALID_MEM_OBJECT if image is not a valid image object."
cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size,
                                  void* param_value, size_t* param_value_size_ret) {
  return call([&] {
    query(image_info, toImage(image), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}
