// The image formats: which combinations of channel order and channel data type the specification
// allows (5.3.1.1), and what devices with images do with each. One table that creation, queries,
// transfers and fills read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <CL/cl.h>

namespace weft {

// What a kernel may do with images of a format; bits.
using ImageUses = uint8_t;
inline constexpr ImageUses image_use_none = 0, image_use_read = 1, image_use_write = 2,
                           image_use_read_write = 4;  // both in one kernel

// How a colour's component becomes the bits of a channel.
enum class ChannelClass : uint8_t { unorm, snorm, signed_int, unsigned_int, half, single };

struct PackedField {
  uint8_t bits = 0;
  uint8_t shift = 0;
};

struct ChannelType {
  cl_channel_type type;
  ChannelClass kind;
  uint8_t bytes;  // of one channel; of the whole pixel when packed
  // The fields of a packed pixel in the order of the channels.
  std::array<PackedField, 4> fields{};

  constexpr bool packed() const { return fields[0].bits != 0; }
};

struct ChannelOrder {
  cl_channel_order order;
  uint8_t channels;
  std::array<uint8_t, 4> components;  // of a colour (r, g, b, a), by channel
  bool srgb = false;                  // red, green and blue are stored as sRGB
};

struct ImageFormat {
  const ChannelOrder* order = nullptr;
  const ChannelType* type = nullptr;
  uint8_t pixel_bytes = 0;
  ImageUses uses = image_use_none;  // none: a valid format that no device supports
  bool flat = false;                // 2D images and 2D image arrays only

  constexpr cl_image_format descriptor() const { return {order->order, type->type}; }
  // Is an image of this kind possible that kernels use in all these ways?
  bool supports(cl_mem_object_type image, ImageUses wanted) const;
};

// Every format that the specification allows.
std::span<const ImageFormat> imageFormats();
// nullptr for what is not a format at all.
const ImageFormat* findImageFormat(const cl_image_format& format);
// What a memory object with these flags, or a query with them, asks of a format.
ImageUses imageUses(cl_mem_flags flags);

// A colour in the format's bits, as writing it from a kernel would store it. `colour` is a float4,
// int4 or uint4 as the type's class asks, or one float for CL_DEPTH.
using PixelBytes = std::array<std::byte, 16>;
PixelBytes encodePixel(const ImageFormat& format, const void* colour);

}  // namespace weft
