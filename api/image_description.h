// cl_image_format and cl_image_desc, checked. Specification 5.3.1.1 and 5.3.1.2.
#pragma once

#include "core/pixel_image.h"

namespace weft::api {

// "CL_INVALID_OPERATION if there are no devices in context that support images."
void requireImages(const Context& context);

// "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if
// image_format is NULL."
const ImageFormat& toFormat(const cl_image_format* format);
// "CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support image_format."
void requireSupported(const ImageFormat& format, cl_mem_object_type type, cl_mem_flags flags);

// The shape of an image with memory of its own. Throws CL_INVALID_IMAGE_DESCRIPTOR,
// CL_INVALID_IMAGE_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE.
ImageShape toShape(const Context& context, const ImageFormat& format, const cl_image_desc& desc,
                   bool has_host_ptr);

// What desc.mem_object says: the buffer or image that the new image is a view of.
MemObject& toParent(const Context& context, const cl_image_desc& desc);
// The shape of a view. Throws CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR and
// CL_INVALID_IMAGE_SIZE.
ImageShape toViewShape(const MemObject& parent, const ImageFormat& format,
                       const cl_image_desc& desc);

}  // namespace weft::api
