// Specification 5.3: images. No device has them, so no image exists.
#include "api/checks.h"
#include "api/entry.h"
#include "api/unsupported.h"

namespace weft::api {
namespace {

constexpr cl_mem_flags format_query_flags =
    CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR |
    CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY |
    CL_MEM_HOST_NO_ACCESS | CL_MEM_KERNEL_READ_AND_WRITE;

// CL_MEM_OBJECT_IMAGE2D to CL_MEM_OBJECT_IMAGE1D_BUFFER are consecutive.
bool isImageType(cl_mem_object_type type) {
  return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags, const cl_image_format*,
                                 const cl_image_desc*, void*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_mem { noImages(toContext(context)); });
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties*,
                                               cl_mem_flags, const cl_image_format*,
                                               const cl_image_desc*, void*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_mem { noImages(toContext(context)); });
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags, const cl_image_format*, size_t,
                                   size_t, size_t, void*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_mem { noImages(toContext(context)); });
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags, const cl_image_format*, size_t,
                                   size_t, size_t, size_t, size_t, void*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_mem { noImages(toContext(context)); });
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type image_type, cl_uint num_entries,
                                              cl_image_format* image_formats,
                                              cl_uint* num_image_formats) {
  return call([&] {
    toContext(context);
    require((flags & ~format_query_flags) == 0 && isImageType(image_type), CL_INVALID_VALUE);
    require(num_entries > 0 || !image_formats, CL_INVALID_VALUE);
    if (num_image_formats) *num_image_formats = 0;
  });
}

// "CL_INVALID_MEM_OBJECT if image is not a valid image object."
cl_int CL_API_CALL clGetImageInfo(cl_mem, cl_image_info, size_t, void*, size_t*) {
  return call([] { throw Error(CL_INVALID_MEM_OBJECT, "not an image"); });
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem, cl_bool,
                                      const size_t*, const size_t*, size_t, size_t, void*, cl_uint,
                                      const cl_event*, cl_event*) {
  return call([&] { noImages(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue command_queue, cl_mem, cl_bool,
                                       const size_t*, const size_t*, size_t, size_t, const void*,
                                       cl_uint, const cl_event*, cl_event*) {
  return call([&] { noImages(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem, const void*,
                                      const size_t*, const size_t*, cl_uint, const cl_event*,
                                      cl_event*) {
  return call([&] { noImages(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem, cl_mem, const size_t*,
                                      const size_t*, const size_t*, cl_uint, const cl_event*,
                                      cl_event*) {
  return call([&] { noImages(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem, cl_mem,
                                              const size_t*, const size_t*, size_t, cl_uint,
                                              const cl_event*, cl_event*) {
  return call([&] { noImages(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem, cl_mem,
                                              size_t, const size_t*, const size_t*, cl_uint,
                                              const cl_event*, cl_event*) {
  return call([&] { noImages(toQueue(command_queue)); });
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem, cl_bool, cl_map_flags,
                                    const size_t*, const size_t*, size_t*, size_t*, cl_uint,
                                    const cl_event*, cl_event*, cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> void* { noImages(toQueue(command_queue)); });
}
