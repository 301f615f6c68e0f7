// Images and samplers.
#include <algorithm>
#include <cstring>

#include <CL/cl.h>

#include "tests/software_level_zero/entry_points.h"

namespace weft::software {
namespace {

constexpr uint32_t longest = 16384, longest_3d = 2048, most_layers = 2048;
constexpr uint32_t most_samplers = 16;
// What lies behind each row, and between slices.
constexpr uint64_t gap_bytes = 48;

struct LayoutRow {
  ze_image_format_layout_t layout;
  uint8_t channel_bytes, channels;
};
constexpr LayoutRow layouts[] = {
    {ZE_IMAGE_FORMAT_LAYOUT_8, 1, 1},          {ZE_IMAGE_FORMAT_LAYOUT_16, 2, 1},
    {ZE_IMAGE_FORMAT_LAYOUT_32, 4, 1},         {ZE_IMAGE_FORMAT_LAYOUT_8_8, 1, 2},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16, 2, 2},      {ZE_IMAGE_FORMAT_LAYOUT_32_32, 4, 2},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 1, 4},    {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 2, 4},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 4, 4}};

// By the channel's bytes: 1, 2, 4; 0 where there is none.
struct TypeRow {
  ze_image_format_type_t type;
  uint32_t by_bytes[3];
};
constexpr TypeRow types[] = {
    {ZE_IMAGE_FORMAT_TYPE_UINT, {CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32}},
    {ZE_IMAGE_FORMAT_TYPE_SINT, {CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32}},
    {ZE_IMAGE_FORMAT_TYPE_UNORM, {CL_UNORM_INT8, CL_UNORM_INT16, 0}},
    {ZE_IMAGE_FORMAT_TYPE_SNORM, {CL_SNORM_INT8, CL_SNORM_INT16, 0}},
    {ZE_IMAGE_FORMAT_TYPE_FLOAT, {0, CL_HALF_FLOAT, CL_FLOAT}}};

struct OrderRow {
  ze_image_format_swizzle_t colours[4];
  uint8_t channels;
  uint32_t order;
};
constexpr auto r = ZE_IMAGE_FORMAT_SWIZZLE_R, g = ZE_IMAGE_FORMAT_SWIZZLE_G,
               b = ZE_IMAGE_FORMAT_SWIZZLE_B, a = ZE_IMAGE_FORMAT_SWIZZLE_A,
               zero = ZE_IMAGE_FORMAT_SWIZZLE_0, one = ZE_IMAGE_FORMAT_SWIZZLE_1;
constexpr OrderRow orders[] = {{{r, zero, zero, one}, 1, CL_R},
                               {{r, g, zero, one}, 2, CL_RG},
                               {{r, g, b, a}, 4, CL_RGBA},
                               {{b, g, r, a}, 4, CL_BGRA}};

// False where there is no such format.
bool readFormat(const ze_image_format_t& format, port::ImageDescriptor& image) {
  const auto layout = std::ranges::find(layouts, format.layout, &LayoutRow::layout);
  const auto type = std::ranges::find(types, format.type, &TypeRow::type);
  if (layout == std::end(layouts) || type == std::end(types)) return false;
  const ze_image_format_swizzle_t colours[] = {format.x, format.y, format.z, format.w};
  const auto order = std::ranges::find_if(orders, [&](const OrderRow& row) {
    return row.channels == layout->channels && std::ranges::equal(row.colours, colours);
  });
  if (order == std::end(orders)) return false;
  image.channel_order = order->order;
  image.channel_type = type->by_bytes[layout->channel_bytes / 2];
  image.pixel_bytes = static_cast<uint16_t>(layout->channel_bytes * layout->channels);
  return image.channel_type != 0;
}

bool isWithin(uint64_t value, uint64_t most) { return value >= 1 && value <= most; }

// What a type has no such size of is ignored.
bool readShape(const ze_image_desc_t& wanted, port::ImageDescriptor& image) {
  const bool has_depth = wanted.type == ZE_IMAGE_TYPE_3D;
  const bool has_height =
      has_depth || wanted.type == ZE_IMAGE_TYPE_2D || wanted.type == ZE_IMAGE_TYPE_2DARRAY;
  const bool has_layers = wanted.type == ZE_IMAGE_TYPE_2DARRAY;
  if (!has_height && wanted.type != ZE_IMAGE_TYPE_1D) return false;
  image.type = has_depth    ? CL_MEM_OBJECT_IMAGE3D
               : has_layers ? CL_MEM_OBJECT_IMAGE2D_ARRAY
               : has_height ? CL_MEM_OBJECT_IMAGE2D
                            : CL_MEM_OBJECT_IMAGE1D;
  const uint32_t most = has_depth ? longest_3d : longest;
  image.width = static_cast<uint32_t>(wanted.width);
  if (has_height) image.height = wanted.height;
  if (has_depth) image.depth = wanted.depth;
  if (has_layers) image.array_size = wanted.arraylevels;
  return isWithin(wanted.width, most) && isWithin(image.height, most) &&
         isWithin(image.depth, most) && isWithin(image.array_size, most_layers);
}

}  // namespace

namespace entry {

ze_result_t deviceGetImageProperties(ze_device_handle_t, ze_device_image_properties_t* properties) {
  properties->maxImageDims1D = properties->maxImageDims2D = longest;
  properties->maxImageDims3D = longest_3d;
  properties->maxImageArraySlices = most_layers;
  properties->maxImageBufferSize = 0;
  properties->maxSamplers = most_samplers;
  properties->maxReadImageArgs = properties->maxWriteImageArgs = 128;
  return ok;
}

ze_result_t imageCreate(ze_context_handle_t, ze_device_handle_t handle,
                        const ze_image_desc_t* wanted, ze_image_handle_t* image) {
  Device& device = deviceOf(handle);
  if (const ze_result_t result = state(device); result != ok) return result;
  port::ImageDescriptor made;
  if (!readFormat(wanted->format, made)) return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
  if (wanted->flags != 0 || !readShape(*wanted, made)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (machine().faults.allocations.strikes()) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  const uint64_t row = uint64_t{made.width} * made.pixel_bytes + gap_bytes;
  made.row_pitch = ~row + 1;
  made.slice_pitch = row * made.height + gap_bytes;
  const uint64_t slices = uint64_t{made.depth} * made.array_size;
  void* const address = device.heap().allocate(made.slice_pitch * slices);
  if (!address) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  made.address = reinterpret_cast<uint64_t>(address) + row * (made.height - 1);
  ++machine().faults.images;
  return hand(image, new ZeImage{device, address, made});
}
ze_result_t imageDestroy(ze_image_handle_t handle) {
  const auto& image = of<ZeImage>(handle);
  image.device.heap().release(image.address);
  --machine().faults.images;
  return destroy<ZeImage>(handle);
}

ze_result_t appendImageCopyFromMemory(ze_command_list_handle_t list, ze_image_handle_t handle,
                                      const void* from, const ze_image_region_t* region,
                                      ze_event_handle_t signal, uint32_t count,
                                      ze_event_handle_t* waits) {
  if (machine().faults.copies.strikes()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const ZeImage& image = of<ZeImage>(handle);
  const port::ImageDescriptor& is = image.descriptor;
  const uint32_t slices = is.depth * is.array_size;
  // More than the whole of it nobody copies here.
  if (&image.device != &of<ZeList>(list).device || !region || region->originX != 0 ||
      region->originY != 0 || region->originZ != 0 || region->width != is.width ||
      region->height != is.height || region->depth != slices)
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  const size_t row = size_t{is.width} * is.pixel_bytes;
  const std::byte* const pixels = resolve(from, row * is.height * slices);
  std::byte* const first = image.device.memory().access(reinterpret_cast<const void*>(is.address));
  if (!pixels || !first) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  ++machine().faults.image_copies;
  return append(list, signal, count, waits, [=](Stream&) {
    for (size_t z = 0; z < slices; ++z)
      for (size_t y = 0; y < is.height; ++y)
        std::memcpy(first + z * is.slice_pitch + y * is.row_pitch,
                    pixels + (z * is.height + y) * row, row);
  });
}

ze_result_t samplerCreate(ze_context_handle_t, ze_device_handle_t handle,
                          const ze_sampler_desc_t* wanted, ze_sampler_handle_t* sampler) {
  constexpr uint32_t addressing[] = {
      port::sampler_address_none, port::sampler_address_repeat, port::sampler_address_clamp_to_edge,
      port::sampler_address_clamp, port::sampler_address_mirrored_repeat};
  if (wanted->addressMode >= std::size(addressing) ||
      wanted->filterMode > ZE_SAMPLER_FILTER_MODE_LINEAR)
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  const uint32_t filter = wanted->filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR
                              ? port::sampler_filter_linear
                              : port::sampler_filter_nearest;
  const uint32_t coordinates = wanted->isNormalized ? port::sampler_normalized : 0;
  return hand(sampler, new ZeSampler{deviceOf(handle),
                                     addressing[wanted->addressMode] | filter | coordinates});
}
ze_result_t samplerDestroy(ze_sampler_handle_t sampler) { return destroy<ZeSampler>(sampler); }

}  // namespace entry
}  // namespace weft::software
