#include "core/image_format.h"

#include <algorithm>

namespace weft {
namespace {

using enum ChannelClass;

// Sets of channel types, by their place in `types`.
using TypeSet = uint32_t;

constexpr ChannelType types[] = {
    {CL_SNORM_INT8, snorm, 1},
    {CL_SNORM_INT16, snorm, 2},
    {CL_UNORM_INT8, unorm, 1},
    {CL_UNORM_INT16, unorm, 2},
    {CL_SIGNED_INT8, signed_int, 1},
    {CL_SIGNED_INT16, signed_int, 2},
    {CL_SIGNED_INT32, signed_int, 4},
    {CL_UNSIGNED_INT8, unsigned_int, 1},
    {CL_UNSIGNED_INT16, unsigned_int, 2},
    {CL_UNSIGNED_INT32, unsigned_int, 4},
    {CL_HALF_FLOAT, half, 2},
    {CL_FLOAT, single, 4},
    {CL_UNORM_SHORT_565, unorm, 2, {{{5, 11}, {6, 5}, {5, 0}}}},
    {CL_UNORM_SHORT_555, unorm, 2, {{{5, 10}, {5, 5}, {5, 0}}}},
    {CL_UNORM_INT_101010, unorm, 4, {{{10, 20}, {10, 10}, {10, 0}}}},
    {CL_UNORM_INT_101010_2, unorm, 4, {{{10, 22}, {10, 12}, {10, 2}, {2, 0}}}},
    // Of depth-stencil images, which come from OpenGL only.
    {CL_UNORM_INT24, unorm, 4, {{{24, 8}}}},
};

constexpr TypeSet setOf(std::initializer_list<cl_channel_type> members) {
  TypeSet set = 0;
  for (size_t i = 0; i < std::size(types); ++i)
    for (const cl_channel_type member : members)
      if (types[i].type == member) set |= TypeSet{1} << i;
  return set;
}

constexpr TypeSet any = setOf({CL_SNORM_INT8, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_INT16,
                               CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8,
                               CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT, CL_FLOAT});
constexpr TypeSet any_or_alpha2 = any | setOf({CL_UNORM_INT_101010_2});
constexpr TypeSet grey =
    setOf({CL_SNORM_INT8, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_INT16, CL_HALF_FLOAT, CL_FLOAT});
constexpr TypeSet packed = setOf({CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010});
constexpr TypeSet bytes = setOf({CL_SNORM_INT8, CL_UNORM_INT8, CL_SIGNED_INT8, CL_UNSIGNED_INT8});
constexpr TypeSet unorm8 = setOf({CL_UNORM_INT8});
constexpr TypeSet depth = setOf({CL_UNORM_INT16, CL_FLOAT});
constexpr TypeSet depth_stencil = setOf({CL_UNORM_INT24, CL_FLOAT});

constexpr ImageUses all_uses = image_use_read | image_use_write | image_use_read_write;

// An order, and the types that it may be combined with.
struct Rule {
  ChannelOrder order;
  TypeSet types;
  ImageUses uses = all_uses;
  bool flat = false;
};

// Orders with padding are optional and differ from those without in nothing but the border's alpha,
// where implementations do not agree: no device offers them. Writing sRGB is
// cl_khr_srgb_image_writes. Three-byte pixels are supported by nobody.
constexpr Rule rules[] = {
    {{CL_R, 1, {0}}, any},
    {{CL_Rx, 1, {0}}, any, image_use_none},
    {{CL_A, 1, {3}}, any},
    {{CL_RG, 2, {0, 1}}, any},
    {{CL_RGx, 2, {0, 1}}, any, image_use_none},
    {{CL_RA, 2, {0, 3}}, any},
    {{CL_RGBA, 4, {0, 1, 2, 3}}, any_or_alpha2},
    {{CL_BGRA, 4, {2, 1, 0, 3}}, bytes},
    {{CL_ARGB, 4, {3, 0, 1, 2}}, bytes},
    {{CL_ABGR, 4, {3, 2, 1, 0}}, bytes},
    {{CL_INTENSITY, 1, {0}}, grey},
    {{CL_LUMINANCE, 1, {0}}, grey},
    {{CL_RGB, 3, {0, 1, 2}}, packed},
    {{CL_RGBx, 3, {0, 1, 2}}, packed, image_use_none},
    {{CL_sRGBA, 4, {0, 1, 2, 3}, true}, unorm8, image_use_read | image_use_write},
    {{CL_sBGRA, 4, {2, 1, 0, 3}, true}, unorm8, image_use_read | image_use_write},
    {{CL_sRGBx, 4, {0, 1, 2, 3}, true}, unorm8, image_use_none},
    {{CL_sRGB, 3, {0, 1, 2}, true}, unorm8, image_use_none},
    {{CL_DEPTH, 1, {0}}, depth, image_use_read | image_use_write, true},
    {{CL_DEPTH_STENCIL, 1, {0}}, depth_stencil, image_use_none, true},
};

constexpr size_t countFormats() {
  size_t count = 0;
  for (const Rule& rule : rules)
    for (size_t t = 0; t < std::size(types); ++t) count += rule.types >> t & 1;
  return count;
}

constexpr auto makeFormats() {
  std::array<ImageFormat, countFormats()> formats{};
  size_t next = 0;
  for (const Rule& rule : rules)
    for (size_t t = 0; t < std::size(types); ++t) {
      if (!(rule.types >> t & 1)) continue;
      const ChannelType& type = types[t];
      const auto size = type.packed() ? type.bytes : type.bytes * rule.order.channels;
      formats[next++] = {&rule.order, &type, static_cast<uint8_t>(size), rule.uses, rule.flat};
    }
  return formats;
}

constexpr auto formats = makeFormats();

}  // namespace

bool ImageFormat::supports(cl_mem_object_type image, ImageUses wanted) const {
  const bool shape =
      !flat || image == CL_MEM_OBJECT_IMAGE2D || image == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  return shape && wanted != image_use_none && (uses & wanted) == wanted;
}

std::span<const ImageFormat> imageFormats() { return formats; }

const ImageFormat* findImageFormat(const cl_image_format& wanted) {
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const ImageFormat& format) {
    return format.order->order == wanted.image_channel_order &&
           format.type->type == wanted.image_channel_data_type;
  });
  return found == formats.end() ? nullptr : &*found;
}

ImageUses imageUses(cl_mem_flags flags) {
  ImageUses uses = image_use_none;
  if (flags & CL_MEM_READ_ONLY) uses |= image_use_read;
  if (flags & CL_MEM_WRITE_ONLY) uses |= image_use_write;
  if (flags & CL_MEM_KERNEL_READ_AND_WRITE) uses |= image_use_read_write;
  // "CL_MEM_READ_WRITE [...] is the default": read by one kernel, written by another.
  if (flags & CL_MEM_READ_WRITE || !uses) uses |= image_use_read | image_use_write;
  return uses;
}

}  // namespace weft
