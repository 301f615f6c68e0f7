// Images that are pixels in ordinary memory, read and written by software.
#pragma once

#include <algorithm>

#include "core/ports/capabilities.h"

namespace weft {

// The limits are those that applications may expect; of buffers, the largest that an allocation of
// the device holds, so `max_allocation_bytes` has to be known.
inline void describeSoftwareImages(port::Capabilities& c) {
  constexpr size_t largest_pixel = 16;
  constexpr size_t most_buffer_pixels = size_t{1} << 27;
  c.images = true;
  port::ImageLimits& limits = c.image_limits;
  limits.width_2d = limits.height_2d = 16384;
  limits.width_3d = limits.height_3d = limits.depth_3d = 2048;
  limits.buffer_pixels =
      std::min<size_t>(most_buffer_pixels, c.max_allocation_bytes / largest_pixel);
  limits.array_size = 2048;
  limits.read_arguments = 128;
  limits.write_arguments = 64;
  limits.read_write_arguments = 64;
  limits.samplers = 16;
  limits.pitch_alignment = 1;
  limits.base_address_alignment = 1;
}

}  // namespace weft
