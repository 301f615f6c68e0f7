// An image as the argument of a command, and the boxes of pixels that commands work on.
#pragma once

#include "api/checks.h"
#include "core/pixel_image.h"
#include "scheduler/enqueue.h"

namespace weft::api {

// CL_INVALID_MEM_OBJECT for a memory object that is not an image.
PixelImage& toImage(cl_mem handle);

// An image of the queue's context that its device can work with. "CL_INVALID_OPERATION if the
// device associated with command_queue does not support images", CL_INVALID_IMAGE_SIZE. The queue
// was checked before.
PixelImage& imageFor(const Queue& queue, cl_mem handle);

// Does the image have several slices or layers, so that it has a slice pitch?
bool hasSlices(const PixelImage& image);

// Pixels, rows, slices as `origin` and `region` count them, and the same as bytes of the image.
struct ImageBox {
  std::array<size_t, 3> origin;
  Region pixels;
  RectLayout layout;
  Region bytes;
  ImageShape shape{};  // of the level that the box is in
  cl_uint level = 0;
};

// "CL_INVALID_MIP_LEVEL if [...] the mip level specified in origin is not a valid level for image."
// "CL_INVALID_VALUE if the region being read or written specified by origin and region is out of
// bounds" and "if values in origin and region do not follow the rules described".
ImageBox toBox(const PixelImage& image, const size_t* origin, const size_t* region);

// The box in the application's memory: "if row_pitch is set to 0, the appropriate row pitch is
// calculated based on the size of each element in bytes multiplied by width", and so on.
RectLayout hostLayout(const PixelImage& image, const ImageBox& box, size_t row_pitch,
                      size_t slice_pitch);

}  // namespace weft::api
